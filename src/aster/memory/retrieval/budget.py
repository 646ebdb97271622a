"""What of a ranking enters the prompt: few of each store, and no more tokens than there are.

A record that does not fit is skipped, not a stop: smaller ones after it still enter. Only the very first is shortened
rather than left out, so that the best memory is never lost to its length.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from aster.memory.retrieval.across import Ranked

PER_SOURCE: Final = 6
_MARK = " […]"

Reason: TypeAlias = Literal["source_cap", "budget"]


@dataclass(frozen=True, slots=True)
class Entry:
    """A record as it enters the prompt."""

    ranked: Ranked
    text: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Packed:
    """What enters, in order, and what was cut, with the reason."""

    entries: tuple[Entry, ...]
    cut: tuple[tuple[Ranked, Reason], ...]


def packed(
    ranking: Iterable[tuple[Ranked, str]], budget: int, count: Callable[[str], int], per_source: int = PER_SOURCE
) -> Packed:
    """As much of a ranking with its texts as `budget` tokens hold; `count` says how many a text has."""
    entries: list[Entry] = []
    cut: list[tuple[Ranked, Reason]] = []
    taken: Counter[str] = Counter()
    left = budget
    for place, (one, whole) in enumerate(ranking):
        text = whole if place else shortened(whole, budget, count)
        tokens = count(text)
        if taken[one.source] >= per_source:
            cut.append((one, "source_cap"))
        elif not text or tokens > left:
            cut.append((one, "budget"))
        else:
            entries.append(Entry(one, text, tokens))
            taken[one.source] += 1
            left -= tokens
    return Packed(tuple(entries), tuple(cut))


def shortened(text: str, budget: int, count: Callable[[str], int]) -> str:
    """The text, or as much of its beginning as fits, with a mark; nothing when not even the mark fits."""
    if count(text) <= budget:
        return text
    fits, fails = 0, len(text)
    while fails - fits > 1:
        middle = (fits + fails) // 2
        if count(text[:middle] + _MARK) <= budget:
            fits = middle
        else:
            fails = middle
    return text[:fits].rstrip() + _MARK if fits else ""
