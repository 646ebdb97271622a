"""The desk: where schedules are made, looked at and stopped, for people and for models.

Nothing is kept that could never be due, that names what is not there, or that goes beyond what a user may have.
"""

from collections.abc import Callable
from typing import Final

from msgspec.structs import replace

from aster.brain.protocol import Brain
from aster.brain.records import ThreadKey
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.schedules import (
    CronTrigger,
    IntervalTrigger,
    Occurrence,
    OccurrenceStatus,
    OnceTrigger,
    Schedule,
    ScheduleSpec,
    ScheduleStatus,
    WatchTrigger,
)
from aster.infra.ids import new_id
from aster.infra.settings import Settings
from aster.work.schedules.calendar import parsed, zone
from aster.work.schedules.cron import BadCron
from aster.work.schedules.firing import coming, fired, next_time
from aster.work.schedules.ports import Gate

PROMPT_CHARS: Final = 20_000
NAME_CHARS: Final = 100
SHORTEST_SECONDS: Final = 10
LONGEST_SECONDS: Final = 366 * 86_400
MOST_CATCH_UP: Final = 30 * 86_400
COMING: Final = 5
CHANGED: Final = "The schedule was changed."
_FIRST: Final = "Talk to it first, or leave `task_id` out: every run then has a task of its own."


