"""The clock of schedules: it looks at what is due twice a second, writes that down, then sees to it.

Every replica has one. They need not agree on who does what: each change is made by whoever saw the row as it was, so of
two that find the same schedule due one writes its times down and one delivers each of them. A look costs what is due
and nothing else.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Final

from aster.brain.protocol import Brain
from aster.brain.schedules import Firing
from aster.contracts.errors import EngineError
from aster.contracts.schedules import Schedule, WatchTrigger
from aster.work.schedules.cron import BadCron
from aster.work.schedules.delivering import Delivery
from aster.work.schedules.firing import came_true, fired
from aster.work.schedules.ports import Turns

log = logging.getLogger("aster.schedules")

TICK_SECONDS: Final = 0.5
AT_ONCE: Final = 500
"""Most that one look takes on."""
CHECKS: Final = 4
"""Watches that are looked at at the same time."""
LONG_AGO_MS: Final = 86_400_000
"""After so long there may be very many times to count, which others need not wait for."""


class Clock:
    def __init__(self, brain: Brain, turns: Turns, now: Callable[[], int]) -> None:
        self._store = brain.schedules
        self._turns = turns
        self._now = now
        self._delivery = Delivery(brain, turns)
        self._checks = asyncio.Semaphore(CHECKS)
        self._checking: set[asyncio.Task[None]] = set()
        self._failing: set[str] = set()

    async def run(self) -> None:
        """Until it is cancelled."""
        try:
            await self._alone("what ended with its engine", self._end_sessions())
            while True:
                await self._alone("what is due", self.tick())
                await asyncio.sleep(TICK_SECONDS)
        finally:
            for check in self._checking:
                check.cancel()
            await asyncio.gather(*self._checking, return_exceptions=True)

    async def _alone(self, name: str, work: Awaitable[None]) -> None:
        """Do something whose failure keeps nothing else from being done: the next look finds the same rows. It is told
        once, until it goes well again."""
        try:
            await work
            self._failing.discard(name)
        except Exception:
            if name not in self._failing:
                log.exception("%s could not be seen to, and is tried again", name)
            self._failing.add(name)

    async def tick(self) -> None:
        """One look."""
        if self._turns.draining:
            return
        now = self._now()
        due = await self._store.due(now, AT_ONCE)
        for schedule_id, problem in due.broken:
            log.error("the schedule %s is set aside: %s", schedule_id, problem)
            await self._store.set_aside(schedule_id, problem, now)
        for schedule in due.schedules:
            await self._alone(f"the schedule {schedule.schedule_id}", self._fire(schedule, now))
        waiting = (await self._store.due(now, AT_ONCE)).occurrences if due.schedules else due.occurrences
        for one in waiting:
            await self._alone(f"a time of the schedule {one.schedule_id}", self._delivery.look(one, now))

    async def _fire(self, schedule: Schedule, now: int) -> None:
        try:
            if schedule.holder and schedule.holder not in await self._turns.alive():
                await self._end_sessions()
            elif isinstance(schedule.spec.trigger, WatchTrigger):
                await self._watch(schedule, schedule.spec.trigger, now)
            else:
                await self._store.fire(schedule, await self._fired(schedule, now), now)
        except BadCron as bad:
            await self._store.change(schedule, "paused", None, now, str(bad), problem=str(bad))

    async def _fired(self, schedule: Schedule, now: int) -> Firing:
        if now - (schedule.next_at or now) < LONG_AGO_MS:
            return fired(schedule, now)
        return await asyncio.to_thread(fired, schedule, now)

    async def _watch(self, schedule: Schedule, trigger: WatchTrigger, now: int) -> None:
        expires = schedule.spec.expires_at
        if expires is not None and now > expires:
            await self._store.change(schedule, "ended", None, now)
            return
        mine = await self._store.postpone(schedule, now + trigger.seconds * 1000)
        if mine is not None:
            name = f"the watch {schedule.schedule_id}"
            check = asyncio.create_task(self._alone(name, self._check(mine)), name=name)
            self._checking.add(check)
            check.add_done_callback(self._checking.discard)

    async def _check(self, schedule: Schedule) -> None:
        async with self._checks:
            try:
                seen, problem = await self._turns.holds(schedule), ""
            except EngineError as error:
                seen, problem = schedule.held, error.message
        now = self._now()
        if seen and not schedule.held:
            await self._store.fire(schedule, came_true(schedule, now), now)
        elif (seen, problem) != (schedule.held, schedule.problem):
            firing = Firing(next_at=schedule.next_at, seen=seen, problem=problem)
            await self._store.fire(schedule, firing, now)

    async def _end_sessions(self) -> None:
        count = await self._store.end_sessions(await self._turns.alive(), self._now())
        if count:
            log.info("%d schedules ended with the engine they were made on", count)
