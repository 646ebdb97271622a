"""Output of a command as it is kept: all of it when it is short, head and tail when it is not.

However much a command writes, no more than a few times the limit is held in memory, and what was left out is said.
"""

import codecs
import sys
from collections.abc import Callable

SHOWN_BYTES = 40_000
CONTINUES = "\n[... more output follows; the result will show its end ...]\n"


class Capture:
    """One stream, up to `limit` bytes of it; `emit` gets the text of its first `shown` bytes as it comes, or of
    `everything`."""

    def __init__(
        self, limit: int, emit: Callable[[str], None], shown: int | None = None, *, everything: bool = False
    ) -> None:
        self._limit = limit
        self._shown = sys.maxsize if everything else limit if shown is None else min(shown, limit)
        self._half = limit // 2
        self._emit = emit
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._head = bytearray()
        self._tail = b""
        self.size = 0

    @property
    def truncated(self) -> bool:
        return self.size > self._limit

    def feed(self, data: bytes) -> None:
        room = self._limit - len(self._head)
        visible = self._shown - self.size
        self.size += len(data)
        if room > 0:
            self._head += data[:room]
        if visible >= 0:
            self._show(self._decoder.decode(data[:visible]))
            if len(data) > visible:
                self._emit(CONTINUES)
        if len(data) > room:
            self._tail = (self._tail + data[max(room, 0) :])[-self._half :]

    def finish(self) -> None:
        if self.size <= self._shown:
            self._show(self._decoder.decode(b"", True))

    def text(self) -> str:
        if not self.truncated:
            return _printable(self._head.decode("utf-8", "replace"))
        head = _decoded_start(bytes(self._head[: self._half]))
        tail = _decoded_end((bytes(self._head) + self._tail)[-self._half :])
        return f"{head}\n[... {self.size - 2 * self._half:,} bytes cut ...]\n{tail}"

    def _show(self, text: str) -> None:
        if text:
            self._emit(_printable(text))


def cut(text: str, limit: int) -> str:
    """Text that is too long, as head and tail with a mark of what was left out."""
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n[... {len(text) - 2 * half:,} characters cut ...]\n{text[-half:]}"


def _decoded_start(data: bytes) -> str:
    return _printable(codecs.getincrementaldecoder("utf-8")("replace").decode(data))


def _decoded_end(data: bytes) -> str:
    start = 0
    while start < min(3, len(data)) and data[start] & 0xC0 == 0x80:
        start += 1
    return _printable(data[start:].decode("utf-8", "replace"))


def _printable(text: str) -> str:
    """NUL cannot be stored in every brain."""
    return text.replace("\x00", "\ufffd")
