"""What is to be done now and then: forgetting what nobody misses, going on at midnight, and looking for turns that have
come to a halt. The first two are done by one replica each time, however many there are; the last by each for itself,
and so is looking at schedules: what is due is seen to by whoever finds it first."""

import asyncio
import logging
from typing import Final

from aster.engine_core.coordinator import Coordinator
from aster.engine_core.projects.turns import advancing
from aster.engine_core.runner import Runner
from aster.engine_core.scheduled_turns import clock
from aster.engine_core.services import Services
from aster.infra.clock import now_ms

log = logging.getLogger("aster.chores")

RETENTION_SECONDS: Final = 60.0
RETAINED: Final = 500
"""Entries of learning, and times of schedules, that one step forgets."""
IDLE_SECONDS: Final = 2.0
"""How often a process looks for turns of its own that it does not run."""


class Chores:
    def __init__(self, services: Services, runner: Runner, coordinator: Coordinator) -> None:
        self._services = services
        self._runner = runner
        self._coordinator = coordinator
        self._doing: list[asyncio.Task[None]] = []

    def start(self) -> None:
        schedules = clock(self._services, self._coordinator)
        chores = (
            ("retention", self._keep()),
            ("days", self._begin_days()),
            ("idle", self._wake_idle()),
            ("schedules", schedules.run()),
            ("projects", advancing(self._services, self._coordinator).run()),
        )
        for name, work in chores:
            self._doing.append(asyncio.create_task(work, name=name))

    async def close(self) -> None:
        for task in self._doing:
            task.cancel()
        await asyncio.gather(*self._doing, return_exceptions=True)

    async def _keep(self) -> None:
        while True:
            occasion = int(now_ms() / 1000 / RETENTION_SECONDS)
            try:
                await self._runner.once("retention", str(occasion), self._retain)
            except Exception:  # the next occasion tries again
                log.exception("what nobody misses could not be forgotten")
            await asyncio.sleep(RETENTION_SECONDS)

    async def _retain(self) -> None:
        """A small step at a time, until there is nothing left to do."""
        services, gone = self._services, 1
        while gone:
            now, kept = now_ms(), services.settings.observability_days * 86_400_000
            old = now - kept
            gone = await services.brain.retain(
                deltas_before=now - services.settings.channel_state_ttl_active * 1000, observations_before=old
            )
            gone += await services.memory.expire()
            gone += await services.brain.learning.retain(old, RETAINED)
            gone += await services.brain.schedules.forget(services.now() - kept, RETAINED)
            gone += await services.brain.work.forget(services.settings.work_history_max, RETAINED)
            await asyncio.sleep(1.0 if gone else 0.0)

    async def _wake_idle(self) -> None:
        """Every process does this for itself."""
        while True:
            await asyncio.sleep(IDLE_SECONDS)
            try:
                if not self._coordinator.draining:
                    await self._coordinator.takeover.idle()
            except Exception:  # the next look finds them too
                log.exception("turns that do not run could not be looked for")

    async def _begin_days(self) -> None:
        """At midnight (UTC) budgets begin anew: what they had stopped goes on."""
        budgets = self._services.budgets
        day = budgets.today()
        while True:
            day = await budgets.next_day(day)
            try:
                await self._runner.once("day", day.name, self._coordinator.begin_day)
            except Exception:  # whatever keeps it from going on today must not keep it from doing so tomorrow
                log.exception("turns that wait for a new day's budget could not all go on")
