"""What a background command has said so far, as it is written down while it runs, so that it can be read elsewhere.

The beginning is written part by part and once; of what is more than the spool keeps of a beginning, only the newest is
kept at hand. Positions are those of the spool.
"""

from collections.abc import Iterator
from typing import Final

from aster.brain.background import BackgroundPartRow
from aster.utility_directory.background_spool import HEAD_CHARS, Spool

PART_CHARS: Final = 200_000
NEWEST_CHARS: Final = 60_000
_NEWEST: Final = 2**31 - 1
"""The number of the part that is replaced again and again."""


class Parts:
    """The parts of one command."""

    def __init__(self, runtime_task_id: str, head: int = HEAD_CHARS) -> None:
        self._id = runtime_task_id
        self._head = head
        self._count = 0
        self._written = 0

    def due(self, spool: Spool) -> list[BackgroundPartRow]:
        """What has been said since it was last asked for."""
        return list(self._due(spool))

    def _due(self, spool: Spool) -> Iterator[BackgroundPartRow]:
        while self._written < min(spool.size, self._head):
            piece = spool.read(self._written, min(PART_CHARS, self._head - self._written))
            yield self._row(self._count, self._written, piece.text)
            self._count += 1
            self._written = piece.next
        if spool.size > self._written:
            position = max(self._head, spool.size - NEWEST_CHARS)
            piece = spool.read(position, NEWEST_CHARS)
            yield self._row(_NEWEST, position, piece.text)
            self._written = spool.size

    def _row(self, part: int, position: int, text: str) -> BackgroundPartRow:
        clean = text.encode("utf-8", "replace").decode()
        return BackgroundPartRow(runtime_task_id=self._id, part=part, position=position, text=clean)
