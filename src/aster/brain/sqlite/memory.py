"""Memory in the brain's file. What is forgotten is gone from it, and from the log beside it, before `scrub` is done."""

import asyncio
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from aster.brain.memory_records import MemoryRow
from aster.brain.sql.memory import forgetting
from aster.brain.sql.memory.store import STEP, SqlMemory, unavailable
from aster.brain.sqlite import residue
from aster.brain.sqlite.connection import BrainConnection
from aster.brain.sqlite.readers import Readers
from aster.brain.sqlite.writer import Writer
from aster.contracts.errors import EngineError, ErrorCode

WAITS: Final = (0.01, 0.1, 0.5, 1.0, 2.0)
"""Seconds between two tries to empty the log while somebody reads from it."""


class SqliteMemory(SqlMemory):
    def __init__(self, path: Path, writer: Writer, readers: Readers) -> None:
        super().__init__(writer, readers, sqlite3.Error)
        self._path = path
        self._file = writer
        self._scrubbing = asyncio.Lock()

    async def scrub(self, gone: Sequence[MemoryRow] | None) -> None:
        async with self._scrubbing:
            due = await self._read(forgetting.due)
            pages = -STEP
            while await self._alone(lambda db, pages=pages: residue.merge(db, pages)):
                pages = STEP
            await self._empty_log()
            if await self._left(gone):
                await self._alone(residue.rebuild)
                await self._empty_log()
            await self._change(forgetting.scrubbed, due)

    async def _left(self, gone: Sequence[MemoryRow] | None) -> bool:
        """Whether something of what was deleted may still be in the file."""
        if gone is None or len(gone) > residue.MANY:
            return True
        wanted = await self._read(residue.traces, gone)
        return await asyncio.to_thread(residue.left, self._path, wanted)

    async def _empty_log(self) -> None:
        for wait in WAITS:
            if await asyncio.to_thread(residue.emptied, self._path):
                return
            await asyncio.sleep(wait)
        raise EngineError(
            ErrorCode.STORAGE_UNAVAILABLE,
            "It is forgotten, but the log beside the brain could not be emptied while it is being read. It will be"
            " with the next thing that is forgotten.",
        )

    async def _alone(self, job: Callable[[BrainConnection], object]) -> object:
        try:
            return await self._file.run(job)
        except sqlite3.Error as error:
            raise unavailable("written", error) from error
