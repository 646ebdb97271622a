"""Whether a shelf answers a question at all. The best of what was found is always something; this says when it is
nothing.

The measures are absolute, so they mean the same on every shelf: how near the best records are in meaning, and how
well their tokens match those of the question. A question about somebody nobody here has ever mentioned must be answered
clearly better. Without a model's tokens there is only what the words tell, and how far the nearest stands out.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

from aster.brain.memory_words import words
from aster.memory.retrieval.query import Query

_NEARNESS = 0.75
_STRANGER = 0.20
_TIMELY = 0.10
_ENOUGH = 0.56
_GROWTH, _TYPICAL, _FEWEST, _MOST = 0.03, 600, 10, 5_000
_ENOUGH_WORDS = 0.30
_STANDS_OUT = 3.0
_NAME = re.compile(r"(?<=[^\s.!?:] )[A-Z][a-z]\w+")


@dataclass(frozen=True, slots=True)
class Evidence:
    """What speaks for the best records: the largest cosine, the best match of tokens (None when there are none), the
    best BM25 as a share of what the rarest possible match would get, the deviations by which the nearest stands out."""

    cosine: float
    tokens: float | None
    words: float
    apart: float
    stranger: bool = False
    timely: bool = False
    records: int = _TYPICAL
    anything: bool = False


def relevance(evidence: Evidence) -> float:
    """Above 0 when the shelf has something to say."""
    if evidence.anything:
        return 1.0 if evidence.timely else -1.0
    known = (_TIMELY if evidence.timely else 0.0) - (_STRANGER if evidence.stranger else 0.0)
    if evidence.tokens is not None:
        return evidence.tokens + _NEARNESS * evidence.cosine + known - enough(evidence.records)
    return max(evidence.words - _ENOUGH_WORDS, (evidence.apart - _STANDS_OUT) / 4) + known


def enough(records: int) -> float:
    """How well the best record must fit: the more there are, the better the best one fits by chance."""
    return _ENOUGH + _GROWTH * math.log(min(max(records, _FEWEST), _MOST) / _TYPICAL)


def about_a_stranger(query: Query, frequencies: Mapping[str, int]) -> bool:
    """It names somebody or something by a name, nothing of that kind is known here, and it names nobody who is."""
    names = (match.group() for match in _NAME.finditer(query.meaning))
    return not query.people and any(not any(frequencies.get(stem) for stem in words(name)) for name in names)
