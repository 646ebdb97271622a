"""What the JSON routes answer, as the reference page shows it; times are ISO-8601 in UTC with milliseconds."""

from typing import Any, Literal

from pydantic import BaseModel, Field

from aster.brain.records import ArtifactRecord, HitlRecord, InboxRow, ThreadRecord, TurnRecord
from aster.contracts.events import CompactionEvent
from aster.contracts.model import decode
from aster.engine_core.orders import Order
from aster.infra.clock import iso_ms


class Task(BaseModel):
    """A conversation."""

    task_id: str
    title: str = Field(description="What it was named, or else the beginning of its first message.")
    status: Literal["idle", "running", "suspended"] = Field(
        description="`suspended`: it waits for a human, or for a sub-agent."
    )
    created_at: str
    updated_at: str
    active_turn_id: str | None = Field(description="The turn that runs or waits for a human.")
    from_task_id: str | None = Field(description="The task it was forked from.")
    from_seq: int | None = None
    parent_task_id: str | None = Field(None, description="The task whose agent began this one, or that it replays.")

    @classmethod
    def of(cls, record: ThreadRecord) -> "Task":
        return cls.model_validate(_fields(record) | _times(record, "created_at", "updated_at"))


class ListedTask(Task):
    """A task with what it has cost so far."""

    cost_usd: float | None = Field(description="With its sub-agents; null when no call of it had a price.")


class TaskPage(BaseModel):
    tasks: list[ListedTask] = Field(description="Newest change first.")
    next: str | None = Field(description="Give it as `before` to go on; null at the end.")


class Turn(BaseModel):
    """One message and all it caused."""

    turn_id: str
    status: Literal["running", "suspended", "completed", "errored", "cancelled"]
    segment: int = Field(description="How often it was suspended and went on.")
    first_seq: int
    last_seq: int | None
    started_at: str
    ended_at: str | None
    stop_reason: str | None
    error: str | None = Field(description="The code of the failure that ended it.")
    agent: str = Field("main", description="Who answered; of a sub-agent, after those it worked for.")
    model_calls: int
    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    cost_usd: float

    @classmethod
    def of(cls, record: TurnRecord) -> "Turn":
        return cls.model_validate(_fields(record) | _times(record, "started_at", "ended_at"))


class Pending(BaseModel):
    """A request to a human that has no answer yet."""

    request_id: str
    task_id: str
    turn_id: str
    kind: str = Field(
        description="`permission`, `question`, `in_doubt`, `budget`, `client_tool`, `elicitation`, `login`, `team` or"
        " `plan_approval`."
    )
    question: str
    created_at: str
    tool: str | None = None
    tool_call_id: str | None = None
    input: dict[str, Any] | None = Field(
        None, description="What the tool would be called with; of a budget, where it stands."
    )
    options: list[str] | None = Field(None, description="The answers that make sense, if they are few.")
    reason: str | None = Field(None, description="Why a human is asked.")
    offer: dict[str, Any] | None = Field(None, description="What an `always` would store: a tool and a pattern.")

    @classmethod
    def of(cls, record: HitlRecord) -> "Pending":
        return cls.model_validate(
            _fields(record)
            | _times(record, "created_at")
            | {
                "input": decode(record.input, dict[str, Any]) if record.input else None,
                "options": decode(record.options, list[str]) if record.options else None,
                "offer": decode(record.offer, dict[str, Any]) if record.offer else None,
            }
        )


class PendingList(BaseModel):
    pending: list[Pending] = Field(description="Oldest first.")


class Waiting(BaseModel):
    """A message that waits for its turn."""

    message_id: str
    turn_id: str = Field(description="The turn it starts, unless the running one takes it.")
    mode: Literal["queue", "steer", "interrupt"]
    message: str
    media: int = Field(description="How many media blocks come with it.")
    created_at: str

    @classmethod
    def of(cls, row: InboxRow) -> "Waiting":
        order = decode(row.body, Order)
        return cls.model_validate(
            _fields(row) | _times(row, "created_at") | {"message": order.message, "media": len(order.media)}
        )


class TaskDetail(ListedTask):
    """A task with its turns and what waits in it."""

    head_seq: int = Field(description="The newest event of its thread.")
    turns: list[Turn]
    pending: list[Pending]
    inbox: list[Waiting]


class EventsPage(BaseModel):
    events: list[dict[str, Any]] = Field(description="Events in order, as in the stream.")
    next_after_seq: int = Field(description="Give it as `after_seq` to go on; at `head_seq` there is no more.")
    head_seq: int


class Resumed(BaseModel):
    status: Literal["resumed", "answered"] = Field(
        description="`answered`: the turn still waits for other answers."
    )
    request_id: str


class CancelAnswer(BaseModel):
    task_id: str
    turn_id: str
    status: Literal["cancelled"]
    dropped_messages: int


class ForkAnswer(BaseModel):
    task_id: str
    from_task_id: str
    from_seq: int
    head_seq: int


class ArtifactEntry(BaseModel):
    """Something a tool produced, without its contents."""

    artifact_id: str
    turn_id: str
    tool_call_id: str
    name: str
    media_type: str
    size: int = Field(description="In bytes.")
    sha256: str
    created_at: str

    @classmethod
    def of(cls, record: ArtifactRecord) -> "ArtifactEntry":
        return cls.model_validate(_fields(record) | _times(record, "created_at"))


class ArtifactList(BaseModel):
    artifacts: list[ArtifactEntry]


class UndoneFile(BaseModel):
    path: str
    action: Literal["restored", "removed"] = Field(description="`removed`: there was none before.")


class UndoAnswer(BaseModel):
    turn_id: str = Field(description="The turn whose changes were taken back.")
    files: list[UndoneFile]


class CompactAnswer(BaseModel):
    """What became of a request to compact a task; tokens are estimated."""

    task_id: str
    status: Literal["compacted", "unchanged", "requested"] = Field(
        description="`requested`: the turn that runs or waits does it before its next model call. `unchanged`: there"
        " was nothing to gain."
    )
    before_tokens: int | None = None
    after_tokens: int | None = None
    strategy: str | None = None
    artifact_id: str | None = Field(default=None, description="What was moved out of the model's sight.")
    reason: str | None = None

    @classmethod
    def of(cls, task_id: str, event: CompactionEvent | None) -> "CompactAnswer":
        if event is None:
            return cls(task_id=task_id, status="requested")
        return cls(
            task_id=task_id,
            status="compacted" if event.ok else "unchanged",
            before_tokens=event.before_tokens,
            after_tokens=event.after_tokens,
            strategy=event.strategy,
            artifact_id=event.artifact_id,
            reason=event.reason,
        )


class DeletedTask(BaseModel):
    status: Literal["deleted"] = "deleted"
    task_id: str


class Subsystem(BaseModel):
    """Whether a part works, and its own particulars."""

    model_config = {"extra": "allow"}

    ok: bool


class Health(BaseModel):
    status: Literal["ok", "degraded", "draining"] = Field(description="`degraded`: a subsystem is not ok.")
    uptime_seconds: float
    version: str
    subsystems: dict[str, Subsystem] = Field(
        description="`brain`, `llm`, `sandbox`, `slots`, `memory` and `learning`."
    )


def _fields(record: Any) -> dict[str, Any]:
    return {name: getattr(record, name) for name in record.__struct_fields__}


def _times(record: Any, *names: str) -> dict[str, str | None]:
    found = {name: getattr(record, name) for name in names}
    return {name: None if ms is None else iso_ms(ms) for name, ms in found.items()}