class Desk:
    def __init__(self, brain: Brain, settings: Settings, now: Callable[[], int], gate: Gate) -> None:
        self._brain = brain
        self._store = brain.schedules
        self._settings = settings
        self._now = now
        self._gate = gate

    async def create(self, user_id: str, spec: ScheduleSpec, schedule_id: str | None = None) -> Schedule:
        """Keep a schedule; the same id makes it once."""
        now = self._now()
        _check(spec, now)
        if spec.task_id is not None and await self._brain.thread(ThreadKey(user_id, spec.task_id)) is None:
            raise EngineError(ErrorCode.TASK_NOT_FOUND, f"There is no task {spec.task_id!r}. {_FIRST}")
        spec = await self._gate.checked(user_id, spec)
        schedule = Schedule(
            schedule_id=schedule_id or new_id("schedule"),
            user_id=user_id,
            spec=spec,
            status="active",
            next_at=now if isinstance(spec.trigger, WatchTrigger) else None,
            created_at=now,
            updated_at=now,
            holder="" if spec.durable else self._brain.replica,
        )
        if schedule.next_at is None:
            schedule = _timed(schedule, now)
        most = self._settings.schedules_per_user
        if not await self._store.create(schedule, most):
            message = f"You have {most} schedules, the most there can be (SCHEDULES_PER_USER). Cancel one first."
            raise EngineError(ErrorCode.INVALID_REQUEST, message)
        return await self.get(user_id, schedule.schedule_id)

    def preview(self, user_id: str, spec: ScheduleSpec) -> list[int]:
        """When it would be due next, without keeping it."""
        now = self._now()
        _check(spec, now)
        draft = Schedule(
            schedule_id="",
            user_id=user_id,
            spec=spec,
            status="active",
            next_at=None,
            created_at=now,
            updated_at=now,
        )
        return [] if isinstance(spec.trigger, WatchTrigger) else self.coming(_timed(draft, now))

    async def get(self, user_id: str, schedule_id: str) -> Schedule:
        found = await self._store.schedule(user_id, schedule_id)
        if found is None:
            raise EngineError(ErrorCode.NOT_FOUND, f"There is no schedule {schedule_id[:64]!r}.")
        return found

    async def schedules(
        self,
        user_id: str,
        *,
        limit: int,
        before: int | None = None,
        status: ScheduleStatus | None = None,
        task_id: str | None = None,
    ) -> list[Schedule]:
        """Newest first."""
        return await self._store.schedules(user_id, limit=limit, before=before, status=status, task_id=task_id)

    async def occurrences(
        self,
        user_id: str,
        schedule_id: str,
        *,
        limit: int,
        before: int | None = None,
        status: OccurrenceStatus | None = None,
    ) -> list[Occurrence]:
        """The times that were due, newest first."""
        await self.get(user_id, schedule_id)
        return await self._store.occurrences(user_id, schedule_id, limit=limit, before=before, status=status)

    def coming(self, schedule: Schedule) -> list[int]:
        return coming(schedule, self._now(), COMING)

    async def edit(
        self,
        user_id: str,
        schedule_id: str,
        change: Callable[[ScheduleSpec], ScheduleSpec],
        revision: int | None = None,
    ) -> Schedule:
        """Let a schedule say something else; with a `revision` only if it is still that. What was due by then is
        written down before; when its times are others from now on, those that wait are skipped."""
        while True:
            found, now = await self.get(user_id, schedule_id), self._now()
            if found.status not in ("active", "paused"):
                raise EngineError(ErrorCode.INVALID_REQUEST, f"The schedule is {found.status}. Make a new one.")
            if revision is not None and revision != found.spec.revision:
                message = f"The schedule has been changed since; it is at version {found.spec.revision} now."
                details = {"reason": "stale", "schedule_id": schedule_id, "version": found.spec.revision}
                raise EngineError(ErrorCode.WORK_CONFLICT, message, details)
            wanted = change(found.spec)
            if wanted == found.spec:
                return found
            spec = await self._fit(found, replace(wanted, revision=found.spec.revision + 1), now)
            if _overdue(found, now):
                await self._store.fire(found, fired(found, now), now)
                continue
            changed = replace(found, spec=spec)
            following = _resumed(changed, now) if found.status == "active" else None
            retimed = (spec.trigger, spec.expires_at) != (found.spec.trigger, found.spec.expires_at)
            if not retimed:
                following = found.next_at
            if await self._store.edit(found, spec, following, now, CHANGED if retimed else ""):
                return await self.get(user_id, schedule_id)

    async def _fit(self, found: Schedule, spec: ScheduleSpec, now: int) -> ScheduleSpec:
        """What may be kept of a change; what was there already need not be so again."""
        same = replace(spec, trigger=IntervalTrigger(seconds=SHORTEST_SECONDS), expires_at=None)
        _check(
            spec if (spec.trigger, spec.expires_at) != (found.spec.trigger, found.spec.expires_at) else same, now
        )
        if spec.max_runs is not None and spec.max_runs <= found.runs:
            raise wrong("max_runs", f"has to be more than the {found.runs} runs there were")
        return await self._gate.checked(found.user_id, spec)

    async def run_now(self, user_id: str, schedule_id: str) -> Occurrence:
        """Do it now, besides its times."""
        made = await self._store.run_now(await self.get(user_id, schedule_id), self._now())
        if made is None:
            raise EngineError(ErrorCode.INVALID_REQUEST, "The schedule is over. Make a new one.")
        return made

    async def pause(self, user_id: str, schedule_id: str) -> Schedule:
        """Let nothing be due until it is resumed."""
        return await self._changed(user_id, schedule_id, "paused", "The schedule was paused.")

    async def resume(self, user_id: str, schedule_id: str) -> Schedule:
        """Let it be due again, from now on."""
        return await self._changed(user_id, schedule_id, "active", "")

    async def cancel(self, user_id: str, schedule_id: str) -> Schedule:
        """End it for good, with what waits of it."""
        return await self._changed(user_id, schedule_id, "cancelled", "The schedule was cancelled.")

    async def _changed(self, user_id: str, schedule_id: str, status: ScheduleStatus, reason: str) -> Schedule:
        while True:
            found, now = await self.get(user_id, schedule_id), self._now()
            if found.status == status:
                return found
            if found.status == "cancelled" or (found.status == "ended" and status != "cancelled"):
                raise EngineError(ErrorCode.INVALID_REQUEST, f"The schedule is {found.status}. Make a new one.")
            following = _resumed(found, now) if status == "active" else None
            if await self._store.change(found, status, following, now, reason):
                return await self.get(user_id, schedule_id)


