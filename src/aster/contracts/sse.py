"""Server-sent events from bytes, ours and the providers': incremental, exact, and cheap for common frames.

However a stream is cut into chunks, the same events come out. Only CR, LF and CRLF end a line; everything
else, U+2028 and NEL included, is data. Data stays bytes: the one who knows its format decodes it.
"""

from collections.abc import Callable
from typing import NamedTuple

_BOM = b"\xef\xbb\xbf"


class ServerSentEvent(NamedTuple):
    event: str
    data: bytes


_new: Callable[[type[ServerSentEvent], tuple[str, bytes]], ServerSentEvent] = vars(tuple)["__new__"]
"""The constructor without its detour: every token of every answer comes as an event of its own."""


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
        text = b"".join(self._rest)
        end = text.rfind(b"\n\n")
        if end < 0:
            self._rest = [text]
            return []
        self._rest = [text[end + 2 :]]
        whole = text[:end]
        events = _plain(whole) or _named(whole)
        return events if events else [event for block in whole.split(b"\n\n") if (event := self._read(block))]

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


def _plain(whole: bytes) -> list[ServerSentEvent]:
    """Events of one data line each and nothing else, as most servers send them; none if any is more than that."""
    if not whole.startswith(b"data: "):
        return []
    found = whole[6:].split(b"\n\ndata: ")
    if whole.count(b"\n") != 2 * len(found) - 2:
        return []
    return [_new(ServerSentEvent, ("message", data)) for data in found]


def _named(whole: bytes) -> list[ServerSentEvent]:
    """Events of a name and one data line each; none if any is not like that."""
    if not whole.startswith(b"event: "):
        return []
    found = whole[7:].split(b"\n\nevent: ")
    if whole.count(b"\n") != 3 * len(found) - 2:
        return []
    events: list[ServerSentEvent] = []
    last, name = b"", "message"
    for block in found:
        said, between, data = block.partition(b"\ndata: ")
        if not between:
            return []
        if said != last:
            last, name = said, said.decode("utf-8", "replace") or "message"
        events.append(_new(ServerSentEvent, (name, data)))
    return events
