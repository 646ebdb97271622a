"""What users have said lately: the same words within the hour are no news, and are not kept a second time.

Said again another day they are kept again, since when something was said matters. Marks and settings within a text
do not make it another one. It is a help against heaps of the same, kept in memory and lost with the process.
"""

from collections.abc import Sequence
from typing import Final

from aster.brain.memory_records import MemoryRow

MOST_USERS: Final = 10_000
MOST_WORDS: Final = 200
FRESH_MS: Final = 3_600_000
_MARKS: Final = frozenset("[]{}<>=")


class Lately:
    def __init__(self) -> None:
        self._said: dict[str, dict[int, int]] = {}

    def heard(self, user_id: str, rows: Sequence[MemoryRow]) -> None:
        """These records of what a user said were written."""
        if len(self._said) >= MOST_USERS:
            self._said.clear()
        said = self._said.setdefault(user_id, {})
        for row in rows:
            said[_same(row.text)] = row.event_at
        while len(said) > MOST_WORDS:
            del said[next(iter(said))]

    def again(self, user_id: str, row: MemoryRow) -> bool:
        """Whether the same was kept a short while ago."""
        at = self._said.get(user_id, {}).get(_same(row.text))
        return at is not None and abs(row.event_at - at) < FRESH_MS

    def forget(self, user_id: str) -> None:
        """Something of this user's is forgotten: whatever they say again is kept again."""
        self._said.pop(user_id, None)

    def forget_all(self) -> None:
        """Something was forgotten elsewhere, and nobody says whose it was."""
        self._said.clear()


def without_marks(text: str) -> str:
    """A text without what is a setting or a tag in it, rather than a word or a number."""
    return " ".join(token for token in text.split() if _MARKS.isdisjoint(token))


def _same(text: str) -> int:
    return hash(without_marks(text.casefold()))
