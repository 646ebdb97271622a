"""Memory fades, and more slowly the more often it helped (spaced repetition).

The penalty is at most 0.30 and is taken from a score in standard deviations: it decides between memories that fit
alike, and never hides one that fits.
"""

import math

_DAY = 86_400_000
_UNUSED_HALF_LIFE = 30.0
_MOST = 0.30
_DOUBT = 1.0


def half_life(uses: int) -> float:
    """Days; it grows with every use, each time by less."""
    return _UNUSED_HALF_LIFE * (1 + math.log1p(max(uses, 0)))


def faded(now: int, when: int, uses: int = 0, used: int | None = None) -> float:
    """What a memory loses by its age, counted from when it last helped, or happened."""
    age = max(now - (used or when), 0) / _DAY
    return _MOST * (1 - math.exp(-age / half_life(uses)))


def doubted(confidence: float) -> float:
    """What a memory loses because it is not sure: one that people called wrong comes after others that fit."""
    return _DOUBT * (1 - confidence)
