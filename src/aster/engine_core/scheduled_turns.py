"""Turns of schedules: how one begins, and how a watch looks, for the clock that sees to them.

A watch is decided on anew every time it looks: a rule or a grant that has changed since holds.
"""

from collections.abc import Collection, Sequence
from typing import Final

from msgspec.structs import replace

from aster.brain.records import Row, ThreadKey
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.events import ScheduleFired
from aster.contracts.schedules import Occurrence, Schedule, WatchTrigger
from aster.engine_core.casting import check_model
from aster.engine_core.coordinator import Coordinator
from aster.engine_core.permissions import moded
from aster.engine_core.redaction import clean_order
from aster.engine_core.schedules import order_of, permitted, words
from aster.engine_core.services import Services
from aster.infra.clock import iso_ms
from aster.sandbox.backend import Command
from aster.sandbox.reach import Reach, Refused
from aster.work.schedules.clock import Clock

CHECK_SECONDS: Final = 30.0


class ScheduledTurns:
    """How the clock of schedules gets its turns."""

    def __init__(self, services: Services, coordinator: Coordinator) -> None:
        self._services = services
        self._coordinator = coordinator

    @property
    def draining(self) -> bool:
        return self._coordinator.draining

    async def begin(
        self,
        schedule: Schedule,
        occurrence: Occurrence,
        key: ThreadKey,
        turn_id: str,
        tip: str | None,
        rows: Sequence[Row],
    ) -> None:
        services = self._services
        order = order_of(schedule.spec, key.task_id, words(schedule, occurrence))
        check_model(services.settings, order.model)
        order = await services.agents.cast(key.user_id, moded(services.settings, order))
        await services.budgets.admit(key)
        told = ScheduleFired(
            schedule_id=schedule.schedule_id,
            occurrence=iso_ms(occurrence.due_at),
            status="delivered",
            prompt=schedule.spec.prompt,
        )
        order = replace(clean_order(services.secrets, order), fired=told)
        await self._coordinator.begin_child(key, turn_id, order, tip, rows)

    async def holds(self, schedule: Schedule) -> bool:
        trigger = schedule.spec.trigger
        assert isinstance(trigger, WatchTrigger)
        await permitted(self._services, schedule.user_id, schedule.spec, trigger)
        if trigger.command is not None:
            return await self._ran(ThreadKey(schedule.user_id, schedule.spec.task_id or ""), trigger.command)
        return await self._answers(trigger.url or "", trigger.status)

    async def _ran(self, key: ThreadKey, script: str) -> bool:
        services = self._services
        workspace = await services.workspaces.of(*key)
        seconds = min(CHECK_SECONDS, services.limits.bash_seconds)
        done = await services.sandbox.run(Command.shell(script, workspace, seconds))
        if done.timed_out or done.exceeded is not None:
            why = f"did not end within {seconds:g} seconds" if done.timed_out else "used more than it may"
            raise EngineError(ErrorCode.INVALID_REQUEST, f"The command of the watch {why}.")
        return done.exit_code == 0

    async def _answers(self, url: str, status: int | None) -> bool:
        from aster.sandbox.fetch import Fetcher, FetchFailed

        try:
            page = await Fetcher(Reach.of(self._services.settings), seconds=CHECK_SECONDS).get(url)
        except Refused as refused:
            message = f"{refused.destination} is not looked at: {refused.why}."
            raise EngineError(ErrorCode.INVALID_REQUEST, message) from None
        except FetchFailed as failed:
            return status is not None and failed.status == status
        return page.status == status if status is not None else page.status < 400

    async def alive(self) -> Collection[str]:
        return {self._services.brain.replica, *(one.replica for one in await self._coordinator.alive())}


def clock(services: Services, coordinator: Coordinator) -> Clock:
    """What sees to them while the engine runs."""
    return Clock(services.brain, ScheduledTurns(services, coordinator), services.now)
