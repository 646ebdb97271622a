"""Searching a user's stores: the question is taken apart once, embedded once, and put to all shelves at once.

Without a model, or while it fails, words alone decide, and the answer says so. A record whose vector is broken is
found by its words and embedded again.
"""

import asyncio
import logging
from collections.abc import Collection, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

from aster.brain.memory_kinds import Store
from aster.brain.memory_protocol import MemoryStore, ShelfReader
from aster.brain.memory_records import MemoryRow
from aster.memory.embeddings.allowance import Allowance
from aster.memory.embeddings.embedder import EmbeddingsUnavailable, Reading
from aster.memory.filling import Filling, readings_of
from aster.memory.retrieval.across import fused
from aster.memory.retrieval.intent import WEIGHTS, intent
from aster.memory.retrieval.query import Query, analysed
from aster.memory.retrieval.tuning import TUNING, Tuning
from aster.memory.shelves import Kept, KeptShelf, Place, Shelves

if TYPE_CHECKING:
    from aster.memory.retrieval.search import Found

log = logging.getLogger("aster.memory")

FEW: Final = 8
"""So many questions at once are all read; one that was cut into parts is up to four."""
WITHOUT_MODEL: Final = 64
"""Dimensions of shelves that nobody makes vectors for."""


@dataclass(frozen=True, slots=True)
class Match:
    """A record that was found, and why."""

    row: MemoryRow
    score: float
    reasons: dict[str, float]


@dataclass(frozen=True, slots=True)
class Shelved:
    """What one store found, the best first; `relevance` is below 0 when it does not answer the question."""

    matches: list[Match]
    relevance: float


@dataclass(frozen=True, slots=True)
class Answer:
    """What a search found in each store; `notice` says what it had to do without, `failed` which stores."""

    query: str
    found: dict[Store, Shelved]
    notice: str | None = None
    failed: tuple[str, ...] = ()

    @property
    def stores(self) -> dict[Store, list[Match]]:
        return {store: shelved.matches for store, shelved in self.found.items()}

    def best(self, limit: int) -> list[Match]:
        """One order over the stores, whose own scores cannot be compared: those that answer the question first."""
        out: list[Match] = []
        for answering in (True, False):
            chosen = {s: f.matches for s, f in self.found.items() if (f.relevance >= 0) is answering}
            rows = {(str(store), m.row.number): m for store, matches in chosen.items() for m in matches}
            lists = [(str(store), [m.row.number for m in matches]) for store, matches in chosen.items()]
            ranked = fused(lists, WEIGHTS[intent(self.query)])
            out += [replace(rows[one.source, one.id], score=one.score) for one in ranked]
        return out[:limit]


class Finder:
    def __init__(
        self,
        store: MemoryStore,
        shelves: Shelves,
        filling: Filling,
        missing: str | None,
        cold: Collection[Place] = (),
        tuning: Tuning = TUNING,
    ) -> None:
        self._store = store
        self._shelves = shelves
        self._filling = filling
        self._missing = missing
        self._cold = cold
        self._tuning = tuning
        self.most: int | None = None
        """Records of a shelf that is still searched in memory; None when all are."""
        self._allowance = Allowance()

    async def search(
        self,
        user_id: str,
        text: str,
        stores: Sequence[Store],
        *,
        limit: int,
        now: int,
        gate: bool,
        isolated: bool = False,
    ) -> Answer:
        """The best records of each store for a question; with `gate`, none where nothing answers it; `isolated`, none
        where a store cannot be searched, instead of an error."""
        if not text.strip():
            return Answer(text, {store: Shelved([], 0.0) for store in stores})
        with self._filling.foreground():
            names = await self._store.look(user_id, "social", lambda reader: reader.names())
            query = analysed(text, names, datetime.fromtimestamp(now / 1000, UTC))
            reading, notice = await self._read(query, hurried=isolated)
            if any((user_id, store) in self._cold for store in stores):
                notice = notice or _notice("after a start, memory is still being read")
            found = await asyncio.gather(
                *(self._one(user_id, store, query, reading, limit=limit, now=now, gate=gate) for store in stores),
                return_exceptions=isolated,
            )
        shelved: dict[Store, Shelved] = {}
        for store, one in zip(stores, found, strict=True):
            if isinstance(one, BaseException):
                log.warning("the %s of a user could not be searched", store, exc_info=one)
            shelved[store] = Shelved([], -1.0) if isinstance(one, BaseException) else one
        failed = tuple(store for store, one in zip(stores, found, strict=True) if isinstance(one, BaseException))
        return Answer(text, shelved, notice, failed)

    async def _read(self, query: Query, *, hurried: bool) -> tuple[Reading | None, str | None]:
        _, embedder = self._filling.serving
        if embedder is None:
            return None, _notice(self._missing or "there is no model for it")
        if hurried and self._filling.asking > FEW and not self._allowance.take():
            return None, _notice("too many turns at once")
        try:
            return (await readings_of(embedder, [query.meaning]))[0], None
        except EmbeddingsUnavailable as error:
            return None, _notice(str(error))

    async def _one(
        self,
        user_id: str,
        store: Store,
        query: Query,
        reading: Reading | None,
        *,
        limit: int,
        now: int,
        gate: bool,
    ) -> Shelved:
        if (user_id, store) in self._cold or find_spec("numpy") is None:
            return await self._store.look(user_id, store, lambda reader: _by_words(reader, query, limit, now))
        model, embedder = self._filling.serving
        dimensions = embedder.dimensions if embedder is not None else None
        if dimensions is None:
            model, dimensions = 0, WITHOUT_MODEL
        tuning = replace(self._tuning, gate=gate and self._tuning.gate)

        def look(reader: ShelfReader) -> "tuple[Found, dict[int, MemoryRow], list[int]]":
            from aster.memory.retrieval.search import search

            with self._held((user_id, store), reader, query, reading, model, dimensions) as kept:
                shelf = KeptShelf(kept, reader)
                found = search(shelf, query, reading, now, limit, tuning)
                broken, kept.broken = kept.broken, []
                return found, shelf.found, broken

        found, rows, broken = await self._store.look(user_id, store, look)
        if broken:
            await self._store.requeue(model, broken)
            self._filling.wake()
        matches = [Match(rows[hit.item.id], hit.score, dict(hit.reasons)) for hit in found.hits]
        return Shelved([match for match in matches if match.row.valid_at(now)], found.relevance)

    @contextmanager
    def _held(
        self,
        place: Place,
        reader: ShelfReader,
        query: Query,
        reading: Reading | None,
        model: int,
        dimensions: int,
    ) -> Generator[Kept]:
        """What ranking looks at: the shelf in memory, up to date; or of one that is too large, what the question may be
        about."""
        if self.most is not None and reader.size() > self.most:
            from aster.memory.away import candidates

            yield candidates(reader, query, reading, model, dimensions, self._tuning)
            return
        kept = self._shelves.kept(place, model, dimensions)
        with kept.lock:
            kept.refresh(reader)
            yield kept


def _by_words(reader: ShelfReader, query: Query, limit: int, now: int) -> Shelved:
    scores = reader.keyword(query.terms, limit)
    rows = {row.number: row for row in reader.records(list(scores)) if row.valid_at(now) and not row.superseded_by}
    matches = [Match(rows[number], score, {"words": score}) for number, score in scores.items() if number in rows]
    return Shelved(matches, 0.0 if matches else -1.0)


def _notice(why: str) -> str:
    return f"found by words alone: {why}"
