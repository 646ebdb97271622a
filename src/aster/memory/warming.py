"""Large shelves are read into memory after a start, in small steps, before anybody asks for them.

Until a shelf is there, a search of it goes by words alone and says so; it never waits for all of it to be read. Work
that somebody waits for goes first.
"""

import asyncio
import logging
import sys
from typing import Final

from aster.brain.memory_protocol import MemoryStore, ShelfReader
from aster.contracts.errors import EngineError
from aster.memory.filling import Filling
from aster.memory.shelves import Kept, Place, Shelves, size_of

log = logging.getLogger("aster.memory")

LARGE: Final = 20_000
"""Records of a shelf that takes longer to read than a person should wait."""


class Warming:
    def __init__(self, store: MemoryStore, shelves: Shelves, filling: Filling, large: int = LARGE) -> None:
        self._store = store
        self._shelves = shelves
        self._filling = filling
        self._large = large
        self._task: asyncio.Task[None] | None = None
        self.cold: set[Place] = set()
        self.most: int | None = None
        """Records of a shelf that is still searched in memory; None when all are."""

    async def start(self) -> None:
        model, embedder = self._filling.serving
        dimensions = embedder.dimensions if embedder is not None else None
        if dimensions is None:
            return
        left = self._shelves.most_bytes
        in_memory = self.most or sys.maxsize
        places: list[Place] = []
        for user_id, store, items in await self._store.large_shelves(self._large):
            if items > in_memory:
                continue
            left -= size_of(items, dimensions)
            if left < 0:
                break
            places.append((user_id, store))
        if places:
            self.cold.update(places)
            self._task = asyncio.create_task(self._run(places, model, dimensions), name="memory shelves")

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def done(self) -> None:
        """Wait until every large shelf is there."""
        if self._task is not None:
            await asyncio.wait([self._task])

    async def _run(self, places: list[Place], model: int, dimensions: int) -> None:
        for user_id, store in places:
            try:
                kept = self._shelves.kept((user_id, store), model, dimensions)
                while not await self._store.look(user_id, store, lambda reader, kept=kept: _step(kept, reader)):
                    await self._filling.quiet()
            except EngineError as error:
                log.warning("a shelf will be read when it is asked for: %s", error)
            self.cold.discard((user_id, store))


def _step(kept: Kept, reader: ShelfReader) -> bool:
    with kept.lock:
        return kept.refresh(reader, steps=1)
