"""Background commands that run on other replicas: what they have said, and how they are ended from here.

Everything goes through the brain: a request to end is a row that whoever runs the command looks for when it hears of
it, and what the command says is in the brain about a second later.
"""

import asyncio
import time
from typing import Final, NamedTuple

from aster.brain.background import BackgroundRecord
from aster.brain.protocol import Brain
from aster.brain.records import ThreadKey
from aster.utility_directory.background_spool import Piece, Spool, pieced_from

END_SECONDS: Final = 10.0
LOOK_SECONDS: Final = 1.0
"""Who waits looks again so often, in case nobody said that there is something new."""


class Heard(NamedTuple):
    """A command as it stands and what it has said."""

    record: BackgroundRecord
    spool: Spool


class Elsewhere:
    def __init__(self, brain: Brain) -> None:
        self._brain = brain
        self._news = asyncio.Event()

    def runs(self, record: BackgroundRecord) -> bool:
        """Whether a command runs on another replica."""
        return self._brain.shared and record.ended_at is None and record.owner != self._brain.replica

    def tell(self) -> None:
        """Another replica has written of background commands."""
        self._news.set()
        self._news = asyncio.Event()

    async def count(self, user_id: str) -> int:
        """How many commands other replicas run for a user."""
        return len(await self._running(user_id))

    async def spool(self, key: ThreadKey, runtime_task_id: str) -> Spool:
        """What a command has said, as far as it is written."""
        return Spool.pieced(await self._brain.background_output(key, runtime_task_id))

    async def read(self, key: ThreadKey, runtime_task_id: str, position: int, limit: int) -> Piece:
        """What a command has said from a position on, as far as it is written."""
        return pieced_from(await self._brain.background_output(key, runtime_task_id, position), position, limit)

    async def news(self, seconds: float) -> None:
        """Wait until another replica has written of background commands, or so long at most."""
        await _wait(self._news, min(seconds, LOOK_SECONDS))

    async def wait(self, record: BackgroundRecord, seconds: float, position: int) -> Heard:
        """What a command has said once it has ended, has reached a position, or the time is over."""
        key, until = ThreadKey(record.user_id, record.task_id), time.monotonic() + seconds
        while True:
            news = self._news
            spool = await self.spool(key, record.runtime_task_id)
            record = await self._brain.background_task(key, record.runtime_task_id) or record
            left = until - time.monotonic()
            if record.ended_at is not None or spool.size >= position or left <= 0:
                return Heard(record, spool)
            await _wait(news, min(left, LOOK_SECONDS))

    async def stop(self, record: BackgroundRecord, why: str) -> BackgroundRecord:
        """Have a command ended; as it stands when it has, or when that takes too long."""
        key, until = ThreadKey(record.user_id, record.task_id), time.monotonic() + END_SECONDS
        await self._brain.stop_background(key, record.runtime_task_id, why)
        while record.ended_at is None and time.monotonic() < until:
            news = self._news
            record = await self._brain.background_task(key, record.runtime_task_id) or record
            if record.ended_at is None:
                await _wait(news, LOOK_SECONDS)
        return record

    async def stop_all(self, key: ThreadKey, why: str) -> None:
        """Have everything ended that other replicas run for a task."""
        of_task = [record for record in await self._running(key.user_id) if record.task_id == key.task_id]
        await asyncio.gather(*(self.stop(record, why) for record in of_task))

    async def _running(self, user_id: str) -> list[BackgroundRecord]:
        if not self._brain.shared:
            return []
        return [record for record in await self._brain.background_of(user_id) if self.runs(record)]


async def _wait(news: asyncio.Event, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            await news.wait()
    except TimeoutError:
        return
