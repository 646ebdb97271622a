"""Server-sent events from bytes, ours and the providers': incremental, exact, and cheap for common frames.

However a stream is cut into chunks, the same events come out. Only CR, LF and CRLF end a line; everything
else, U+2028 and NEL included, is data. Data stays bytes: the one who knows its format decodes it.
"""

from typing import NamedTuple

_BOM = b"\xef\xbb\xbf"


class ServerSentEvent(NamedTuple):
    event: str
    data: bytes


class SseParser:
    """Feed it chunks; it returns the events that they complete. An event cut off by the end is not one."""

    def __init__(self) -> None:
        self.last_id = ""
        self.retry_ms: int | None = None
        self._rest: list[bytes] = []
        self._at_start = True
        self._after_cr = False

    def feed(self, chunk: bytes) -> list[ServerSentEvent]:
        if self._at_start:
            chunk = self._skip_bom(chunk)
        if self._after_cr and chunk:
            self._after_cr = False
            chunk = chunk.removeprefix(b"\n")
        if b"\r" in chunk:
            self._after_cr = chunk.endswith(b"\r")
            chunk = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        self._rest.append(chunk)
        if b"\n" not in chunk:
            return []
        blocks = b"".join(self._rest).split(b"\n\n")
        self._rest = [blocks.pop()]
        events: list[ServerSentEvent] = []
        for block in blocks:
            if block.startswith(b"data: ") and b"\n" not in block:
                events.append(ServerSentEvent("message", block[6:]))
            elif (event := self._read(block)) is not None:
                events.append(event)
        return events

    def _skip_bom(self, chunk: bytes) -> bytes:
        chunk = b"".join(self._rest) + chunk
        self._rest = []
        if len(chunk) < len(_BOM) and _BOM.startswith(chunk):
            self._rest.append(chunk)
            return b""
        self._at_start = False
        return chunk.removeprefix(_BOM)

    def _read(self, block: bytes) -> ServerSentEvent | None:
        name = ""
        data: list[bytes] = []
        for line in block.split(b"\n"):
            field, _, value = line.partition(b":")
            value = value.removeprefix(b" ")
            if field == b"data":
                data.append(value)
            elif field == b"event":
                name = value.decode("utf-8", "replace")
            elif field == b"id" and b"\0" not in value:
                self.last_id = value.decode("utf-8", "replace")
            elif field == b"retry" and value.isdigit():
                self.retry_ms = int(value)
        return ServerSentEvent(name or "message", b"\n".join(data)) if data else None
