"""Turns without a home: freed of an owner that died or left, offered to all replicas, and taken in where there is room.

The row of a thread says who has its turn; what lies in the queue only says that somebody should. So a piece of the
queue that is late, lost or there twice finds the turn taken, and is done.
"""

import asyncio
import logging

from aster.brain.records import TurnRecord
from aster.engine_core.admission import running
from aster.engine_core.cluster.dbos_runner import DbosRunner
from aster.engine_core.coordinator import Coordinator
from aster.engine_core.live import Live
from aster.engine_core.services import Services

log = logging.getLogger("aster.housing")


class Housing:
    def __init__(self, services: Services, runner: DbosRunner, coordinator: Coordinator) -> None:
        self._services = services
        self._runner = runner
        self._coordinator = coordinator
        self._taking: set[asyncio.Task[None]] = set()

    async def crashed(self, turn: TurnRecord) -> None:
        """Whoever ran this turn is dead."""
        await self._free(turn, crashed=True)

    async def left(self, turn: TurnRecord) -> None:
        """Nobody has had this turn for a while: take it in, or else see that it lies in the queue. Whoever took it from
        there may have died, or lost the database, before it was theirs."""
        if self._runner.has_room(turn.user_id):
            task = asyncio.create_task(self._taken_in(turn), name=f"take in {turn.turn_id}")
            self._taking.add(task)
            task.add_done_callback(self._taking.discard)
        elif not await self._runner.offered(turn):
            await self._free(turn, crashed=False)

    async def _taken_in(self, turn: TurnRecord) -> None:
        try:
            await self.take_in(turn)
        except Exception:  # the boundary of a takeover: the next sweep finds it again
            log.exception("turn %s could not be taken in", turn.turn_id)

    async def close(self) -> None:
        """When no turn runs here any more."""
        for task in list(self._taking):
            task.cancel()
        await asyncio.gather(*self._taking, return_exceptions=True)

    async def _free(self, turn: TurnRecord, *, crashed: bool) -> None:
        freed = await self._coordinator.takeover.freed(turn, crashed=crashed)
        if freed is not None:
            await self._runner.offer(freed)

    async def take_in(self, turn: TurnRecord) -> bool:
        """Go on with a turn to the end of its segment; false when there is no room for it here."""
        user_id, limit = turn.user_id, self._services.settings.user_slots
        if limit and await running(self._services.brain, user_id) >= limit:
            return False
        if self._coordinator.draining or not self._runner.ready or not self._runner.try_slot(user_id):
            return False
        live: Live | None = None
        try:
            live = await self._coordinator.takeover.take(turn, slot=True)
        finally:
            if live is None:
                self._runner.give_back(user_id)
        if live is not None:
            await live.gone.wait()
        return True
