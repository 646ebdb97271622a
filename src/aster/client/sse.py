"""Server-sent events from bytes, for the client's side of the wire.

However the network cuts the stream, the same frames come out; a frame the stream ends in is not one. Lines end at
CR, LF or CRLF and at nothing else, so text may hold any other separator Unicode knows.
"""

import re
from typing import NamedTuple

_BOM = b"\xef\xbb\xbf"
_LINE_END = re.compile(rb"\r\n?|\n")


class SseFrame(NamedTuple):
    """One dispatched event; `id` is the last id the stream has named so far."""

    event: str
    data: bytes
    id: str


class SseParser:
    """One connection's worth of stream: `feed` it what arrives, get the frames that are whole."""

    def __init__(self) -> None:
        self.last_id = ""
        self.retry_ms: int | None = None
        self._pending = bytearray()
        self._searched = 0
        self._first_line = True
        self._swallow_lf = False
        self._event = ""
        self._data: list[bytes] = []

    def feed(self, chunk: bytes) -> list[SseFrame]:
        if self._swallow_lf and chunk:
            self._swallow_lf = False
            chunk = chunk.removeprefix(b"\n")
        pending = self._pending
        pending += chunk
        frames: list[SseFrame] = []
        start = 0
        while (end := _LINE_END.search(pending, self._searched)) is not None:
            frame = self._line(bytes(pending[start : end.start()]))
            if frame is not None:
                frames.append(frame)
            start = self._searched = end.end()
            self._swallow_lf = start == len(pending) and pending.endswith(b"\r")
        del pending[:start]
        self._searched = len(pending)
        return frames

    def _line(self, line: bytes) -> SseFrame | None:
        if self._first_line:
            self._first_line = False
            line = line.removeprefix(_BOM)
        if not line:
            return self._dispatch()
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        match field:
            case b"data":
                self._data.append(value)
            case b"event":
                self._event = value.decode("utf-8", "replace")
            case b"id" if b"\0" not in value:
                self.last_id = value.decode("utf-8", "replace")
            case b"retry" if value.isdigit():
                self.retry_ms = int(value)
            case _:
                pass
        return None

    def _dispatch(self) -> SseFrame | None:
        event, data = self._event, self._data
        self._event, self._data = "", []
        if not data:
            return None
        return SseFrame(event or "message", b"\n".join(data), self.last_id)
