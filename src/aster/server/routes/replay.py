"""Replay: run a recorded turn again without side effects, look at what came of it, take a recording away."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, Field, StrictBool

from aster.contracts.errors import ErrorCode
from aster.contracts.model import encode
from aster.contracts.replay import DivergenceKind, MemorySet, ReplayReport, ReplayStatus, ReplayWish, Unrecorded
from aster.engine_core.replaying import exporting
from aster.server.bodies import INSTRUCTION_CHARS, LARGEST, OtherId, PathTaskId, TaskId, warnings
from aster.server.errors import refusals
from aster.server.media import Part, Text
from aster.server.routes.memory import BODY
from aster.server.visit import KEYED, Serving, Visiting

router = APIRouter(prefix="/tasks", tags=["replay"], dependencies=KEYED)

MOST_WITHOUT = 500
_MEANT = (ErrorCode.NOT_FOUND, ErrorCode.TASK_NOT_FOUND, ErrorCode.INVALID_REQUEST)


class ReplayBody(Part):
    """Which turn, and what is to be different. Everything left out is as it was."""

    turn_id: OtherId | None = Field(None, description="The turn (default: the one at `from_seq`, or the newest).")
    from_seq: int | None = Field(
        None,
        ge=1,
        le=LARGEST,
        description="Begin here: at the last model call at or before it. What was before is taken as it was.",
    )
    model: Text | None = Field(None, min_length=1, max_length=256, description="One of LLM_ALLOWED_MODELS.")
    instructions: Text | None = Field(
        None, max_length=INSTRUCTION_CHARS, description="In place of the instructions the turn came with."
    )
    agent: Text | None = Field(None, min_length=1, max_length=128, description="Who is to answer.")
    memory: MemorySet = Field(
        "recorded", description="What memory had for it then, nothing of it, or what it has now."
    )
    without: list[OtherId] = Field(
        default_factory=list[str], max_length=MOST_WITHOUT, description="Memories to leave out, by id."
    )
    unrecorded: Unrecorded = Field(
        "refuse",
        description="What becomes of a call that is not on record: the model is told so, or it ends there.",
    )
    max_usd: float | None = Field(None, gt=0, allow_inf_nan=False, description="End when it has cost so much.")
    replay_task_id: TaskId | None = Field(
        None, description="Its id. Sent again with the same id, it is not run again but reported."
    )
    wait: StrictBool = Field(True, description="Answer with the report; otherwise at once, with 202.")

    def wish(self, task_id: str) -> ReplayWish:
        return ReplayWish(
            task_id=task_id,
            turn_id=self.turn_id,
            from_seq=self.from_seq,
            model=self.model,
            instructions=self.instructions,
            agent=self.agent,
            memory=self.memory,
            without=tuple(self.without),
            unrecorded=self.unrecorded,
            max_usd=self.max_usd,
        )


class ReplayBegun(BaseModel):
    """A replay that goes on by itself."""

    status: Literal["running"] = "running"
    task_id: str
    replay_task_id: str


class ArmAnswer(BaseModel):
    """One of the two runs. What it used counts from where the replay begins."""

    task_id: str
    turn_id: str
    status: str
    model: str
    stop_reason: str | None
    error: str | None
    answer: str
    steps: int = Field(description="Model calls.")
    calls: int = Field(description="Tool calls.")
    tool_errors: int
    unrecorded: int = Field(description="Calls that are not on record.")
    cost_usd: float
    input_tokens: int
    output_tokens: int
    cache_hit_tokens: int
    model_ms: int = Field(description="What its model calls took.")
    tool_ms: int = Field(description="What its tools took when they were run.")
    seconds: float = Field(description="The whole turn by the clock.")


class DivergenceAnswer(BaseModel):
    step: int = Field(description="The model call, counted from 1.")
    kind: DivergenceKind
    source_seq: int | None = Field(description="Where on the thread of the task.")
    replay_seq: int | None = Field(description="Where on the thread of the replay.")
    recorded: Any
    replayed: Any


class ReportAnswer(BaseModel):
    """Both runs, where they first differ, and the difference of their answers."""

    replay_task_id: str
    status: ReplayStatus
    from_seq: int = Field(description="Everything on the task's thread up to here was taken as it was.")
    from_step: int = Field(description="The first model call that was made anew.")
    memory: MemorySet
    same: bool
    divergence: DivergenceAnswer | None
    diff: str
    recorded: ArmAnswer
    replayed: ArmAnswer

    @classmethod
    def of(cls, found: ReplayReport) -> "ReportAnswer":
        return cls.model_validate(found, from_attributes=True)


class ReplayAnswer(BaseModel):
    replay_task_id: str
    task_id: str
    from_seq: int
    status: ReplayStatus
    created_at: str


class ReplayList(BaseModel):
    replays: list[ReplayAnswer]


@router.post(
    "/{task_id}/replay",
    summary="Replay a turn without side effects",
    response_model=ReportAnswer | ReplayBegun,
    responses={
        **refusals(
            *BODY,
            *_MEANT,
            ErrorCode.TASK_BUSY,
            ErrorCode.TASK_EXISTS,
            ErrorCode.DRAINING,
            ErrorCode.BUDGET_EXCEEDED,
            ErrorCode.STORAGE_UNAVAILABLE,
        ),
        202: {"model": ReplayBegun, "description": "With `wait: false`: it has begun."},
    },
)
async def replay_turn(
    task_id: PathTaskId, body: ReplayBody, engine: Serving, visit: Visiting, response: Response
) -> ReportAnswer | ReplayBegun:
    """Runs the turn again, from its beginning or from the middle, with another model, prompt, agent or memory. Every
    tool call gets the result that is on record; nothing is run, asked, remembered or changed. What models cost is
    real."""
    response.headers.update(warnings(body))
    begun = await engine.replays.start(visit.user_id, body.wish(task_id), body.replay_task_id)
    if body.wait:
        return ReportAnswer.of(await engine.replays.ended(visit.user_id, task_id, begun))
    response.status_code = 202
    return ReplayBegun(task_id=task_id, replay_task_id=begun)


@router.get(
    "/{task_id}/replays",
    summary="List the replays of a task",
    response_model=ReplayList,
    responses=refusals(ErrorCode.TASK_NOT_FOUND, ErrorCode.INVALID_REQUEST),
)
async def replays_of_task(task_id: PathTaskId, engine: Serving, visit: Visiting) -> ReplayList:
    """Newest first. They are deleted with the task."""
    found = await engine.replays.listed(visit.user_id, task_id)
    return ReplayList.model_validate({"replays": found}, from_attributes=True)


@router.get(
    "/{task_id}/replays/{replay_task_id}",
    summary="Read the report of a replay",
    response_model=ReportAnswer,
    responses=refusals(*_MEANT, ErrorCode.DRAINING),
)
async def replay_report(
    task_id: PathTaskId,
    replay_task_id: PathTaskId,
    engine: Serving,
    visit: Visiting,
    wait: Annotated[bool, Query(description="Wait until it has ended.")] = False,
) -> ReportAnswer:
    """Made of the two threads, whenever it is asked for; `status` says whether the replay has ended."""
    asked = engine.replays.ended if wait else engine.replays.report
    return ReportAnswer.of(await asked(visit.user_id, task_id, replay_task_id))


@router.get(
    "/{task_id}/recording",
    summary="Take away the recording of a turn",
    responses={
        **refusals(*_MEANT, ErrorCode.TASK_BUSY),
        200: {
            "description": "The turn with the conversation before it, to be replayed elsewhere; secrets are taken out.",
            "content": {"application/json": {"schema": {"type": "object"}}},
        },
    },
)
async def turn_recording(
    task_id: PathTaskId,
    engine: Serving,
    visit: Visiting,
    turn_id: Annotated[str | None, Query(max_length=128, description="Which turn (default: the newest).")] = None,
) -> Response:
    """What `aster export-test` writes beside its test."""
    made = await exporting.recording(engine.services, engine.replays, visit.user_id, task_id, turn_id)
    return Response(encode(made), media_type="application/json")
