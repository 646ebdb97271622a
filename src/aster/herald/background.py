"""The background: model calls that nobody waits for stand back behind those that somebody does.

Work behind the scenes takes a place before it asks a model. It gets one when no call in the foreground is under
way, or when it has been patient for long enough, and there are only so many places. Who is cancelled leaves nothing
taken.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

MOST_AT_ONCE = 3
PATIENCE = 30.0
"""Seconds after which a call goes on although people are being answered."""


class Background:
    """`async with background.place(): …` around calls whose request says `background`."""

    def __init__(self, patience: float = PATIENCE, most: int = MOST_AT_ONCE) -> None:
        self.waiting = 0
        self.running = 0
        self.waited_seconds = 0.0
        self._patience = patience
        self._places = asyncio.Semaphore(most)
        self._foreground = 0
        self._quiet = asyncio.Event()
        self._quiet.set()

    def foreground_began(self) -> None:
        """Somebody waits for a call from now on."""
        self._foreground += 1
        self._quiet.clear()

    def foreground_ended(self) -> None:
        self._foreground -= 1
        if not self._foreground:
            self._quiet.set()

    @asynccontextmanager
    async def place(self) -> AsyncGenerator[None, None]:
        """Wait for a place, and have it until the block ends."""
        now = asyncio.get_running_loop().time
        arrived = now()
        self.waiting += 1
        try:
            await self._places.acquire()
            try:
                await self._stand_back(until=arrived + self._patience)
            except BaseException:
                self._places.release()
                raise
        finally:
            self.waiting -= 1
            self.waited_seconds += now() - arrived
        self.running += 1
        try:
            yield
        finally:
            self.running -= 1
            self._places.release()

    async def _stand_back(self, until: float) -> None:
        try:
            async with asyncio.timeout_at(until):
                while self._foreground:
                    await self._quiet.wait()
        except TimeoutError:
            pass
