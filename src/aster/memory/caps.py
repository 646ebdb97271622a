"""How much of some kinds is kept at a time: a playbook that is never tidied up is read by nobody.

What is more than that ends: it is found no longer, but stays in the history with the day until which it held.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from aster.brain.memory_kinds import KindName, Store
from aster.brain.memory_records import MemoryRow
from aster.memory.decay import utility

LESSONS: Final = 50
VALUES: Final = 8
"""Of one line of the profile that may have several, such as interests."""
CAPPED: Final[dict[KindName, Store]] = {"lesson": "lessons", "trait": "profile"}


def surplus(kind: KindName, rows: Iterable[MemoryRow]) -> list[MemoryRow]:
    """Those of a user's records of a kind, newest first, that have to go."""
    held = [row for row in rows if row.kind == kind and row.valid_until is None]
    return _lessons(held) if kind == "lesson" else _values(held)


def _lessons(held: Sequence[MemoryRow]) -> list[MemoryRow]:
    """The newest stays whatever it is worth; then those that were verified, then the most useful."""
    ranked = sorted(held[1:], key=lambda row: (row.fields["verified"], utility(row), row.number), reverse=True)
    return ranked[LESSONS - 1 :]


def _values(held: Sequence[MemoryRow]) -> list[MemoryRow]:
    """The newest of each line stay."""
    lines: dict[tuple[str, str], list[MemoryRow]] = {}
    for row in held:
        lines.setdefault((row.fields["category"], row.fields["key"]), []).append(row)
    return [row for line in lines.values() for row in line[VALUES:]]
