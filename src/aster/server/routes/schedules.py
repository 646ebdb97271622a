"""Schedules: what is said to a task later, again and again, or when something becomes true; and what became of it."""

from datetime import UTC, datetime
from typing import Annotated, Any, Literal, Self

from fastapi import APIRouter, Path, Query, Response
from pydantic import BaseModel, Field, StrictBool, StrictInt, model_validator
from pydantic_core import PydanticCustomError

from aster.contracts.errors import ErrorCode
from aster.contracts.model import to_builtins
from aster.contracts.permissions import PermissionMode
from aster.contracts.schedules import (
    CatchUp,
    CronTrigger,
    IntervalTrigger,
    Occurrence,
    OccurrenceStatus,
    OnceTrigger,
    Schedule,
    ScheduleSpec,
    ScheduleStatus,
    Trigger,
    WatchTrigger,
)
from aster.engine_core.engine import Engine
from aster.engine_core.schedules import desk, usual_zone
from aster.infra.clock import iso_ms
from aster.server.bodies import LARGEST, OtherId, TaskId, warnings
from aster.server.errors import refusals
from aster.server.media import Part, Text
from aster.server.visit import KEYED, Serving, Visiting
from aster.work.schedules.cron import MOST_CHARS
from aster.work.schedules.desk import LONGEST_SECONDS, MOST_CATCH_UP, NAME_CHARS, PROMPT_CHARS, SHORTEST_SECONDS

router = APIRouter(prefix="/schedules", tags=["schedules"], dependencies=KEYED)

BODY = (ErrorCode.MALFORMED_REQUEST, ErrorCode.INVALID_REQUEST, ErrorCode.UNSUPPORTED_MEDIA_TYPE)
Id = Annotated[str, Path(description="The schedule's id.", max_length=128)]
Limit = Annotated[int, Query(ge=1, le=200, description="At most so many.")]
Seconds = Annotated[StrictInt, Field(ge=SHORTEST_SECONDS, le=LONGEST_SECONDS)]
_COMMAND_CHARS = 10_000
_WHEN = ("cron", "every_seconds", "at", "watch")


class WatchPart(Part):
    """What is waited for: one of `command` and `url`. It fires when it was not so before and is so now."""

    command: Text | None = Field(
        None,
        min_length=1,
        max_length=_COMMAND_CHARS,
        description="A shell command, run in the sandbox in the workspace of `task_id`; true when it ends with 0. It"
        " has to be one that runs without anybody being asked.",
    )
    url: Text | None = Field(
        None, min_length=1, max_length=8000, description="A public address; true when it answers."
    )
    status: StrictInt | None = Field(None, ge=100, le=599, description="With this status; else without an error.")
    every_seconds: Seconds = Field(60, description="How often to look.")


class ScheduleBody(Part):
    """A schedule: a prompt, and one of `cron`, `every_seconds`, `at` and `watch`."""

    prompt: Text = Field(min_length=1, max_length=PROMPT_CHARS, description="What is said when it is due.")
    name: Text = Field("", max_length=NAME_CHARS, description="What people call it.")
    cron: Text | None = Field(
        None,
        min_length=1,
        max_length=MOST_CHARS,
        description="Minute, hour, day of month, month, day of week; or `@daily` and the like. When both kinds of day"
        " are restricted, either is enough.",
    )
    time_zone: Text | None = Field(
        None, max_length=64, description="Whose clocks `cron` means, such as `Europe/Berlin`; left out, TIME_ZONE."
    )
    every_seconds: Seconds | None = Field(None, description="Every so many seconds.")
    at: datetime | None = Field(None, description="Once, at this moment (ISO 8601; without an offset it is UTC).")
    watch: WatchPart | None = None
    task_id: TaskId | None = Field(None, description="The task it is said to; left out, every run has its own.")
    model: OtherId | None = Field(None, description="One of `LLM_ALLOWED_MODELS`; left out, the usual one.")
    agent: OtherId | None = Field(None, description="Who answers, by name; left out, the usual agent.")
    permission_mode: PermissionMode | None = Field(None, description="As in `POST /execute`.")
    catch_up: CatchUp = Field(
        "latest",
        description="Which of the times that no engine was there for are made up for: the `latest`, `all`, or `none`.",
    )
    catch_up_seconds: StrictInt | None = Field(
        None, ge=0, le=MOST_CATCH_UP, description="If they are at most so old; left out, SCHEDULE_CATCH_UP_SECONDS."
    )
    jitter: StrictBool = Field(
        False,
        description="Put its times off by up to a tenth of the period, 15 minutes at most; always by the same.",
    )
    expires_at: datetime | None = Field(None, description="It is not due after this.")
    max_runs: StrictInt | None = Field(None, ge=1, le=LARGEST, description="It ends after so many runs.")
    durable: StrictBool = Field(True, description="False: it ends with the engine process that it was made on.")

    @model_validator(mode="after")
    def _due_in_one_way(self) -> Self:
        given = [name for name in _WHEN if getattr(self, name) is not None]
        if len(given) != 1:
            problem = f"excludes {given[1]}" if given else f"is missing (or {', '.join(_WHEN[1:])})"
            raise PydanticCustomError("when", problem, {"field": given[0] if given else "cron"})  # type: ignore[arg-type]
        return self

    def spec(self, engine: Engine) -> ScheduleSpec:
        usual = engine.settings.schedule_catch_up_seconds
        return ScheduleSpec(
            trigger=self._trigger(usual_zone(engine.settings)),
            prompt=self.prompt,
            name=self.name,
            task_id=self.task_id,
            model=self.model,
            agent=self.agent,
            permission_mode=self.permission_mode,
            catch_up=self.catch_up,
            catch_up_seconds=usual if self.catch_up_seconds is None else self.catch_up_seconds,
            jitter=self.jitter,
            expires_at=None if self.expires_at is None else _ms(self.expires_at),
            max_runs=self.max_runs,
            durable=self.durable,
        )

    def _trigger(self, zone: str) -> Trigger:
        if self.cron is not None:
            return CronTrigger(cron=self.cron, time_zone=self.time_zone or zone)
        if self.every_seconds is not None:
            return IntervalTrigger(seconds=self.every_seconds)
        if self.at is not None:
            return OnceTrigger(at=_ms(self.at))
        assert self.watch is not None
        watch = self.watch
        return WatchTrigger(seconds=watch.every_seconds, command=watch.command, url=watch.url, status=watch.status)


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


