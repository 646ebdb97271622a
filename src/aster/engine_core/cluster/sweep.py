"""The sweep: every replica shows that it is alive, and the one that leads looks for what nobody runs.

It goes by rows alone and only acts on what has been so for a while: a replica that connects anew is not dead, and a
message that waits is as a rule about to be taken up by whoever just ended a turn. Everything it does is guarded, so
that a second one at it, or a late one, does no harm.
"""

import asyncio
import logging
import random
import time
from collections.abc import Hashable, Iterable
from typing import Final, Generic, TypeVar

import psycopg

from aster.brain.changes import Change
from aster.brain.records import ThreadKey
from aster.contracts.errors import EngineError
from aster.engine_core import estate
from aster.engine_core.cluster.dbos_runner import DbosRunner
from aster.engine_core.cluster.housing import Housing
from aster.engine_core.cluster.membership import Membership
from aster.engine_core.coordinator import Coordinator
from aster.engine_core.services import Services

log = logging.getLogger("aster.sweep")

BEAT_SECONDS: Final = 0.3
DEAD_SECONDS: Final = 0.6
"""How long a replica is missing before it is taken for dead."""
JOINED_SECONDS: Final = 2.0
"""How long after joining nobody is taken for dead: where one connection was cut, others may have been."""
LEFT_SECONDS: Final = 2.0
"""How long a turn lies there, or a message waits, before it is looked after."""
MEND_SECONDS: Final = 5.0
SWEEP_SECONDS: Final = 30.0

H = TypeVar("H", bound=Hashable)


class Lasting(Generic[H]):
    """What has been found each time for so many seconds."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._since: dict[H, float] = {}

    def of(self, found: Iterable[H], now: float) -> set[H]:
        self._since = {item: self._since.get(item, now) for item in found}
        return {item for item, since in self._since.items() if now - since >= self._seconds}


class Sweep:
    def __init__(
        self,
        services: Services,
        membership: Membership,
        runner: DbosRunner,
        coordinator: Coordinator,
        housing: Housing,
    ) -> None:
        self._services = services
        self._brain = services.brain
        self._membership = membership
        self._runner = runner
        self._coordinator = coordinator
        self._housing = housing
        self._missing = Lasting[str](DEAD_SECONDS)
        self._left = Lasting[tuple[str, int]](LEFT_SECONDS)
        self._waiting = Lasting[ThreadKey](LEFT_SECONDS)
        self._joined_at = time.monotonic()
        self._silence_at = 0.0
        self._mend_at = 0.0
        self._apart = False
        self._sweeping: asyncio.Task[None] | None = None

    async def run(self) -> None:
        """Beat, and sweep beside it: however long a sweep takes, the others see that this replica is alive."""
        try:
            while True:
                try:
                    await self._beat(time.monotonic())
                except psycopg.Error as error:
                    self._lose_touch(error)
                except EngineError as error:
                    log.warning("this replica cannot join the others: %s", error.message)
                except Exception:  # whatever it was: a replica that shows itself no more is lost
                    log.exception("this replica could not show that it is alive")
                await asyncio.sleep(BEAT_SECONDS * random.uniform(0.7, 1.3))  # noqa: S311
        finally:
            if self._sweeping is not None:
                self._sweeping.cancel()
                await asyncio.gather(self._sweeping, return_exceptions=True)

    def _lose_touch(self, error: psycopg.Error) -> None:
        level = logging.DEBUG if self._apart else logging.WARNING
        self._apart = True
        log.log(level, "this replica has lost touch with the others and joins them again: %s", error)

    async def _beat(self, now: float) -> None:
        if not self._membership.held:
            await self._membership.join()
            self._joined_at, self._apart = now, False
            self._brain.changes.tell(Change(everything=True))
        if await self._membership.beat(may_lead=not self._coordinator.draining):
            if self._sweeping is None or self._sweeping.done():
                self._sweeping = asyncio.create_task(self._swept(now), name="sweep")
        elif now >= self._silence_at:
            self._silence_at = now + self._services.settings.replica_silence_seconds / 2
            await self._membership.look_for_silent()

    async def _swept(self, now: float) -> None:
        try:
            async with asyncio.timeout(SWEEP_SECONDS):
                await self._sweep(now)
        except TimeoutError:
            log.warning("the sweep took too long and was cut short")
        except psycopg.Error as error:
            self._lose_touch(error)
        except EngineError as error:
            log.warning("the sweep was cut short: %s", error.message)
        except Exception:  # the boundary of a sweep: the next one looks again
            log.exception("the sweep was cut short")

    async def _sweep(self, now: float) -> None:
        running = await self._brain.running_by()
        named = {replica for replica in running if replica is not None} | await estate.owners(self._services)
        dead = self._missing.of(await self._membership.dead(named), now)
        if dead and now - self._joined_at >= JOINED_SECONDS:
            await self._bury(dead)
        if None in running:
            await self._house(now)
        if dead or now >= self._mend_at:
            self._mend_at = now + MEND_SECONDS
            await self._runner.tidy(self._membership.dead)
            await self._coordinator.mend(younger_ms=int(LEFT_SECONDS * 1000))
        for key in self._waiting.of(await self._brain.waiting_threads(), now):
            await self._coordinator.follow_up(key)

    async def _bury(self, dead: set[str]) -> None:
        turns = await self._brain.running_turns()
        for replica in dead:
            async with self._membership.grave(replica) as held:
                if held:
                    log.warning("replica %s is dead; others go on with its turns", replica)
                    theirs = [turn for turn in turns if turn.owner == replica]
                    await asyncio.gather(*(self._housing.crashed(turn) for turn in theirs))
                    await estate.settle(self._services, replica)

    async def _house(self, now: float) -> None:
        """Look after what still lies there."""
        turns = await self._brain.running_turns()
        left = {(turn.turn_id, turn.epoch): turn for turn in turns if turn.owner is None}
        for name in self._left.of(left, now):
            await self._housing.left(left[name])
