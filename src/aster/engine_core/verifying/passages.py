"""The passages of the evidence that bear on an answer: what a critic is shown of outputs too long to be shown whole.

Lines are chosen by the words and numbers they share with the answer, rare ones first, and stand in their order; the
head of an output has no privilege.
"""

import math
from collections import Counter
from collections.abc import Iterable
from typing import Final

from aster.engine_core.verifying.evidence import Exhibit
from aster.engine_core.verifying.words import plain

MOST_CHARS: Final = 4000
MOST_READ: Final = 200_000
LINE: Final = 300
GAP: Final = "…"


def shares(exhibits: tuple[Exhibit, ...], most: int = MOST_CHARS) -> list[int]:
    """How many characters each exhibit may take: what short ones leave goes to the others."""
    left, shared = most, [0] * len(exhibits)
    order = sorted(range(len(exhibits)), key=lambda index: len(exhibits[index].text))
    for place, index in enumerate(order):
        shared[index] = min(len(exhibits[index].text), left // (len(order) - place))
        left -= shared[index]
    return shared


def bearing(text: str, claim: str, most: int) -> str:
    """At most so many characters of a text: those that have to do with the claim."""
    if len(text) <= most:
        return text
    lines = _lines(text[:MOST_READ])
    words = [set(plain(line).split()) for line in lines]
    common = Counter(word for found in words for word in found)
    asked = set(plain(claim).split())
    weight = {word: math.log(1 + len(lines) / common[word]) for word in asked if common[word]}
    scores = [sum(weight.get(word, 0.0) for word in found & asked) for found in words]
    around = [score + 0.3 * max(scores[max(0, index - 1) : index + 2]) for index, score in enumerate(scores)]
    chosen: set[int] = set()
    room = most
    for index in sorted(range(len(lines)), key=lambda index: (-around[index], index)):
        cost = len(lines[index]) + len(GAP) + 2
        if cost <= room:
            chosen.add(index)
            room -= cost
    return _joined(lines, sorted(chosen))


def _lines(text: str) -> list[str]:
    """The lines of a text, long ones in pieces."""
    return [line[at : at + LINE] for line in text.splitlines() for at in range(0, max(len(line), 1), LINE)]


def _joined(lines: list[str], chosen: Iterable[int]) -> str:
    parts: list[str] = []
    after = 0
    for index in chosen:
        if index != after:
            parts.append(GAP)
        parts.append(lines[index])
        after = index + 1
    if after != len(lines):
        parts.append(GAP)
    return "\n".join(parts)
