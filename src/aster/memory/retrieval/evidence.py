"""What speaks for the best records of a search, in measures that mean the same on every shelf.

They are taken over the first ten, because a question is answered by any of them; and beside them stands what an
ordinary candidate reaches, because on a shelf full of like things much fits by chance.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from aster.brain.memory_words import words
from aster.memory.retrieval.maxsim import rarities
from aster.memory.retrieval.pool import Pool, standard
from aster.memory.retrieval.query import Query, telling
from aster.memory.retrieval.rows import Floats, Ints, Rows
from aster.memory.retrieval.shelf import Item

JUDGED: Final = 10
_USUAL, _SUPPOSED = 0.25, 10
"""What an ordinary record reaches; it counts as so many of them, because a few candidates say little about chance."""
_NAME: Final = re.compile(r"(?<=[^\s.!?:] )[A-Z][a-z]\w+")


@dataclass(frozen=True, slots=True)
class Matching:
    """How well the tokens of a question are matched, each token alike: by the best of the first, and by candidates on
    average. `volume` is about how many tokens the shelf has."""

    best: float
    usual: float
    volume: float


@dataclass(frozen=True, slots=True)
class Evidence:
    """The largest cosine; how tokens match (None when there are none); the share of the telling words, by rarity, that
    one record has together with the one before it; the best BM25 as a share of what the rarest possible match would
    get; the deviations by which the nearest stands out."""

    cosine: float
    matching: Matching | None
    covered: float
    words: float
    apart: float
    stranger: bool = False
    timely: bool = False
    anything: bool = False


@dataclass(frozen=True, slots=True)
class Judged:
    """The candidates of a search: where each is in the pool, which of them is the record before it (-1 for none), how
    well each token of the question is matched by each, how many tokens one has; and which are the best, in order."""

    items: Sequence[Item]
    order: Ints
    previous: Ints
    matches: Floats | None
    length: float
    best: Ints


def weighed(
    query: Query, said: Sequence[str], frequencies: Mapping[str, int], rows: Rows, pool: Pool, judged: Judged
) -> Evidence:
    """Everything that is known about the best; `said` are the words of the question, once for each token."""
    window = query.window
    best = judged.order[judged.best]
    when = rows.when(pool.places[best])
    slips = misspelt(said, frequencies)
    sure = np.array([word not in slips for word in said], np.bool_)
    rarest = float(rarities(query.terms, frequencies, len(rows)).sum())
    return Evidence(
        cosine=float(pool.cosines[best].max(initial=0.0)),
        matching=matched(judged, sure, len(rows)),
        covered=coverage(query, judged, frequencies, len(rows), slips),
        words=float(pool.words.max(initial=0.0)) / max(rarest, 1e-9),
        apart=float(standard(pool.cosines).max(initial=0.0)),
        stranger=about_a_stranger(query, frequencies),
        timely=window is not None and bool(((when >= window.start) & (when < window.late)).any()),
        anything=query.anything,
    )


def misspelt(said: Sequence[str], frequencies: Mapping[str, int]) -> frozenset[str]:
    """Words that are in no record and, cut into several pieces, not among the common ones of the language either:
    whether they are names or slips, that nothing matches them tells nothing. `said` has a word once for each piece."""
    pieces = {word for word, following in pairwise(said) if word == following}
    return frozenset(word for word in pieces if not any(frequencies.get(stem) for stem in words(word)))


def matched(judged: Judged, sure: NDArray[np.bool_], records: int) -> Matching | None:
    """How tokens match; `sure` are those that were not misspelt."""
    matches = judged.matches
    if matches is None:
        return None
    each = matches[:, sure].mean(axis=1) if sure.any() else matches.mean(axis=1)
    return Matching(
        best=float(each[judged.best].max(initial=0.0)),
        usual=float(each.sum() + _SUPPOSED * _USUAL) / (len(each) + _SUPPOSED),
        volume=judged.length * records,
    )


def coverage(
    query: Query, judged: Judged, frequencies: Mapping[str, int], records: int, slips: Collection[str]
) -> float:
    """The largest share of the telling words, by rarity and without names and slips, that a record and the one before
    it have."""
    unsure = {stem for word in slips for stem in words(word)}
    asked = [stem for stem in telling(query.meaning) if stem not in unsure]
    weights = rarities(asked, frequencies, records)
    best: list[int] = judged.best.tolist()
    before: list[int] = judged.previous[judged.best].tolist()
    said = {at: frozenset(words(judged.items[at].text)) for at in {*best, *before} if at >= 0}
    have = [said[at] | said.get(earlier, frozenset()) for at, earlier in zip(best, before, strict=True)]
    shares = [sum(weights[n] for n, stem in enumerate(asked) if stem in some) for some in have]
    return float(max(shares, default=0.0)) / max(float(weights.sum()), 1e-9)


def about_a_stranger(query: Query, frequencies: Mapping[str, int]) -> bool:
    """It names somebody or something by a name, nothing of that kind is known here, and it names nobody who is."""
    names = (match.group() for match in _NAME.finditer(query.meaning))
    return not query.people and any(not any(frequencies.get(stem) for stem in words(name)) for name in names)
