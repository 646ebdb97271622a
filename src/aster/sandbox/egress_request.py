"""A request as a command sends it to the proxy: its head checked, its body handed on as it comes and no further.

Whatever follows the body on the connection is never read, so nothing can be slipped in behind a checked request.
"""

import asyncio
from collections.abc import AsyncIterator

import httptools

_PIECE = 65_536
_HOP = frozenset(
    (
        *(b"connection", b"keep-alive", b"proxy-connection", b"proxy-authorization", b"proxy-authenticate"),
        *(b"te", b"trailer", b"upgrade", b"host", b"expect"),
    )
)
ANSWER_HOP = _HOP | {b"transfer-encoding"}


class BadRequest(Exception):
    """Not something a proxy can do; the message is for the command."""


class Unreachable(Exception):
    """The destination is allowed and does not answer."""


class Request:
    """Reads one request; `head` is everything up to the blank line. `waits` says that the body comes after a word
    of ours. Headers meant for a proxy are left out, and the host, which is the target's."""

    def __init__(self, head: bytes, reader: asyncio.StreamReader) -> None:
        self._reader = reader
        self._pieces: list[bytes] = []
        self._complete = False
        self._url = b""
        self.headers: list[tuple[bytes, bytes]] = []
        self._parser = httptools.HttpRequestParser(self)
        self._feed(head)
        self.method = self._parser.get_method()
        self.version = self._parser.get_http_version()
        self.target = self._url
        said = [(name.lower(), value) for name, value in self.headers]
        has_body = any(name in (b"content-length", b"transfer-encoding") for name, _ in said)
        self.waits = has_body and any(name == b"expect" for name, _ in said)
        words = [word for name, value in said if name == b"connection" for word in value.split(b",")]
        dropped = _HOP | {word.strip().lower() for word in words}
        self.headers = [pair for pair in self.headers if pair[0].lower() not in dropped]

    async def body(self) -> AsyncIterator[bytes]:
        while True:
            while self._pieces:
                yield self._pieces.pop(0)
            if self._complete:
                return
            data = await self._reader.read(_PIECE)
            if not data:
                raise BadRequest("the request ended before its body did")
            self._feed(data)

    def on_url(self, url: bytes) -> None:
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        if not self._complete:
            self.headers.append((name, value))

    def on_body(self, body: bytes) -> None:
        if not self._complete:
            self._pieces.append(body)

    def on_message_complete(self) -> None:
        self._complete = True

    def _feed(self, data: bytes) -> None:
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            raise BadRequest("a connection cannot be upgraded here; use https or wss") from None
        except httptools.HttpParserError as error:
            raise BadRequest(f"the request is not valid HTTP ({error})") from None
