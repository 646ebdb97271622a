"""The ways to rank that are compared: ours, ours without its gate, and the textbook ones on the same shelf, with the
same words and the same vectors."""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from aster.memory.embeddings.embedder import Reading
from aster.memory.retrieval.across import fused
from aster.memory.retrieval.query import Query
from aster.memory.retrieval.search import search
from aster.memory.retrieval.shelf import Shelf
from aster.memory.retrieval.tuning import Tuning

LIMIT = 20
_LIST = 100

Method: TypeAlias = Callable[[Shelf, Query, Reading, int], list[int]]


def ours(shelf: Shelf, query: Query, reading: Reading, now: int) -> list[int]:
    return [hit.item.id for hit in search(shelf, query, reading, now, LIMIT).hits]


def with_tuning(tuning: Tuning) -> Method:
    def method(shelf: Shelf, query: Query, reading: Reading, now: int) -> list[int]:
        return [hit.item.id for hit in search(shelf, query, reading, now, LIMIT, tuning).hits]

    return method


def keyword(shelf: Shelf, query: Query, _reading: Reading, _now: int, limit: int = LIMIT) -> list[int]:
    scores = shelf.keyword(query.terms, limit)
    return sorted(scores, key=lambda number: (-scores[number], number))


def vector(shelf: Shelf, _query: Query, reading: Reading, _now: int, limit: int = LIMIT) -> list[int]:
    rows = shelf.rows()
    places = rows.nearest(reading.vector, limit)
    numbers = rows.ids(places)
    return numbers[np.lexsort((numbers, -rows.cosines(places, reading.vector)))].tolist()


def plain_rrf(shelf: Shelf, query: Query, reading: Reading, now: int) -> list[int]:
    lists = [("shelf", method(shelf, query, reading, now, _LIST)) for method in (keyword, vector)]
    return [one.id for one in fused(lists, {}, k=60)][:LIMIT]


METHODS: dict[str, Method] = {
    "aster": ours,
    "aster without gate": with_tuning(Tuning(gate=False)),
    "keyword alone": keyword,
    "vector alone": vector,
    "plain RRF (k=60)": plain_rrf,
}

ABLATIONS: dict[str, Method] = {
    f"without {name}": with_tuning(tuning)
    for name, tuning in {
        "token re-rank": Tuning(gate=False, tokens=0.0),
        "neighbours": Tuning(gate=False, before=0.0, after=0.0),
        "session prior": Tuning(gate=False, session=0.0),
        "speaker": Tuning(gate=False, speaker=0.0),
        "time": Tuning(gate=False, time=0.0),
        "question penalty": Tuning(gate=False, asking=0.0),
        "keyword": Tuning(gate=False, words=0.0),
        "vector": Tuning(gate=False, meaning=0.0),
    }.items()
}
