"""The watchdog: learning begins by itself when it is time to, or when nobody has said anything for a while.

When a work is begun is written down before it begins, for all replicas: one that fails or is killed is not begun over
and over. How long nobody has said anything is told by people's turns alone; learning never makes itself wait.
"""

import asyncio
import logging
from typing import TYPE_CHECKING, Final

from aster.brain.learning import LearningStore
from aster.learning_centre.work import Work
from aster.learning_centre.workbench import Workbench

if TYPE_CHECKING:
    from aster.learning_centre.centre import LearningCentre

log = logging.getLogger("aster.learning.watchdog")

TICK_SECONDS: Final = 60.0
ALL: Final = "operator"
"""Whose states say what is done for everybody."""
BEGUN: Final = "begun:"
SCHEDULED: Final = "schedule"
HOUR_MS: Final = 3_600_000


class Watchdog:
    def __init__(self, centre: "LearningCentre", tick_seconds: float = TICK_SECONDS) -> None:
        self._centre = centre
        self._engine = centre.engine
        self._tick_seconds = tick_seconds
        self._watching: asyncio.Task[None] | None = None
        self._looking: asyncio.Task[None] | None = None
        self._closed = False

    def start(self) -> None:
        self._watching = asyncio.create_task(self._watch(), name="learning watchdog")

    async def close(self) -> None:
        """Begin nothing any more; what is under way ends, whoever had it begun."""
        self._closed = True
        for task in (self._watching, self._looking):
            if task is not None:
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)

    async def _watch(self) -> None:
        while not self._closed:
            await asyncio.sleep(self._tick_seconds)
            occasion = int(self._now() / 1000 / self._tick_seconds)
            try:
                await self._engine.coordinator.once("learning", str(occasion), self.tick)
            except Exception:  # the next tick tries again
                log.exception("learning could not be begun")

    async def tick(self) -> None:
        """Look once whether anything is to be begun, and do it; a look that comes while another is still at it here is
        not needed, and would only wait for it."""
        if self._closed or self._looking is not None:
            return
        self._looking = asyncio.create_task(self._look(), name="learning tick")
        try:
            await self._looking
        except asyncio.CancelledError:
            if not self._closed:
                raise
        finally:
            self._looking = None

    async def _look(self) -> None:
        if self._engine.draining or await self._scheduled():
            return
        now = self._now()
        idle = (now - (await self._store.active_at(now) or 0)) / 1000
        for work in self._centre.works.values():
            if idle > work.idle_seconds and await self._rested(work) and await self._begin(work, yields=True):
                return

    async def next_run(self) -> int | None:
        """When the schedule begins again; None when it never does."""
        interval = self._engine.settings.lc_batch_interval_hours
        if not interval or not self._centre.by_itself:
            return None
        last = await self._stamp(SCHEDULED)
        return (self._engine.started_at_ms if last is None else last) + int(interval * HOUR_MS)

    async def _scheduled(self) -> bool:
        """Run everything if it is time to. One that people kept from running for a whole interval makes room for them
        in its model calls alone: where somebody always talks, it would never be done."""
        due = await self.next_run()
        if due is None or self._now() < due:
            if due is not None and await self._stamp(SCHEDULED) is None:
                await self._keep(SCHEDULED)
            return False
        late = self._now() - due > self._engine.settings.lc_batch_interval_hours * HOUR_MS
        if not late and await self._centre.bench(yields=True).crowded():
            return False
        await self._keep(SCHEDULED)
        for work in self._centre.works.values():
            await self._begin(work, yields=not late)
        return True

    async def _rested(self, work: Work) -> bool:
        last = await self._stamp(work.name)
        return last is None or self._now() - last >= work.cooldown_seconds * 1000

    async def _begin(self, work: Work, *, yields: bool) -> bool:
        """Run a work for everybody for whom it is due; whether there was anybody."""
        bench = self._centre.bench(yields=yields)
        users = [user_id for user_id in await work.users(bench) if await self._due(work, bench, user_id)]
        if not users:
            return False
        await self._keep(work.name)
        for user_id in users:
            if await bench.crowded():
                break
            await self._centre.run(bench, user_id, [work])
        return True

    async def _due(self, work: Work, bench: Workbench, user_id: str) -> bool:
        try:
            return await work.due(bench, user_id)
        except Exception:  # the boundary between people: what is wrong with one keeps nobody else from learning
            log.exception("whether the %s is due for somebody cannot be told", work.name)
            return False

    async def _stamp(self, name: str) -> int | None:
        found = await self._store.state(ALL, f"{BEGUN}{name}")
        return None if found is None else int(found)

    async def _keep(self, name: str) -> None:
        await self._store.keep_state(ALL, f"{BEGUN}{name}", str(self._now()), self._now())

    @property
    def _store(self) -> LearningStore:
        return self._engine.brain.learning

    def _now(self) -> int:
        return self._engine.services.now()