@router.get(
    "/{schedule_id}",
    summary="One schedule",
    response_model=ScheduleAnswer,
    responses=refusals(ErrorCode.NOT_FOUND, ErrorCode.INVALID_REQUEST),
)
async def schedule(schedule_id: Id, engine: Serving, visit: Visiting) -> ScheduleAnswer:
    """With the next few times."""
    return ScheduleAnswer.of(engine, await desk(engine.services).get(visit.user_id, schedule_id))


@router.delete(
    "/{schedule_id}",
    summary="Cancel a schedule",
    response_model=ScheduleAnswer,
    responses=refusals(ErrorCode.NOT_FOUND, ErrorCode.INVALID_REQUEST),
)
async def cancel_schedule(schedule_id: Id, engine: Serving, visit: Visiting) -> ScheduleAnswer:
    """Times that wait are skipped. A turn that has begun goes on: cancel its task for that."""
    return ScheduleAnswer.of(engine, await desk(engine.services).cancel(visit.user_id, schedule_id))


@router.post(
    "/{schedule_id}/pause",
    summary="Pause a schedule",
    response_model=ScheduleAnswer,
    responses=refusals(ErrorCode.NOT_FOUND, ErrorCode.INVALID_REQUEST),
)
async def pause_schedule(schedule_id: Id, engine: Serving, visit: Visiting) -> ScheduleAnswer:
    """Times that wait are skipped, and none are due until it is resumed."""
    return ScheduleAnswer.of(engine, await desk(engine.services).pause(visit.user_id, schedule_id))


@router.post(
    "/{schedule_id}/resume",
    summary="Resume a schedule",
    response_model=ScheduleAnswer,
    responses=refusals(ErrorCode.NOT_FOUND, ErrorCode.INVALID_REQUEST),
)
async def resume_schedule(schedule_id: Id, engine: Serving, visit: Visiting) -> ScheduleAnswer:
    """It is due from now on; what would have been due meanwhile is not made up for."""
    return ScheduleAnswer.of(engine, await desk(engine.services).resume(visit.user_id, schedule_id))


@router.post(
    "/{schedule_id}/run",
    summary="Run a schedule now",
    response_model=OccurrenceAnswer,
    status_code=202,
    responses=refusals(ErrorCode.NOT_FOUND, ErrorCode.INVALID_REQUEST),
)
async def run_schedule(schedule_id: Id, engine: Serving, visit: Visiting) -> OccurrenceAnswer:
    """Besides its own times, also while it is paused. It begins as soon as its task is at rest."""
    return OccurrenceAnswer.of(await desk(engine.services).run_now(visit.user_id, schedule_id))


@router.get(
    "/{schedule_id}/occurrences",
    summary="What became of the times of a schedule",
    response_model=OccurrencePage,
    responses=refusals(ErrorCode.NOT_FOUND, ErrorCode.INVALID_REQUEST),
)
async def occurrences(
    schedule_id: Id,
    engine: Serving,
    visit: Visiting,
    limit: Limit = 50,
    before: Annotated[int | None, Query(ge=0, le=LARGEST, description="The `next` of the page before.")] = None,
    status: Annotated[OccurrenceStatus | None, Query(description="Only those.")] = None,
) -> OccurrencePage:
    """One row for each time that was due, newest first."""
    found = await desk(engine.services).occurrences(
        visit.user_id, schedule_id, limit=limit + 1, before=before, status=status
    )
    shown = found[:limit]
    return OccurrencePage(
        occurrences=[OccurrenceAnswer.of(one) for one in shown],
        next=shown[-1].due_at if len(found) > limit else None,
    )


def _ms(moment: datetime) -> int:
    return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)


def _iso(ms: int | None) -> str | None:
    return None if ms is None else iso_ms(ms)
