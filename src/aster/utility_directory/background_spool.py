"""What a background command has said, to be read on from any position: whole while it is short, beginning and end
when it is not.

A position is the number of characters said before it and never moves, whatever has been left out in between, so a
reader that goes on where it stopped neither misses nor repeats anything that is kept.
"""

from collections.abc import Sequence
from io import StringIO
from typing import Final, NamedTuple

HEAD_CHARS: Final = 2_000_000
TAIL_CHARS: Final = 1_000_000


class Piece(NamedTuple):
    """Text from one position up to `next`; `more` says that there is something after it."""

    text: str
    next: int
    more: bool


class Spool:
    """Everything up to `head` characters, then the newest `tail` of them."""

    def __init__(self, head: int = HEAD_CHARS, tail: int = TAIL_CHARS) -> None:
        self._most_head, self._most_tail = head, tail
        self._head = StringIO()
        self._head_size = 0
        self._tail: list[str] = []
        self._tail_size = 0
        self.size = 0

    @classmethod
    def restored(cls, text: str, left_out: int, head: int = HEAD_CHARS) -> "Spool":
        """The spool whose `text` this was, with the same positions."""
        spool = cls(head)
        end = head if left_out else len(text)
        spool._head.write(text[:end])
        spool._head_size = end
        if left_out:
            spool._tail = [text[end + len(_mark(left_out)) :]]
            spool._tail_size = len(spool._tail[0])
        spool.size = end + left_out + spool._tail_size
        return spool

    @classmethod
    def pieced(cls, pieces: Sequence[tuple[int, str]]) -> "Spool":
        """A spool of pieces, each with its position: those that follow each other from the beginning on, and the last
        if there is something missing before it."""
        spool = cls()
        for position, text in pieces:
            if position == spool._head_size:
                spool._head_size += spool._head.write(text)
                spool.size = spool._head_size
            elif position > spool._head_size:
                spool._tail, spool._tail_size = [text], len(text)
                spool.size = position + len(text)
        return spool

    @property
    def left_out(self) -> int:
        return self.size - self._head_size - self._tail_size

    @property
    def text(self) -> str:
        """All that is kept, with a mark where something is not."""
        mark = _mark(self.left_out) if self.left_out else ""
        return "".join((self._head.getvalue(), mark, *self._tail))

    def add(self, text: str) -> None:
        self.size += len(text)
        room = self._most_head - self._head_size
        if room > 0:
            self._head_size += self._head.write(text[:room])
            text = text[room:]
        if not text:
            return
        self._tail.append(text)
        self._tail_size += len(text)
        if self._tail_size > 2 * self._most_tail:
            self._tail = ["".join(self._tail)[-self._most_tail :]]
            self._tail_size = self._most_tail

    def read(self, position: int, limit: int) -> Piece:
        """What was said from a position on, at most `limit` characters of it."""
        position = max(0, min(position, self.size))
        if position < self._head_size:
            self._head.seek(position)
            text = self._head.read(min(limit, self._head_size - position))
            self._head.seek(0, 2)
            position += len(text)
            return Piece(text, position, position < self.size)
        start = self.size - self._tail_size
        mark = _mark(start - position) if position < start else ""
        position = max(position, start)
        text = "".join(self._tail)[position - start :][:limit]
        position += len(text)
        return Piece(mark + text, position, position < self.size)


def pieced_from(pieces: Sequence[tuple[int, str]], position: int, limit: int) -> Piece:
    """What pieces, each with its position, say from a position on; a mark stands for what is missing between them."""
    said: list[str] = []
    room, end = limit, position
    for start, text in pieces:
        end = max(end, start + len(text))
        if start + len(text) <= position or room <= 0:
            continue
        if start > position:
            said.append(_mark(start - position))
            position = start
        part = text[position - start :][:room]
        said.append(part)
        position += len(part)
        room -= len(part)
    return Piece("".join(said), position, position < end)


def _mark(count: int) -> str:
    return f"\n[... {count:,} characters are left out here ...]\n"
