"""Schedules: what is said to a task later, again and again, or when something becomes true; and what became of it."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Path, Query, Response
from pydantic import BaseModel, Field

from aster.contracts.errors import ErrorCode
from aster.contracts.model import to_builtins
from aster.contracts.permissions import PermissionMode
from aster.contracts.schedules import (
    CatchUp,
    Occurrence,
    OccurrenceStatus,
    OnceTrigger,
    Schedule,
    ScheduleStatus,
)
from aster.engine_core.engine import Engine
from aster.engine_core.schedules import desk
from aster.infra.clock import iso_ms
from aster.server.bodies import LARGEST, warnings
from aster.server.errors import refusals
from aster.server.schedule_parts import ScheduleBody, ScheduleEditBody
from aster.server.visit import KEYED, Serving, Visiting
from aster.work.schedules.desk import (
    Desk,
)

router = APIRouter(prefix="/schedules", tags=["schedules"], dependencies=KEYED)

FOUND = refusals(ErrorCode.NOT_FOUND, ErrorCode.INVALID_REQUEST)
BODY = (ErrorCode.MALFORMED_REQUEST, ErrorCode.INVALID_REQUEST, ErrorCode.UNSUPPORTED_MEDIA_TYPE)
Id = Annotated[str, Path(description="The schedule's id.", max_length=128)]
Limit = Annotated[int, Query(ge=1, le=200, description="At most so many.")]


class ScheduleAnswer(BaseModel):
    """A schedule as it stands."""

    schedule_id: str
    name: str
    prompt: str
    kind: Literal["cron", "interval", "once", "watch"]
    trigger: dict[str, Any] = Field(description="When it is due, as it was said.")
    task_id: str | None = Field(description="Null: every run has a task of its own.")
    status: ScheduleStatus
    next_at: str | None = Field(description="When it is due next; of a watch, when it is looked at next.")
    coming: list[str] = Field(description="The next few times.")
    runs: int = Field(description="How often it was due and was to be done.")
    problem: str = Field(description="Why it does not do what it should; empty when it does.")
    model: str | None
    agent: str | None
    permission_mode: PermissionMode | None
    catch_up: CatchUp
    catch_up_seconds: int
    jitter: bool
    expires_at: str | None
    max_runs: int | None
    durable: bool
    version: int = Field(description="It grows with every `PATCH`; what it does at its times does not change it.")
    created_at: str
    updated_at: str

    @classmethod
    def of(cls, engine: Engine, schedule: Schedule) -> "ScheduleAnswer":
        spec = to_builtins(schedule.spec)
        trigger = {"time_zone": "UTC", **spec["trigger"]} if "cron" in spec["trigger"] else spec["trigger"]
        if isinstance(schedule.spec.trigger, OnceTrigger):
            trigger = {**trigger, "at": iso_ms(schedule.spec.trigger.at)}
        known = {name: getattr(schedule.spec, name) for name in cls.model_fields if hasattr(schedule.spec, name)}
        return cls.model_validate(
            {
                **known,
                **{name: getattr(schedule, name) for name in ("schedule_id", "status", "runs", "problem")},
                "version": schedule.spec.revision,
                "kind": trigger["kind"],
                "trigger": trigger,
                "coming": [iso_ms(at) for at in desk(engine.services).coming(schedule)],
                "next_at": _iso(schedule.next_at),
                "expires_at": _iso(schedule.spec.expires_at),
                "created_at": iso_ms(schedule.created_at),
                "updated_at": iso_ms(schedule.updated_at),
            }
        )


class SchedulePage(BaseModel):
    schedules: list[ScheduleAnswer] = Field(description="Newest first.")
    next: int | None = Field(description="Give it as `before` to go on; null at the end.")


class OccurrenceAnswer(BaseModel):
    """A time that was due."""

    schedule_id: str
    due_at: str
    status: OccurrenceStatus = Field(
        description="`due` and `deferred` wait, `delivered` has begun a turn, `acknowledged`: its model has answered."
    )
    task_id: str | None = Field(description="Where its turn is, or will be.")
    turn_id: str | None
    by_hand: bool = Field(description="It was run with `POST /schedules/{id}/run`.")
    attempt: int = Field(description="How many turns of it ended before the model's first answer.")
    count: int = Field(description="How many times this row stands for.")
    until_at: str | None = Field(description="The last of them, if there are several.")
    delivered_at: str | None
    settled_at: str | None
    reason: str = Field(description="Why it was not simply done.")

    @classmethod
    def of(cls, found: Occurrence) -> "OccurrenceAnswer":
        times = ("due_at", "until_at", "delivered_at", "settled_at")
        known = {name: getattr(found, name) for name in cls.model_fields}
        empty = {name: known[name] or None for name in ("task_id", "turn_id")}
        return cls.model_validate({**known, **empty, **{name: _iso(known[name]) for name in times}})


class OccurrencePage(BaseModel):
    occurrences: list[OccurrenceAnswer] = Field(description="Newest first.")
    next: int | None = Field(description="Give it as `before` to go on; null at the end.")


@router.post(
    "",
    summary="Make a schedule",
    response_model=ScheduleAnswer,
    status_code=201,
    responses=refusals(*BODY, ErrorCode.TASK_NOT_FOUND, ErrorCode.PERMISSION_DENIED, ErrorCode.NOT_FOUND),
)
async def create_schedule(
    body: ScheduleBody, engine: Serving, visit: Visiting, response: Response
) -> ScheduleAnswer:
    """Nobody is there when it is due: what needs a person then is refused or waits (`UNATTENDED_POLICY`)."""
    made = await desk(engine.services).create(visit.user_id, body.spec(engine))
    response.headers.update(warnings(body))
    return ScheduleAnswer.of(engine, made)


@router.get(
    "", summary="List schedules", response_model=SchedulePage, responses=refusals(ErrorCode.INVALID_REQUEST)
)
async def schedules(
    engine: Serving,
    visit: Visiting,
    limit: Limit = 50,
    before: Annotated[int | None, Query(ge=0, le=LARGEST, description="The `next` of the page before.")] = None,
    status: Annotated[ScheduleStatus | None, Query(description="Only those.")] = None,
    task_id: Annotated[str | None, Query(max_length=256, description="Only those of this task.")] = None,
) -> SchedulePage:
    """Also those that are over."""
    found = await desk(engine.services).schedules(
        visit.user_id, limit=limit + 1, before=before, status=status, task_id=task_id
    )
    shown = found[:limit]
    return SchedulePage(
        schedules=[ScheduleAnswer.of(engine, one) for one in shown],
        next=shown[-1].number if len(found) > limit else None,
    )


@dataclass(frozen=True, slots=True)
class One:
    """The schedule that a request is about."""

    engine: Engine
    user_id: str
    schedule_id: str

    @property
    def desk(self) -> Desk:
        return desk(self.engine.services)

    async def shown(self, change: Callable[[Desk, str, str], Awaitable[Schedule]]) -> ScheduleAnswer:
        """The schedule as it stands after that."""
        return ScheduleAnswer.of(self.engine, await change(self.desk, self.user_id, self.schedule_id))


def _one(schedule_id: Id, engine: Serving, visit: Visiting) -> One:
    return One(engine, visit.user_id, schedule_id)


Asked = Annotated[One, Depends(_one)]


@router.get("/{schedule_id}", summary="One schedule", response_model=ScheduleAnswer, responses=FOUND)
async def schedule(asked: Asked) -> ScheduleAnswer:
    """With the next few times."""
    return await asked.shown(Desk.get)


@router.patch(
    "/{schedule_id}",
    summary="Change a schedule",
    response_model=ScheduleAnswer,
    responses=refusals(*BODY, ErrorCode.NOT_FOUND, ErrorCode.PERMISSION_DENIED, ErrorCode.WORK_CONFLICT),
)
async def edit_schedule(body: ScheduleEditBody, asked: Asked, response: Response) -> ScheduleAnswer:
    """When its times are others, those that wait are skipped, and what was due by now is written down before. Else they
    are said as it says now. One that is over cannot be changed."""
    engine = asked.engine
    changed = await asked.desk.edit(
        asked.user_id, asked.schedule_id, lambda spec: body.changed(spec, engine), body.version
    )
    response.headers.update(warnings(body))
    return ScheduleAnswer.of(engine, changed)


@router.delete("/{schedule_id}", summary="Cancel a schedule", response_model=ScheduleAnswer, responses=FOUND)
async def cancel_schedule(asked: Asked) -> ScheduleAnswer:
    """Times that wait are skipped. A turn that has begun goes on: cancel its task for that."""
    return await asked.shown(Desk.cancel)


@router.post("/{schedule_id}/pause", summary="Pause a schedule", response_model=ScheduleAnswer, responses=FOUND)
async def pause_schedule(asked: Asked) -> ScheduleAnswer:
    """Times that wait are skipped, and none are due until it is resumed."""
    return await asked.shown(Desk.pause)


@router.post("/{schedule_id}/resume", summary="Resume a schedule", response_model=ScheduleAnswer, responses=FOUND)
async def resume_schedule(asked: Asked) -> ScheduleAnswer:
    """It is due from now on; what would have been due meanwhile is not made up for."""
    return await asked.shown(Desk.resume)


@router.post(
    "/{schedule_id}/run",
    summary="Run a schedule now",
    response_model=OccurrenceAnswer,
    status_code=202,
    responses=FOUND,
)
async def run_schedule(asked: Asked) -> OccurrenceAnswer:
    """Besides its own times, also while it is paused. It begins as soon as its task is at rest."""
    return OccurrenceAnswer.of(await asked.desk.run_now(asked.user_id, asked.schedule_id))


@router.get(
    "/{schedule_id}/occurrences",
    summary="What became of the times of a schedule",
    response_model=OccurrencePage,
    responses=FOUND,
)
async def occurrences(
    asked: Asked,
    limit: Limit = 50,
    before: Annotated[int | None, Query(ge=0, le=LARGEST, description="The `next` of the page before.")] = None,
    status: Annotated[OccurrenceStatus | None, Query(description="Only those.")] = None,
) -> OccurrencePage:
    """One row for each time that was due, newest first."""
    found = await asked.desk.occurrences(
        asked.user_id, asked.schedule_id, limit=limit + 1, before=before, status=status
    )
    shown = found[:limit]
    return OccurrencePage(
        occurrences=[OccurrenceAnswer.of(one) for one in shown],
        next=shown[-1].due_at if len(found) > limit else None,
    )


def _iso(ms: int | None) -> str | None:
    return None if ms is None else iso_ms(ms)
