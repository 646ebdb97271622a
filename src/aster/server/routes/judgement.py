"""What a task's agent plans, and what it does not know: the newest plan, uncertainties, and those that come again."""

from typing import Annotated, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from aster.brain.judgement import PlanRecord, UncertaintyRecord
from aster.brain.records import ThreadKey
from aster.contracts.errors import ErrorCode
from aster.contracts.events import PlanUpdate
from aster.contracts.model import decode, to_builtins
from aster.engine_core.tasks import existing
from aster.infra.clock import iso_ms
from aster.server.bodies import PathTaskId
from aster.server.errors import refusals
from aster.server.visit import KEYED, Serving, Visiting

router = APIRouter(tags=["tasks"], dependencies=KEYED)


class PlanStepView(BaseModel):
    """One step of a plan."""

    id: str
    text: str
    status: Literal["pending", "in_progress", "completed", "failed", "skipped"] = "pending"
    depends_on: list[str] = Field(default_factory=list[str], description="Steps that come before it.")
    parent: str | None = Field(None, description="The step it is a part of.")
    join: Literal["all", "any", "best"] = Field("all", description="How many of its parts are needed.")
    done_when: str | None = Field(None, description="What its result has to show.")
    alternative_to: str | None = Field(None, description="The step it takes the place of, should that fail.")
    result: str | None = None


class PlanView(BaseModel):
    """A plan as it stands."""

    turn_id: str
    seq: int = Field(description="The event that told it last.")
    goal: str
    revision: int = Field(description="1 for the first, one more each time the steps themselves were changed.")
    reason: str | None = Field(description="Why the steps are others than before.")
    steps: list[PlanStepView]
    updated_at: str

    @classmethod
    def of(cls, record: PlanRecord) -> "PlanView":
        event = decode(record.body, PlanUpdate)
        return cls(
            turn_id=record.turn_id,
            seq=record.seq,
            goal=event.goal,
            revision=event.revision,
            reason=event.reason,
            steps=[PlanStepView.model_validate(to_builtins(step)) for step in event.steps],
            updated_at=iso_ms(record.updated_at),
        )


class PlanAnswer(BaseModel):
    plan: PlanView | None = Field(description="Null while no turn of the task has made one.")


class UncertaintyView(BaseModel):
    """Something the agent does not know or takes for granted."""

    item_id: str
    turn_id: str
    seq: int
    item: Literal["unknown", "assumption"]
    text: str
    impact: int = Field(description="From 1 (little) to 5 (everything).")
    confidence: float | None = Field(description="Of an assumption, from 0 to 1.")
    resolution: Literal["ask_user", "find_out"] | None = Field(description="Who can settle an unknown.")
    source: Literal["tool", "hedge"] = Field(description="`hedge`: its words gave it away.")
    resolved: bool
    note: str | None = Field(description="How it was settled.")
    created_at: str
    updated_at: str

    @classmethod
    def of(cls, record: UncertaintyRecord) -> "UncertaintyView":
        times = {"created_at": iso_ms(record.created_at), "updated_at": iso_ms(record.updated_at)}
        return cls.model_validate({**to_builtins(record), **times})


class UncertaintyList(BaseModel):
    uncertainties: list[UncertaintyView] = Field(description="Newest first.")


class RecurringView(BaseModel):
    """An unknown that keeps coming up."""

    text: str
    times: int
    tasks: int = Field(description="In how many tasks.")
    impact: int
    last_at: str


class RecurringList(BaseModel):
    recurring: list[RecurringView] = Field(description="The most frequent first; what is settled is not counted.")


@router.get(
    "/tasks/{task_id}/plan",
    summary="Look at a task's plan",
    response_model=PlanAnswer,
    responses=refusals(ErrorCode.TASK_NOT_FOUND, ErrorCode.INVALID_REQUEST),
)
async def plan(task_id: PathTaskId, engine: Serving, visit: Visiting) -> PlanAnswer:
    """The newest plan of the task and how far it is; every change of it is a `plan_update` on the thread."""
    key = ThreadKey(visit.user_id, task_id)
    await existing(engine.brain, key)
    found = await engine.brain.plan(key)
    return PlanAnswer(plan=None if found is None else PlanView.of(found))


@router.get(
    "/tasks/{task_id}/uncertainties",
    summary="List what a task's agent is not certain of",
    response_model=UncertaintyList,
    responses=refusals(ErrorCode.TASK_NOT_FOUND, ErrorCode.INVALID_REQUEST),
)
async def uncertainties(
    task_id: PathTaskId,
    engine: Serving,
    visit: Visiting,
    unresolved: Annotated[bool, Query(description="Only what is not settled.")] = False,
) -> UncertaintyList:
    """Unknowns and assumptions of all turns of the task, each as it stands now; at most the newest 500."""
    key = ThreadKey(visit.user_id, task_id)
    await existing(engine.brain, key)
    found = await engine.brain.uncertainties(key)
    return UncertaintyList(
        uncertainties=[UncertaintyView.of(one) for one in found if not (unresolved and one.resolved)]
    )


@router.get(
    "/uncertainties",
    summary="List unknowns that keep coming up",
    response_model=RecurringList,
    responses=refusals(ErrorCode.INVALID_REQUEST),
)
async def recurring(
    engine: Serving, visit: Visiting, limit: Annotated[int, Query(ge=1, le=100)] = 20
) -> RecurringList:
    """What the agents of your tasks did not know more than once, and what nobody has settled."""
    found = await engine.brain.recurring_unknowns(visit.user_id, limit)
    return RecurringList(
        recurring=[
            RecurringView.model_validate({**to_builtins(one), "last_at": iso_ms(one.last_at)}) for one in found
        ]
    )
