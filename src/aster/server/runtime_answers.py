"""Runtime tasks as a client sees them: commands and agents that work behind a turn, in one shape."""

from pydantic import BaseModel, Field

from aster.brain.runtime import RuntimeKind, RuntimePlace, RuntimeRecord, RuntimeStatus
from aster.contracts.errors import EngineError, ErrorCode
from aster.engine_core.runtime.desk import Heard
from aster.infra.clock import iso_ms


class RuntimeTaskAnswer(BaseModel):
    """A command or an agent that works behind a turn, or did."""

    id: str = Field(description="A command's own; an agent has that of the task it works in.")
    kind: RuntimeKind
    task_id: str = Field(description="The task it works for.")
    turn_id: str = Field(description="The turn that began it.")
    tool_call_id: str = Field(description="The call that began it.")
    status: RuntimeStatus = Field(
        description="`stalled`: it still runs, is silent, and the last it said is a question. `lost`: the engine"
        " stopped while it ran."
    )
    description: str
    started_at: str
    ended_at: str | None = None
    exit_code: int | None = None
    output_size: int = Field(description="So many characters it has said; an agent, at its end.")
    notified: bool = Field(description="Whether the model knows that it has ended.")
    notified_at: str | None = None
    work_item: str | None = Field(None, description="The item of a board that it belongs to.")
    wake: bool = Field(description="Whether its end begins a turn by itself when the task does nothing.")
    stalled_since: str | None = None
    artifact_id: str | None = Field(None, description="All that is kept of what a command said, once it has ended.")
    child_task_id: str | None = Field(
        None, description="The task an agent works in: its thread shows what it does."
    )
    agent: str | None = Field(None, description="The agent's name.")

    @classmethod
    def of(cls, record: RuntimeRecord) -> "RuntimeTaskAnswer":
        return cls(
            id=record.runtime_id,
            kind=record.kind,
            task_id=record.task_id,
            turn_id=record.turn_id,
            tool_call_id=record.tool_call_id,
            status=record.status,
            description=record.description,
            started_at=iso_ms(record.started_at),
            ended_at=_time(record.ended_at),
            exit_code=record.exit_code,
            output_size=record.said,
            notified=record.told_at is not None,
            notified_at=_time(record.told_at),
            work_item=record.work_item,
            wake=record.wake,
            stalled_since=_time(record.stalled_at) if record.status == "stalled" else None,
            artifact_id=record.artifact_id,
            child_task_id=record.child_task_id,
            agent=record.agent,
        )


class RuntimePage(BaseModel):
    tasks: list[RuntimeTaskAnswer]
    next: str | None = Field(None, description="For `after`, when there is more.")


class RuntimeOutput(BaseModel):
    """A page of what a runtime task has said."""

    id: str
    status: RuntimeStatus
    offset: int
    next_offset: int = Field(description="Where the next page begins.")
    more: bool = Field(description="Whether there is something after this page already.")
    size: int = Field(description="So many characters it has said so far.")
    left_out: int = Field(description="So many of them are not kept: the middle of a very long output.")
    text: str

    @classmethod
    def of(cls, heard: Heard, offset: int) -> "RuntimeOutput":
        record, piece = heard
        return cls(
            id=record.runtime_id,
            status=record.status,
            offset=offset,
            next_offset=piece.next,
            more=piece.more,
            size=record.said,
            left_out=record.left_out,
            text=piece.text,
        )


def place_of(text: str) -> RuntimePlace:
    """The place that `next` of a page named."""
    began, _, runtime_id = text.partition("-")
    if not runtime_id or not began.isascii() or not began.isdigit() or len(began) > 15:
        problem = "is not what a page before gave as `next`"
        raise EngineError(
            ErrorCode.INVALID_REQUEST, f"`after` {problem}.", {"fields": [{"field": "after", "problem": problem}]}
        )
    return RuntimePlace(int(began), runtime_id)


def name_of(record: RuntimeRecord) -> str:
    return f"{record.started_at}-{record.runtime_id}"


def _time(ms: int | None) -> str | None:
    return None if ms is None else iso_ms(ms)
