"""Vectors are made behind the writer's back: a record is kept at once and found by its words, and by its meaning as
soon as there is time.

Work that somebody waits for goes first: a batch is small, none begins while a search is under way, and while turns
begin and end one after the other only few do. When another model makes the vectors, the old ones serve until the last
new one is made. What cannot be embedded now is tried again later; nothing is lost and nothing fails.
"""

import asyncio
import logging
from collections.abc import Callable, Generator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Final

from aster.brain.memory_protocol import MemoryStore
from aster.brain.memory_records import ModelState, NewVector
from aster.contracts.errors import EngineError
from aster.memory.embeddings.embedder import Embedder, EmbeddingsUnavailable, Reader, Reading

if TYPE_CHECKING:
    from aster.memory.embeddings.embedder import Matrix

log = logging.getLogger("aster.memory")

BATCH: Final = 8
READ: Final = 2000
"""Characters of a record that its vector is made of; models read no more."""
REST: Final = 0.5
"""After each batch it rests for half as long as that took: turns that run meanwhile need the machine too."""
LULL: Final = 0.5
"""Seconds without a turn that begins or ends, before the machine counts as idle."""
BUSY: Final = 5.0
"""Seconds between two batches while it never is."""
LOOK: Final = 60.0
ASIDE: Final = 1.0
"""Seconds between two looks: when there was nothing to do, and while others do it."""
PATIENCE: Final = (1.0, 60.0)
"""Seconds between two tries when vectors cannot be had: at first, and at most."""

Maker = Callable[[str], Embedder | None]


class Filling:
    """The background work on one brain's vectors."""

    def __init__(self, store: MemoryStore, embedder: Embedder | None, earlier: Maker) -> None:
        self._store = store
        self._embedder = embedder
        self._earlier = earlier
        self._wake = asyncio.Event()
        self._idle = asyncio.Event()
        self._quiet = asyncio.Event()
        self._quiet.set()
        self.asking = 0
        self._stirred = -LULL
        self._awaited = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._state = ModelState(0, None, None, 0)
        self._previous: Embedder | None = None
        self._alone = False
        self.fault: str | None = None

    async def start(self) -> None:
        if self._embedder is None:
            return
        self._state = await self._store.begin_model(self._embedder.fingerprint)
        if self._state.previous_fingerprint is not None:
            self._previous = self._earlier(self._state.previous_fingerprint)
        self._wake.set()
        self._task = asyncio.create_task(self._run(), name="memory vectors")

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    @property
    def serving(self) -> tuple[int, Embedder | None]:
        """The model whose vectors are searched, and who embeds a question for it."""
        if self._previous is not None and self._state.previous is not None:
            return self._state.previous, self._previous
        return self._state.model, self._embedder

    def wake(self) -> None:
        """There is something new to embed."""
        self._idle.clear()
        self._wake.set()

    async def done(self) -> None:
        """Wait until every record has its vector."""
        if self._task is not None:
            self._awaited.set()
            await self._idle.wait()

    def stir(self) -> None:
        """A turn begins or ends."""
        self._stirred = monotonic()

    @contextmanager
    def foreground(self) -> Generator[None]:
        """While somebody waits, no batch begins."""
        self.asking += 1
        self._quiet.clear()
        try:
            yield
        finally:
            self.asking -= 1
            if not self.asking:
                self._quiet.set()

    async def quiet(self) -> None:
        """Wait until nobody searches."""
        await self._quiet.wait()

    async def _run(self) -> None:
        wait = PATIENCE[0]
        while True:
            await self._called()
            try:
                while await self._step():
                    wait = PATIENCE[0]
                self.fault = None
            except Exception as error:  # noqa: BLE001  # whatever fails in the background is tried again
                self._failed(error)
                await asyncio.sleep(wait)
                wait = min(wait * 2, PATIENCE[1])
                self._wake.set()
            else:
                if not self._wake.is_set():
                    self._awaited.clear()
                    self._idle.set()

    async def _step(self) -> bool:
        """Embed a few records; whether there may be more."""
        assert self._embedder is not None
        await self._lull()
        await self._quiet.wait()
        rows = await self._store.pending(self._state.model, BATCH)
        if not rows:
            return await self._others()
        began = monotonic()
        readings = await readings_of(self._embedder, [row.about.meaning(row.fields)[:READ] for row in rows])
        kept = [
            NewVector(row.number, packed(reading.vector), _tokens(reading))
            for row, reading in zip(rows, readings, strict=True)
        ]
        await self._store.keep_vectors(self._state.model, kept)
        await asyncio.sleep((monotonic() - began) * REST)
        return True

    async def _lull(self) -> None:
        """Wait for a moment without turns, but not for ever, and not while somebody waits for the vectors."""
        until = monotonic() + BUSY
        while (left := min(self._stirred + LULL, until) - monotonic()) > 0:
            try:
                async with asyncio.timeout(left):
                    await self._awaited.wait()
            except TimeoutError:
                continue
            return

    async def _called(self) -> None:
        """Wait until there is something new; but look by itself now and then, for what a replica that died left."""
        try:
            async with asyncio.timeout(LOOK):
                await self._wake.wait()
        except TimeoutError:
            pass
        self._wake.clear()

    async def _others(self) -> bool:
        """Nothing is left for this replica: the work is done, others are at it, or it is another model's by now.
        Whether there may be more to do here."""
        now = await self._store.model()
        if now.model != self._state.model:
            return False
        if now.pending:
            await asyncio.sleep(ASIDE)
            return True
        await self._finished()
        return False

    async def _finished(self) -> None:
        """Every record has a vector of this model: those of others are of no use any more."""
        if not self._alone:
            await self._store.retire_models()
            self._alone = True
            self._previous = None
            self._state = self._state._replace(previous=None, previous_fingerprint=None)

    def _failed(self, error: Exception) -> None:
        expected = isinstance(error, EmbeddingsUnavailable | EngineError)
        if self.fault is None or not expected:
            log.warning(
                "memories cannot be embedded now, and are found by their words alone: %s",
                error,
                exc_info=None if expected else error,
            )
        self.fault = str(error)


async def readings_of(embedder: Embedder, texts: list[str]) -> list[Reading]:
    """Texts as the model reads them; without tokens when it shows none."""
    if isinstance(embedder, Reader):
        return await embedder.read(texts)
    return [Reading(row, [], row[:0].reshape(0, 0)) for row in await embedder.embed(texts)]


def packed(vector: "Matrix") -> bytes:
    return vector.astype("<f2").tobytes()


def _tokens(reading: Reading) -> bytes | None:
    if not len(reading.tokens):
        return None
    from aster.memory.retrieval.maxsim import packed as signs

    return signs(reading.tokens).tobytes()
