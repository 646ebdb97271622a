"""The weights of ranking in one place.

They lie on a plateau: each may be halved or doubled and recall moves by a point at most
(docs/memory-retrieval.md). Whoever changes one runs `python -m benchmarks.memory` on sets of every kind.
"""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Tuning:
    """Weights are per standard deviation of a measure; `speaker` and `time` are added when they hold.
    `reply` is how much a word counts that only the record before has, `unknown` one that no record has: it may be
    misspelt."""

    words: float = 1.0
    meaning: float = 1.2
    speaker: float = 0.7
    time: float = 1.0
    before: float = 0.35
    after: float = 0.25
    session: float = 0.4
    tokens: float = 1.0
    reply: float = 0.9
    unknown: float = 0.5
    asking: float = 0.6
    pool: int = 200
    reranked: int = 50
    postings: int = 20_000
    alike: float = 0.97
    gate: bool = True


TUNING: Final = Tuning()
