"""Schedules over the wire: making them, stopping them, and what became of their times."""

from typing import Any, TypedDict, Unpack
from urllib.parse import quote

from aster.client.wire import Wire
from aster.contracts.model import Contract
from aster.contracts.permissions import PermissionMode
from aster.contracts.schedules import CatchUp


class Watch(TypedDict, total=False):
    """What is waited for: a `command` that ends with 0, or a `url` that answers (with this `status`)."""

    command: str
    url: str
    status: int
    every_seconds: int


class ScheduleOptions(TypedDict, total=False):
    """When a schedule is due (one of `cron`, `every_seconds`, `at` and `watch`), and what else there is to say."""

    name: str
    cron: str
    time_zone: str
    every_seconds: int
    at: str
    watch: Watch
    task_id: str
    model: str
    agent: str
    permission_mode: PermissionMode
    catch_up: CatchUp
    catch_up_seconds: int
    jitter: bool
    expires_at: str
    max_runs: int
    durable: bool


class ScheduleSummary(Contract):
    """A schedule as it stands; `coming` are the next few times."""

    schedule_id: str
    prompt: str
    kind: str
    status: str
    created_at: str
    name: str = ""
    trigger: dict[str, Any] = {}
    task_id: str | None = None
    next_at: str | None = None
    coming: tuple[str, ...] = ()
    runs: int = 0
    problem: str = ""
    model: str | None = None
    agent: str | None = None
    permission_mode: str | None = None
    catch_up: str = "latest"
    catch_up_seconds: int = 0
    jitter: bool = False
    expires_at: str | None = None
    max_runs: int | None = None
    durable: bool = True
    version: int = 1
    updated_at: str = ""


class SchedulePage(Contract):
    schedules: tuple[ScheduleSummary, ...]
    next: int | None = None


class OccurrenceSummary(Contract):
    """A time that was due, and what became of it."""

    schedule_id: str
    due_at: str
    status: str
    task_id: str | None = None
    turn_id: str | None = None
    by_hand: bool = False
    attempt: int = 0
    count: int = 1
    until_at: str | None = None
    delivered_at: str | None = None
    settled_at: str | None = None
    reason: str = ""


class OccurrencePage(Contract):
    occurrences: tuple[OccurrenceSummary, ...]
    next: int | None = None


class SchedulePreview(Contract):
    """When a schedule would be due: the next few times, and whose clocks were meant."""

    coming: tuple[str, ...]
    time_zone: str | None = None


class SchedulesClient:
    """The part of a client that is about schedules."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    async def create(self, prompt: str, **options: Unpack[ScheduleOptions]) -> ScheduleSummary:
        """Have something said later, again and again, or when something becomes true."""
        body: dict[str, Any] = {"prompt": prompt, **options}
        return await self._wire.ask(ScheduleSummary, "POST", "/schedules", body=body)

    async def preview(self, **options: Unpack[ScheduleOptions]) -> SchedulePreview:
        """When it would be due; nothing is made."""
        return await self._wire.ask(SchedulePreview, "POST", "/schedules/preview", body=dict(options))

    async def edit(self, schedule_id: str, *, version: int | None = None, **changes: Any) -> ScheduleSummary:
        """Let it say something else: `prompt`, and what `ScheduleOptions` has but for `task_id` and `durable`. None
        takes away `model`, `agent`, `permission_mode`, `expires_at` and `max_runs`. With `version` only if still so."""
        body: dict[str, Any] = {"version": version, **changes}
        return await self._wire.ask(ScheduleSummary, "PATCH", _path(schedule_id), body=body)

    async def list(
        self,
        *,
        status: str | None = None,
        task_id: str | None = None,
        limit: int = 50,
        before: int | None = None,
    ) -> SchedulePage:
        """One page, newest first, also of those that are over."""
        params = {"status": status, "task_id": task_id, "limit": limit, "before": before}
        return await self._wire.ask(SchedulePage, "GET", "/schedules", params=params)

    async def get(self, schedule_id: str) -> ScheduleSummary:
        return await self._wire.ask(ScheduleSummary, "GET", _path(schedule_id))

    async def cancel(self, schedule_id: str) -> ScheduleSummary:
        """End it for good, with what waits of it."""
        return await self._wire.ask(ScheduleSummary, "DELETE", _path(schedule_id))

    async def pause(self, schedule_id: str) -> ScheduleSummary:
        """Let nothing be due until it is resumed."""
        return await self._wire.ask(ScheduleSummary, "POST", f"{_path(schedule_id)}/pause")

    async def resume(self, schedule_id: str) -> ScheduleSummary:
        """Let it be due again, from now on."""
        return await self._wire.ask(ScheduleSummary, "POST", f"{_path(schedule_id)}/resume")

    async def run(self, schedule_id: str) -> OccurrenceSummary:
        """Make it due now, besides its own times."""
        return await self._wire.ask(OccurrenceSummary, "POST", f"{_path(schedule_id)}/run")

    async def occurrences(
        self, schedule_id: str, *, status: str | None = None, limit: int = 50, before: int | None = None
    ) -> OccurrencePage:
        """The times that were due, newest first."""
        params = {"status": status, "limit": limit, "before": before}
        return await self._wire.ask(OccurrencePage, "GET", f"{_path(schedule_id)}/occurrences", params=params)


def _path(schedule_id: str) -> str:
    return f"/schedules/{quote(schedule_id, safe='')}"
