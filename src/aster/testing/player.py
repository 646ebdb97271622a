"""Sends the steps of a reply at the right time.

Tokens follow a wall-clock schedule (token n is due at start + n/rate), so that a slow write never makes the
whole stream late; silences move the schedule. An unthrottled stream goes out in batches, gives way to the
event loop after each, and never runs ahead of a client that does not read.
"""

import asyncio
import math
from collections.abc import Iterator

from aster.testing.connection import Exchange
from aster.testing.script import Cut, Hold, Stall
from aster.testing.wire import Frame, Step

_BATCH = 16 * 1024


class Holds:
    """The places where streams wait to be released by name. A name once released stays open."""

    def __init__(self) -> None:
        self._open: dict[str, asyncio.Event] = {}
        self._held: dict[str, int] = {}
        self._news = asyncio.Event()

    async def hold(self, name: str) -> None:
        gate = self._open.setdefault(name, asyncio.Event())
        self._held[name] = self._held.get(name, 0) + 1
        self._news.set()
        self._news = asyncio.Event()
        await gate.wait()

    def release(self, name: str) -> None:
        self._open.setdefault(name, asyncio.Event()).set()

    def reset(self) -> None:
        """Lets everything go that waits now, and closes every place again."""
        for gate in self._open.values():
            gate.set()
        self._open.clear()
        self._held.clear()

    async def wait_held(self, name: str, count: int, timeout: float) -> None:
        try:
            async with asyncio.timeout(timeout):
                while self._held.get(name, 0) < count:
                    await self._news.wait()
        except TimeoutError:
            held = self._held.get(name, 0)
            raise TimeoutError(f"waited {timeout} s for {count} streams at hold {name!r}: saw {held}") from None


class Player:
    """Plays one reply on one exchange whose head is set."""

    def __init__(self, exchange: Exchange, holds: Holds, rate: float | None, fragment: int | None) -> None:
        self._exchange = exchange
        self._holds = holds
        self._rate = rate or math.inf
        self._fragment = fragment
        self._loop = asyncio.get_running_loop()
        self._start = self._loop.time()
        self._tokens = 0
        self._pending: list[bytes] = []
        self._size = 0

    async def play(self, steps: Iterator[Step]) -> None:
        for step in steps:
            if isinstance(step, Frame):
                await self._frame(step.data, step.tokens)
            elif isinstance(step, Cut):
                self._flush()
                await self._exchange.drain()
                self._exchange.cut(reset=step.reset)
                return
            else:
                await self._silence(step)
        self._flush(last=True)
        await self._exchange.drain()

    async def _frame(self, data: bytes, tokens: int) -> None:
        if tokens and self._rate is not math.inf:
            wait = self._start + self._tokens / self._rate - self._loop.time()
            if wait > 0:
                self._flush()
                await self._exchange.drain()
                await asyncio.sleep(wait)
        self._tokens += tokens
        self._pending.append(data)
        self._size += len(data)
        if self._size >= _BATCH:
            self._flush()
            await self._exchange.drain()
            await asyncio.sleep(0)

    async def _silence(self, step: Stall | Hold) -> None:
        self._flush()
        began = self._loop.time()
        if isinstance(step, Hold):
            await self._holds.hold(step.name)
        elif step.seconds is None or step.seconds == math.inf:
            await asyncio.Event().wait()
        else:
            await asyncio.sleep(step.seconds)
        self._start += self._loop.time() - began

    def _flush(self, *, last: bool = False) -> None:
        data = b"".join(self._pending)
        self._pending.clear()
        self._size = 0
        size = self._fragment or len(data) or 1
        rest = data
        while len(rest) > size:
            self._exchange.send(rest[:size])
            rest = rest[size:]
        self._exchange.send(rest, last=last)
