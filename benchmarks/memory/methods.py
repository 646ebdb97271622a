"""The ways to rank that are compared: ours as a turn gets it, ours without its gate or one of its parts, and the
textbook ones on the same records, with the same words and the same vectors."""

from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from typing import Final, TypeAlias

import numpy as np

from aster.brain.memory_protocol import ShelfReader
from aster.memory.bus import MemoryBus, Wish
from aster.memory.retrieval.across import fused
from aster.memory.retrieval.query import analysed
from aster.memory.retrieval.rows import Rows
from aster.memory.retrieval.tuning import TUNING, Tuning
from aster.memory.shelves import Kept
from benchmarks.memory.library import Library, Placed

LIMIT: Final = 20
PLENTY: Final = 1_000_000
_LIST: Final = 100

Method: TypeAlias = Callable[[Placed, str], Awaitable[tuple[str, ...]]]
"""What is found for a question on a conversation, as the file calls it, the best first."""

OURS: Final = "aster"
UNGATED: Final = "aster without gate"
TUNINGS: Final[Mapping[str, Tuning]] = {OURS: TUNING, UNGATED: Tuning(gate=False)}
ABLATIONS: Final[Mapping[str, Tuning]] = {
    "without token re-rank": Tuning(gate=False, tokens=0.0),
    "without the line before": Tuning(gate=False, reply=0.0),
    "without neighbours": Tuning(gate=False, before=0.0, after=0.0),
    "without session prior": Tuning(gate=False, session=0.0),
    "without speaker": Tuning(gate=False, speaker=0.0),
    "without time": Tuning(gate=False, time=0.0),
    "without question penalty": Tuning(gate=False, asking=0.0),
    "without keyword": Tuning(gate=False, words=0.0),
    "without vector": Tuning(gate=False, meaning=0.0),
}


async def hydrated(library: Library, tuning: Tuning) -> Method:
    """As a turn is given its memory, but for the number of records that fit."""
    bus = MemoryBus(await library.memory(tuning))

    async def method(placed: Placed, text: str) -> tuple[str, ...]:
        found = await bus.hydrate(placed.user_id, Wish(text), placed.now, PLENTY, (placed.store,), LIMIT)
        return placed.named([item.row.number for item in found.items if item.cut is None])[:LIMIT]

    return method


class Textbook:
    """Keyword alone, vector alone, and both fused by rank."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._kept: dict[str, Kept] = {}

    async def keyword(self, placed: Placed, text: str) -> tuple[str, ...]:
        return placed.named(await self._by_words(placed, text, LIMIT))[:LIMIT]

    async def vector(self, placed: Placed, text: str) -> tuple[str, ...]:
        return placed.named(await self._by_meaning(placed, text, LIMIT))[:LIMIT]

    async def rrf(self, placed: Placed, text: str) -> tuple[str, ...]:
        lists = [await rank(placed, text, _LIST) for rank in (self._by_words, self._by_meaning)]
        found = fused([("both", one) for one in lists], {}, k=60)
        return placed.named([one.id for one in found])[:LIMIT]

    async def _by_words(self, placed: Placed, text: str, limit: int) -> list[int]:
        terms = analysed(text, (), datetime.now(UTC)).terms
        look = self._library.store.look
        scores = await look(placed.user_id, placed.store, lambda reader: reader.keyword(terms, limit))
        return sorted(scores, key=lambda number: (-scores[number], number))

    async def _by_meaning(self, placed: Placed, text: str, limit: int) -> list[int]:
        query = analysed(text, placed.conversation.speakers, datetime.now(UTC))
        vector = (await self._library.model.embed([query.meaning]))[0]
        model = (await self._library.store.model()).model
        kept = self._kept.setdefault(placed.user_id, Kept(Rows(len(vector)), model))

        def look(reader: ShelfReader) -> list[int]:
            kept.refresh(reader)
            places = kept.rows.nearest(vector, limit)
            numbers = kept.rows.ids(places)
            return numbers[np.lexsort((numbers, -kept.rows.cosines(places, vector)))].tolist()

        return await self._library.store.look(placed.user_id, placed.store, look)


async def methods(library: Library, ablation: bool) -> dict[str, Method]:
    """Every way by its name, ours first."""
    book = Textbook(library)
    tunings = {**TUNINGS, **(ABLATIONS if ablation else {})}
    ours = {name: await hydrated(library, tuning) for name, tuning in tunings.items()}
    return ours | {"keyword alone": book.keyword, "vector alone": book.vector, "plain RRF (k=60)": book.rrf}
