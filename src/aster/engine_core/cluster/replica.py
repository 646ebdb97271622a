"""This process among those that share a database: it joins them, runs turns with them, and leaves in order.

With RUNNER=local it is the only one by its settings, and makes sure of that for as long as it runs.
"""

import asyncio
import logging

import psycopg

from aster.brain.protocol import Brain
from aster.contracts.errors import EngineError
from aster.engine_core.cluster.dbos_runner import DbosRunner
from aster.engine_core.cluster.housing import Housing
from aster.engine_core.cluster.membership import Membership
from aster.engine_core.cluster.neighbours import Neighbours
from aster.engine_core.cluster.sweep import BEAT_SECONDS, Sweep
from aster.engine_core.coordinator import Coordinator
from aster.engine_core.live import LiveTurns
from aster.engine_core.runner import LocalRunner, Runner
from aster.engine_core.services import Services
from aster.infra.settings import Settings

log = logging.getLogger("aster.replica")


class Replica:
    def __init__(self, settings: Settings, url: str, brain: Brain) -> None:
        self._alone = settings.runner == "local"
        silence = settings.replica_silence_seconds
        self._membership = Membership(url, brain.replica, silence, alone=self._alone)
        self._shared = (
            None
            if self._alone
            else DbosRunner(settings.task_slots, settings.user_slots, url, self._membership, brain.replica)
        )
        self.runner: Runner = self._shared or LocalRunner(settings.task_slots, settings.user_slots)
        self._sweeping: asyncio.Task[None] | None = None
        self._neighbours: Neighbours | None = None
        self._housing: Housing | None = None

    async def join(self) -> None:
        """Make sure to be alone, if that is what this is to be; among others it begins when it can do its part."""
        if self._alone:
            await self._membership.join()

    async def serve(self, services: Services, coordinator: Coordinator, live: LiveTurns) -> None:
        """Run turns with the others from now on."""
        shared = self._shared
        if shared is None:
            self._sweeping = asyncio.create_task(self._stay(), name="stay")
            return
        self._neighbours = Neighbours(services.brain, live, shared)
        services.brain.changes.watch(self._neighbours.changed)
        housing = self._housing = Housing(services, shared, coordinator)
        await shared.open(housing.take_in)
        await self._membership.join()
        sweep = Sweep(services, self._membership, shared, coordinator, housing)
        self._sweeping = asyncio.create_task(sweep.run(), name="beat")

    async def _stay(self) -> None:
        """Keep the place of the only one."""
        while True:
            try:
                if not self._membership.held:
                    await self._membership.join()
                await self._membership.beat()
            except psycopg.Error as error:
                log.warning("the database has lost sight of this engine, joining again: %s", error)
            except EngineError as error:
                log.error("%s", error.message)
            await asyncio.sleep(BEAT_SECONDS)

    async def close(self) -> None:
        if self._sweeping is not None:
            self._sweeping.cancel()
            await asyncio.gather(self._sweeping, return_exceptions=True)
        if self._neighbours is not None:
            await self._neighbours.close()
        if self._housing is not None:
            await self._housing.close()
        if self._shared is not None:
            await self._shared.close()
        await self._membership.leave()
