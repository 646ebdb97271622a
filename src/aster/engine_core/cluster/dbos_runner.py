"""The runner of a replica among others: what it begins it runs itself, at once; what it leaves goes into a queue, from
which whoever has room takes it.

A segment is fenced by its epoch wherever it runs, so the queue decides only who goes on, never whether two do. A turn
that is taken from the queue where no slot is free is put back after a moment.
"""

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Final, TypeAlias, TypeVar

import psycopg

from aster.brain.records import TurnRecord
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.model import decode, encode
from aster.engine_core.cluster.dbos_queue import DbosQueue
from aster.engine_core.cluster.membership import Membership
from aster.engine_core.runner import Alive, Chore, LocalRunner
from aster.infra.clock import iso_ms, now_ms

log = logging.getLogger("aster.runner")

T = TypeVar("T")
House: TypeAlias = Callable[[TurnRecord], Awaitable[bool]]
"""Goes on with a turn to the end of its segment; false when there is no room for it."""

KEPT_MS: Final = 3_600_000
_THREADS: Final = 4
_MOMENT: Final = 0.3
_SKEW: Final = 1.0
"""Clocks differ: nobody does a chore before all replicas have met its occasion."""
_LOST: Final = "This replica has lost touch with the others. Try again in a moment."


class DbosRunner(LocalRunner):
    shared = True

    def __init__(self, slots: int, per_user: int, url: str, membership: Membership, replica: str) -> None:
        super().__init__(slots, per_user)
        self._membership = membership
        self._queue = DbosQueue(url, replica, slots + 1)
        self._thread = ThreadPoolExecutor(_THREADS, thread_name_prefix="aster-queue")
        self._chores: dict[str, Chore] = {}
        self._leaving: asyncio.Future[None] | None = None

    @property
    def ready(self) -> bool:
        return self._membership.held

    async def open(self, house: House) -> None:
        """Take what others leave from now on."""
        loop = asyncio.get_running_loop()

        def turn(body: str, tries: int) -> "Future[None]":
            return asyncio.run_coroutine_threadsafe(self._take(house, body, tries), loop)

        def chore(name: str) -> "Future[None]":
            return asyncio.run_coroutine_threadsafe(self._do(name), loop)

        await self._call(self._queue.open, turn, chore)

    async def offer(self, turn: TurnRecord) -> None:
        await self._put(encode(turn).decode(), turn, 0)

    async def room(self, user_id: str) -> bool:
        return self._leaving is None and self.try_slot(user_id)

    def has_room(self, user_id: str) -> bool:
        return self._slots.free(user_id)

    async def offered(self, turn: TurnRecord) -> bool:
        """Whether it lies in the queue."""
        return await self._call(self._queue.has_turn, _name(turn))

    async def once(self, chore: str, occasion: str, work: Chore) -> None:
        self._chores[chore] = work
        await self._call(self._queue.put_chore, f"{chore}:{occasion}", chore)

    async def alive(self) -> list[Alive]:
        try:
            return [Alive(*one) for one in await self._membership.alive()]
        except psycopg.Error as error:
            raise EngineError(ErrorCode.STORAGE_UNAVAILABLE, _LOST) from error

    async def tidy(self, dead: Callable[[set[str]], Awaitable[set[str]]]) -> None:
        """Free what replicas were doing that are dead, and forget what was done long ago."""
        busy = await self._call(self._queue.busy)
        gone = await dead(set(busy.values()))
        left = [name for name, replica in busy.items() if replica in gone]
        if left:
            await self._call(self._queue.abandon, left)
        await self._call(self._queue.forget_old, iso_ms(now_ms() - KEPT_MS))

    async def leave(self) -> None:
        if self._leaving is None:
            self._leaving = asyncio.get_running_loop().run_in_executor(None, self._queue.close)

    async def close(self) -> None:
        await self.leave()
        if self._leaving is not None:
            await self._leaving
        await self._call(self._queue.hang_up)
        self._thread.shutdown()

    async def _put(self, body: str, turn: TurnRecord, tries: int) -> None:
        await self._call(self._queue.put_turn, f"{_name(turn)}{tries}", body, tries)

    async def _take(self, house: House, body: str, tries: int) -> None:
        turn = decode(body.encode(), TurnRecord)
        if not await house(turn):
            await asyncio.sleep(_MOMENT * random.uniform(0.5, 1.5))  # noqa: S311
            await self._put(body, turn, tries + 1)

    async def _do(self, name: str) -> None:
        work = self._chores.get(name)
        if work is None:
            log.warning("there is no chore %r here", name)
            return
        await asyncio.sleep(_SKEW)
        try:
            await work()
        except Exception:  # the boundary of a chore: the next occasion tries again
            log.exception("the chore %r failed", name)

    async def _call(self, work: Callable[..., T], *given: Any) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work, *given)


def _name(turn: TurnRecord) -> str:
    """What it is called in the queue, but for how often it was put back."""
    return f"{turn.turn_id}:{turn.segment}:{turn.epoch}:"
