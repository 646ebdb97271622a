"""A shelf that is too large to be in every replica's memory: the database says which records a question may be about,
and only those, with the ones beside them, are looked at here.

The same ranking is done over the same candidates: those that share words, those nearest in meaning, those of the time
that is asked for. Only what stands beside them is found by number, a few records to each side.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from aster.brain.memory_protocol import ShelfReader
from aster.memory.retrieval.rows import Rows
from aster.memory.retrieval.search import affordable
from aster.memory.shelves import Kept

if TYPE_CHECKING:
    from aster.memory.embeddings.embedder import Reading
    from aster.memory.retrieval.query import Query
    from aster.memory.retrieval.tuning import Tuning

BESIDE: Final = 3
"""Records to each side of a candidate among which its neighbours are."""


class Part(Rows):
    """Some rows of a shelf that holds more."""

    def __init__(self, dimensions: int, whole: int) -> None:
        super().__init__(dimensions)
        self._whole = whole

    def __len__(self) -> int:
        return self._whole


def candidates(
    reader: ShelfReader,
    query: "Query",
    reading: "Reading | None",
    model: int,
    dimensions: int,
    tuning: "Tuning",
) -> Kept:
    """What of a shelf a question may be about, as if that were all that is in memory."""
    terms = affordable(query.terms, reader.frequencies(query.terms), tuning.postings)
    numbers = set(reader.keyword(terms, tuning.pool))
    if reading is not None:
        vector: Sequence[float] = reading.vector.tolist()
        numbers |= set(reader.nearest(model, vector, tuning.pool))
    if query.window is not None:
        numbers |= set(reader.within(query.window.start, query.window.late, tuning.pool))
    around = {number + away for number in numbers for away in range(-BESIDE, BESIDE + 1)}
    columns = reader.columns_of(sorted(around))
    kept = Kept(Part(dimensions, reader.size()), model)
    if columns:
        kept.take(columns, reader.vectors_of(model, [column.number for column in columns]))
    return kept
