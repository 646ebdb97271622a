"""Whether one text may take the place of several: it must state everything that they state, and nothing else.

No model is asked. A merge is refused when a number, a date, a name, a quotation, a "not" or any other word that counts
is missing, stands with another unit or behind another name, or was added. A merge that is refused wrongly costs a few
words; one that is let through wrongly costs a memory.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from aster.learning_centre.statements import LINKING, READ, Statement, names_in, statement

LEAST_FREED: Final = 0.05
"""A merge that saves less than this share of the characters is not worth a new record."""
_TOLD: Final = 6


@dataclass(frozen=True, slots=True)
class Flaws:
    """What a merge would lose, and what it would make up."""

    lost: tuple[str, ...] = ()
    added: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.lost or self.added)

    @property
    def reason(self) -> str:
        parts = (("it would lose", self.lost), ("it would add", self.added))
        return "; ".join(f"{what}: {_listed(some)}" for what, some in parts if some)


def flaws(sources: Sequence[str], synthesis: str) -> Flaws:
    """What is wrong with a text that is to take the place of these."""
    if max(map(len, (*sources, synthesis))) > READ:
        return Flaws(added=(f"more than {READ:,} characters, which nobody can compare",))
    names = names_in(sources)
    merged = statement(synthesis, names)
    known = [statement(source, names) for source in sources]
    lost = dict.fromkeys(what for one in known for what in _lost(one, merged))
    return Flaws(tuple(lost), tuple(dict.fromkeys(_added(known, merged))))


def freed(sources: Sequence[str], synthesis: str) -> float:
    """The share of characters that a merge saves."""
    before = sum(map(len, sources))
    return 1 - len(synthesis) / before if before else 0.0


def _lost(one: Statement, merged: Statement) -> Iterable[str]:
    for word, shown in one.words.items():
        if word not in merged.words and not _in_a_date(word, merged.words):
            yield shown
    yield from (f'"{quote}"' for quote in sorted(one.quotes - merged.quotes))
    kept = {word for word in one.words if word in merged.words}
    for word, times in sorted((one.narrow - merged.narrow) | (one.wide - merged.wide)):
        if word in kept:
            yield f"{one.words[word]} ({'denied' if times else 'not denied'})"
    for number, unit in sorted(one.measures - merged.measures):
        if unit and number in kept and unit in kept:
            yield f"{number} {one.words[unit]}"
    for word, number in sorted(one.led - merged.leading):
        if word in kept and number in kept:
            yield f"{one.words[word]} … {number}"
    for name, word in sorted(one.bound - merged.bound):
        if name and name in kept and word in kept:
            yield f"{one.words[name]} … {one.words[word]}"


def _added(known: Sequence[Statement], merged: Statement) -> Iterable[str]:
    words = {word for one in known for word in one.words}
    for word, shown in merged.words.items():
        if word not in words and word not in LINKING:
            yield shown
    yield from (f'"{quote}"' for quote in sorted(merged.quotes - _union(one.quotes for one in known)))
    denied = (merged.narrow - _union(one.narrow for one in known)) | (
        merged.wide - _union(one.wide for one in known)
    )
    for word, times in sorted(denied):
        if word in words:
            yield f"{merged.words[word]} ({'denied' if times else 'not denied'})"
    measures = _union(one.measures for one in known)
    for number, unit in sorted(merged.measures - measures):
        if unit and number in words and unit in words and (number, "") not in measures:
            yield f"{number} {merged.words[unit]}"
    bound = _union(one.bound for one in known)
    for name, word in sorted(merged.bound - bound):
        if name and word in words and ("", word) not in bound:
            yield f"{merged.words[name]} … {merged.words[word]}"


def _union(sets: Iterable[Collection[object]]) -> set[object]:
    return {one for some in sets for one in some}


def _in_a_date(word: str, words: Collection[str]) -> bool:
    """Whether a day without its year is among these words with it."""
    return word.endswith("/") and any(other.endswith(f"-{word[:-1]}") for other in words)


def _listed(some: Sequence[str]) -> str:
    more = len(some) - _TOLD
    return ", ".join(some[:_TOLD]) + (f" and {more} more" if more > 0 else "")
