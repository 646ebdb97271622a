"""A shelf of a few records in memory for the tests of ranking, with the words of the real one."""

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from aster.brain.memory_words import words
from aster.memory.embeddings.embedder import Reading
from aster.memory.retrieval.maxsim import packed
from aster.memory.retrieval.rows import Rows
from aster.memory.retrieval.shelf import Item


class SmallShelf:
    """Records in the order they are given, with BM25 without length."""

    def __init__(
        self, items: Sequence[Item], readings: Sequence[Reading], names: Collection[str] = (), tokens: bool = True
    ) -> None:
        self._items = {item.id: item for item in items}
        self._rows = Rows(len(readings[0].vector) if readings else 8)
        if items:
            self._rows.add(items, np.stack([reading.vector for reading in readings]))
        self._tokens = {item.id: packed(r.tokens) for item, r in zip(items, readings, strict=True) if len(r.tokens)}
        self._tokens = self._tokens if tokens else {}
        self._words = {item.id: Counter(words(f"{item.who} {item.text}")) for item in items}
        self._names = frozenset(names)

    def rows(self) -> Rows:
        return self._rows

    def keyword(self, terms: Sequence[str], limit: int) -> Mapping[int, float]:
        have = self.frequencies(terms)
        scores = {
            number: sum(math.log(1 + len(self._items) / have[term]) for term in set(terms) if counts[term])
            for number, counts in self._words.items()
        }
        best = sorted((number for number in scores if scores[number]), key=lambda n: (-scores[n], n))[:limit]
        return {number: scores[number] for number in best}

    def frequencies(self, terms: Collection[str]) -> Mapping[str, int]:
        counts = {term: sum(term in said for said in self._words.values()) for term in terms}
        return {term: count for term, count in counts.items() if count}

    def items(self, ids: Sequence[int]) -> Sequence[Item]:
        return [self._items[number] for number in ids if number in self._items]

    def tokens(self, ids: Sequence[int]) -> Mapping[int, NDArray[np.uint8]]:
        return {number: self._tokens[number] for number in ids if number in self._tokens}

    def names(self) -> frozenset[str]:
        return self._names

    def forget(self, number: int) -> None:
        """As if another thread had taken a record out between two questions of a search."""
        del self._items[number]
