"""Whether a shelf answers a question at all. The best of what was found is always something; this says when it is
nothing.

A weighed sum of few measures that mean the same on every shelf, fitted once to questions with and without an answer
(docs/memory-retrieval.md): how near the best records are, how well they match the words of the question beyond what an
ordinary record of the shelf does, and how many of its telling words they have. A question about somebody nobody here
has ever mentioned must be answered clearly better. Without a model's tokens there is only what the words tell, and how
far the nearest stands out.
"""

import math

from aster.memory.retrieval.evidence import Evidence

_NEARNESS = 0.90
_MATCH = 2.80
_CHANCE = 2.10
_COVERED = 0.35
_STRANGER = 0.22
_TIMELY = 0.28
_ENOUGH = 0.925
_GROWTH, _TYPICAL, _LEAST, _MOST = 0.065, 20_000, 100, 200_000
_ENOUGH_WORDS = 0.30
_STANDS_OUT = 3.0


def relevance(evidence: Evidence) -> float:
    """Above 0 when the shelf has something to say."""
    if evidence.anything:
        return 1.0 if evidence.timely else -1.0
    known = (_TIMELY if evidence.timely else 0.0) - (_STRANGER if evidence.stranger else 0.0)
    matching = evidence.matching
    if matching is None:
        return max(evidence.words - _ENOUGH_WORDS, (evidence.apart - _STANDS_OUT) / 4) + known
    fits = _NEARNESS * evidence.cosine + _MATCH * matching.best - _CHANCE * matching.usual
    return fits + _COVERED * evidence.covered + known - enough(matching.volume)


def enough(volume: float) -> float:
    """How well the best record must fit: the more text there is, the better the best of it fits by chance."""
    return _ENOUGH + _GROWTH * math.log(min(max(volume, _LEAST), _MOST) / _TYPICAL)
