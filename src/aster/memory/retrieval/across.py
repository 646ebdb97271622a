"""One order over several stores: reciprocal-rank fusion per record.

Scores of different stores cannot be compared, ranks can. `k` is 10: lists are short, and with the textbook's 60 the
first place would hardly count more than the last.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

K: Final = 10


@dataclass(frozen=True, slots=True)
class Ranked:
    """A record of a store with its fused score."""

    source: str
    id: int
    score: float


def fused(
    lists: Iterable[tuple[str, Sequence[int]]], weights: Mapping[str, float], k: int = K
) -> tuple[Ranked, ...]:
    """All records of the lists, each list a store's ranking for one part of the question. A record found for several
    parts adds up; of equal scores, the one of the store and with the number that sorts first comes first."""
    scores: dict[tuple[str, int], float] = {}
    for source, ids in sorted(lists, key=lambda one: (one[0], tuple(one[1]))):
        if not source:
            continue
        for rank, number in enumerate(dict.fromkeys(ids)):
            key = (source, number)
            scores[key] = scores.get(key, 0.0) + weights.get(source, 1.0) / (k + rank + 1)
    best = sorted(scores, key=lambda key: (-scores[key], key))
    return tuple(Ranked(source, number, scores[source, number]) for source, number in best)