def _overdue(schedule: Schedule, now: int) -> bool:
    """Whether a time has come that is not written down yet."""
    watched = isinstance(schedule.spec.trigger, WatchTrigger)
    return schedule.status == "active" and not watched and schedule.next_at is not None and schedule.next_at <= now


def _resumed(schedule: Schedule, now: int) -> int | None:
    if isinstance(schedule.spec.trigger, WatchTrigger):
        return now
    return _timed(schedule, now).next_at


def _timed(schedule: Schedule, now: int) -> Schedule:
    """With its next time; refused when there is none."""
    following = next_time(schedule, now)
    if following is None:
        raise wrong(_trigger_field(schedule.spec), "is never due again")
    return replace(schedule, next_at=following)


def _check(spec: ScheduleSpec, now: int) -> None:
    trigger = spec.trigger
    if not spec.prompt.strip() or len(spec.prompt) > PROMPT_CHARS or "\x00" in spec.prompt:
        raise wrong("prompt", f"has to have 1 to {PROMPT_CHARS} characters, none of them NUL")
    if len(spec.name) > NAME_CHARS or not (spec.name.isprintable() or not spec.name):
        raise wrong("name", f"has to be at most {NAME_CHARS} printable characters")
    if not 0 <= spec.catch_up_seconds <= MOST_CATCH_UP:
        raise wrong("catch_up_seconds", f"has to be from 0 to {MOST_CATCH_UP}")
    if spec.max_runs is not None and spec.max_runs < 1:
        raise wrong("max_runs", "has to be 1 or more")
    if spec.expires_at is not None and spec.expires_at <= now:
        raise wrong("expires_at", "is over already")
    match trigger:
        case CronTrigger():
            _check_cron(trigger)
        case IntervalTrigger():
            _check_seconds(trigger.seconds)
        case OnceTrigger():
            if trigger.at <= now:
                raise wrong("at", "is over already")
        case WatchTrigger():
            _check_watch(spec, trigger)


def _check_cron(trigger: CronTrigger) -> None:
    try:
        parsed(trigger.cron)
    except BadCron as bad:
        problem = f"is wrong: {bad}"
        details = {"fields": [{"field": "cron", "problem": problem, "part": bad.field}]}
        raise EngineError(ErrorCode.INVALID_REQUEST, f"`cron` {problem}", details) from None
    try:
        zone(trigger.time_zone)
    except BadCron as bad:
        raise wrong("time_zone", bad.problem) from None


def _check_seconds(seconds: int) -> None:
    if not SHORTEST_SECONDS <= seconds <= LONGEST_SECONDS:
        raise wrong("every_seconds", f"has to be from {SHORTEST_SECONDS} to {LONGEST_SECONDS}")


def _check_watch(spec: ScheduleSpec, trigger: WatchTrigger) -> None:
    _check_seconds(trigger.seconds)
    if (trigger.command is None) == (trigger.url is None):
        raise wrong("watch", "needs a command or a url, and not both")
    if trigger.command is not None and (spec.task_id is None or "\x00" in trigger.command):
        raise wrong("watch.command", "needs a `task_id`: it runs in the workspace of that task")
    if trigger.url is not None and not trigger.url.lower().startswith(("http://", "https://")):
        raise wrong("watch.url", "has to begin with http:// or https://")
    if trigger.status is not None and not 100 <= trigger.status <= 599:
        raise wrong("watch.status", "has to be from 100 to 599")


def _trigger_field(spec: ScheduleSpec) -> str:
    match spec.trigger:
        case CronTrigger():
            return "cron"
        case OnceTrigger():
            return "at"
        case _:
            return "every_seconds"


def wrong(field: str, problem: str) -> EngineError:
    return EngineError(
        ErrorCode.INVALID_REQUEST,
        f"Correct this and send it again: `{field}` {problem}.",
        {"fields": [{"field": field, "problem": problem}]},
    )
