"""A keep-alive HTTP/1.1 client that is never what is being measured.

Bytes are parsed where they arrive and stamped there, once per read, with the clock that the model server uses
(`time.monotonic`), so times can be compared between processes. A connection carries one request at a time.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic
from typing import TypeAlias, cast

import httptools

Take: TypeAlias = Callable[[bytes, float], bool]
"""Gets one server-sent event (without its blank line) and when it came; True leaves the stream."""


class Lost(Exception):
    """The connection ended before the answer did."""


class Refused(Exception):
    """The server answered with an error."""


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    body: bytes
    sent: float
    ended: float


class Connection(asyncio.Protocol):
    """One connection; `ask` puts a request on it and waits for the end of the answer."""

    def __init__(self) -> None:
        self.usable = False
        self.heard = False
        self._transport: asyncio.Transport | None = None
        self._done: asyncio.Future[None] | None = None
        self._take: Take | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self.usable = True

    def connection_lost(self, exc: Exception | None) -> None:
        self.usable = False
        self._finish(Lost("the connection ended before the answer did"))

    def data_received(self, data: bytes) -> None:
        self._now = monotonic()
        self.heard = True
        if self._done is None:
            self.drop()
            return
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError as error:
            self.drop()
            self._finish(Lost(f"not an HTTP answer: {error}"))

    def on_headers_complete(self) -> None:
        self._status = self._parser.get_status_code()
        if self._status != 200:
            self._take = None

    def on_body(self, body: bytes) -> None:
        take = self._take
        if take is None:
            self._body.append(body)
            return
        events = (self._rest + body if self._rest else body).split(b"\n\n")
        self._rest = events.pop()
        for event in events:
            if take(event, self._now):
                self._take = _ignore
                self.drop()
                self._finish(None)
                return

    def on_message_complete(self) -> None:
        if not self._parser.should_keep_alive():
            self.drop()
        self._finish(None)

    async def ask(self, request: bytes, take: Take | None) -> Answer:
        assert self._transport is not None
        self._parser = httptools.HttpResponseParser(self)
        self._take, self._rest, self._status = take, b"", 0
        self._body: list[bytes] = []
        self.heard = False
        self._done = asyncio.get_running_loop().create_future()
        sent = self._now = monotonic()
        self._transport.write(request)
        await self._done
        return Answer(self._status, b"".join(self._body), sent, self._now)

    def drop(self) -> None:
        self.usable = False
        if self._transport is not None:
            self._transport.abort()

    def _finish(self, error: Lost | None) -> None:
        done, self._done = self._done, None
        if done is None or done.done():
            return
        if error is None:
            done.set_result(None)
        else:
            done.set_exception(error)


def _ignore(event: bytes, at: float) -> bool:
    return False


class Client:
    """Connections to one server on loopback, as many as there are requests under way."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._idle: list[Connection] = []

    async def get(self, path: str, take: Take | None = None, *, timeout: float = 30.0) -> Answer:
        return await self._ask(self._head("GET", path), take, timeout)

    async def post(self, path: str, body: bytes, take: Take | None = None, *, timeout: float = 120.0) -> Answer:
        head = self._head("POST", path, f"content-type: application/json\r\ncontent-length: {len(body)}\r\n")
        return await self._ask(head + body, take, timeout)

    def close(self) -> None:
        while self._idle:
            self._idle.pop().drop()

    def _head(self, method: str, path: str, more: str = "") -> bytes:
        return f"{method} {path} HTTP/1.1\r\nhost: 127.0.0.1:{self._port}\r\n{more}\r\n".encode()

    async def _ask(self, request: bytes, take: Take | None, timeout: float) -> Answer:
        async with asyncio.timeout(timeout):
            answer = await self._on_idle(request, take) or await self._on(await self._connect(), request, take)
        if answer.status != 200:
            raise Refused(f"HTTP {answer.status}: {answer.body[:300].decode(errors='replace')}")
        return answer

    async def _on_idle(self, request: bytes, take: Take | None) -> Answer | None:
        """None when no kept connection could carry the request: the server had closed it meanwhile."""
        while self._idle:
            connection = self._idle.pop()
            if not connection.usable:
                continue
            try:
                return await self._on(connection, request, take)
            except Lost:
                if connection.heard:
                    raise
        return None

    async def _on(self, connection: Connection, request: bytes, take: Take | None) -> Answer:
        try:
            answer = await connection.ask(request, take)
        except BaseException:
            connection.drop()
            raise
        if connection.usable:
            self._idle.append(connection)
        return answer

    async def _connect(self) -> Connection:
        loop = asyncio.get_running_loop()
        _, connection = await loop.create_connection(Connection, "127.0.0.1", self._port)
        return connection
