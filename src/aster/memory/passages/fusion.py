"""One order from two: how well words fit, and how near the meaning is.

Both are measured in standard deviations from the mean of the candidates before they are added: ranks alone would
throw away by how much one is better. Cosines that are nearly all the same count little; what has no vector yet
is taken as average. Equal scores keep the order of the passages: the same question always gets the same answer.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean, pstdev

WORDS, MEANING = 1.0, 1.0
_LEAST_SPREAD = 0.05


@dataclass(frozen=True, slots=True)
class Ranked:
    """A passage with its fused score and what it is made of; `cosine` is None when it has no vector yet."""

    passage: int
    score: float
    bm25: float
    cosine: float | None


def fuse(bm25: Mapping[int, float], cosines: Mapping[int, float]) -> list[Ranked]:
    """The candidates, the best first. A passage that shares no word with the question has a BM25 score of 0."""
    candidates = sorted(bm25.keys() | cosines.keys())
    words = _standard({passage: bm25.get(passage, 0.0) for passage in candidates})
    meaning = _standard(cosines, _LEAST_SPREAD)
    ranked = [
        Ranked(
            passage,
            WORDS * words[passage] + MEANING * meaning.get(passage, 0.0),
            bm25.get(passage, 0.0),
            cosines.get(passage),
        )
        for passage in candidates
    ]
    return sorted(ranked, key=lambda one: (-one.score, one.passage))


def _standard(scores: Mapping[int, float], least: float = 0.0) -> dict[int, float]:
    if not scores:
        return {}
    mean, spread = fmean(scores.values()), max(pstdev(scores.values()), least)
    return {passage: (score - mean) / spread if spread > 0 else 0.0 for passage, score in scores.items()}
