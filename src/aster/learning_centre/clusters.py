"""Records that say nearly the same, found without a model: of one kind, about one subject, with most of their words or
nearly all of their meaning in common.

The same records give the same groups in the same order, whatever order they come in. Everybody in a group is like
everybody else in it, so that a chain of small differences does not end in one group of strangers.
"""

import struct
from collections.abc import Mapping, Sequence
from operator import mul
from typing import Final

from aster.brain.memory_records import MemoryRow
from aster.brain.memory_words import digest
from aster.learning_centre.statements import content

MOST_ALIKE: Final = 8
"""Records of a group: more cannot be said in one sentence."""
SHARED: Final = 0.4
"""Of all the words of two records, so many are in both."""
WITHIN: Final = 0.75
"""Or so many of the shorter one's."""
MEANT: Final = 0.85
"""Or their meanings are this near (cosine), and some of the words are the same."""
SOME: Final = 0.2


def groups(rows: Sequence[MemoryRow], vectors: Mapping[int, bytes]) -> list[list[MemoryRow]]:
    """The groups of two or more, oldest records first; `vectors` are those of the rows' numbers, where there are
    any."""
    shelves: dict[tuple[str, str], list[_Group]] = {}
    for row in sorted(rows, key=lambda row: row.number):
        one = _Member(row, vectors.get(row.number))
        shelf = shelves.setdefault((row.kind, subject(row)), [])
        fitting = (group for group in shelf if group.takes(one))
        group = next(fitting, None)
        if group is None:
            shelf.append(group := _Group())
        group.members.append(one)
    found = [[one.row for one in group.members] for shelf in shelves.values() for group in shelf]
    return sorted((group for group in found if len(group) > 1), key=lambda group: group[0].number)


def subject(row: MemoryRow) -> str:
    """Whom or what a record is about, in one spelling."""
    return " ".join(str(row.fields.get(row.about.who, "")).casefold().split()) if row.about.who else ""


def fingerprint(rows: Sequence[MemoryRow]) -> str:
    """One word for these records as they are."""
    return digest(*sorted(f"{row.id} {row.text}" for row in rows)).hex()[:16]


def alike(one: frozenset[str], other: frozenset[str]) -> float:
    """How many of the words of two texts are in both, as a share of all."""
    return len(one & other) / len(one | other) if one | other else 0.0


class _Member:
    def __init__(self, row: MemoryRow, vector: bytes | None) -> None:
        self.row = row
        self.words = content(row.text)
        self.vector = struct.unpack(f"<{len(vector) // 2}e", vector) if vector else ()

    def near(self, other: "_Member") -> bool:
        shared = len(self.words & other.words)
        if not shared:
            return False
        share = alike(self.words, other.words)
        if share >= SHARED or (shared > 1 and shared / min(len(self.words), len(other.words)) >= WITHIN):
            return True
        return (
            share >= SOME and len(self.vector) == len(other.vector) and _cosine(self.vector, other.vector) >= MEANT
        )


class _Group:
    def __init__(self) -> None:
        self.members: list[_Member] = []

    def takes(self, one: _Member) -> bool:
        return len(self.members) < MOST_ALIKE and all(one.near(member) for member in self.members)


def _cosine(one: Sequence[float], other: Sequence[float]) -> float:
    """Of vectors that have length 1."""
    return sum(map(mul, one, other))
