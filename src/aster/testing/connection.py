"""HTTP/1.1 over one TCP connection, with nothing between the script and the socket.

Requests of a connection are answered one after the other. When the client goes away the handler of its
request is cancelled at once, wherever it waits; that is how a stall of any length ends.
"""

import asyncio
import socket
import struct
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from http.client import responses
from typing import TypeAlias, cast
from urllib.parse import parse_qsl, urlsplit

import httptools
from msgspec import Struct

_RESET_ON_CLOSE = struct.pack("ii", 1, 0)


class Request(Struct, frozen=True):
    """One HTTP request, read to its end. Header names are lower case."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes
    keep_alive: bool
    arrived: float


class Exchange:
    """The answering side of one request: a head, then bytes, then the end (or none)."""

    def __init__(self, connection: "Connection", request: Request) -> None:
        self.request = request
        self.on_first_byte: Callable[[float], None] | None = None
        self._connection = connection
        self._head = b""
        self._chunked = False

    @property
    def lost(self) -> bool:
        """True when the client ended the connection."""
        return self._connection.lost

    def begin(self, status: int, headers: Mapping[str, str], length: int | None) -> None:
        """Sets the head, which leaves with the first bytes; without a length the body is chunked."""
        lines = [
            f"HTTP/1.1 {status} {responses.get(status, 'Unknown')}",
            *(f"{name}: {value}" for name, value in headers.items()),
        ]
        self._chunked = length is None
        lines.append("transfer-encoding: chunked" if length is None else f"content-length: {length}")
        if not self.request.keep_alive:
            lines.append("connection: close")
        self._head = "\r\n".join([*lines, "", ""]).encode("latin-1")

    def send(self, data: bytes, *, last: bool = False) -> None:
        if self._chunked:
            data = b"%x\r\n%s\r\n" % (len(data), data) if data else b""
            if last:
                data += b"0\r\n\r\n"
        if self._head:
            data = self._head + data
            self._head = b""
        if not data:
            return
        if self.on_first_byte is not None:
            self.on_first_byte(time.monotonic())
            self.on_first_byte = None
        self._connection.transport.write(data)

    async def drain(self) -> None:
        """Waits until the client has read enough for more to be written."""
        await self._connection.writable.wait()

    def cut(self, *, reset: bool) -> None:
        """Ends the connection here. What was sent before still arrives."""
        connection = self._connection
        connection.closing = True
        if not reset:
            connection.transport.close()
            return
        raw: socket.socket | None = connection.transport.get_extra_info("socket")
        if raw is not None:
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_ON_CLOSE)
        connection.transport.abort()


Handler: TypeAlias = Callable[[Exchange], Awaitable[None]]


class Connection(asyncio.Protocol):
    """One client connection."""

    transport: asyncio.Transport

    def __init__(self, handler: Handler, members: "set[Connection]") -> None:
        self.lost = False
        self.closing = False
        self.closed = asyncio.Event()
        self.writable = asyncio.Event()
        self.writable.set()
        self.task: asyncio.Task[None] | None = None
        self._handler = handler
        self._members = members
        self._waiting: deque[Request] = deque()
        self._parser = httptools.HttpRequestParser(self)
        self._url = b""
        self._headers: dict[str, str] = {}
        self._body: list[bytes] = []

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)  # uvloop's is one by shape, not by class
        self._members.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self.lost = not self.closing
        self.writable.set()
        self.closed.set()
        self._members.discard(self)
        if self.task is not None:
            self.task.cancel()

    def pause_writing(self) -> None:
        self.writable.clear()

    def resume_writing(self) -> None:
        self.writable.set()

    def data_received(self, data: bytes) -> None:
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError:
            self.closing = True
            self.transport.write(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
            self.transport.close()

    def on_message_begin(self) -> None:
        self._url = b""
        self._headers = {}
        self._body = []

    def on_url(self, url: bytes) -> None:
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers[name.decode("latin-1").lower()] = value.decode("latin-1")

    def on_headers_complete(self) -> None:
        if self._headers.get("expect", "").lower() == "100-continue":
            self.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")

    def on_body(self, body: bytes) -> None:
        self._body.append(body)

    def on_message_complete(self) -> None:
        url = urlsplit(self._url.decode("latin-1"))
        request = Request(
            method=self._parser.get_method().decode("latin-1"),
            path=url.path,
            query=dict(parse_qsl(url.query)),
            headers=self._headers,
            body=b"".join(self._body),
            keep_alive=self._parser.should_keep_alive(),
            arrived=time.monotonic(),
        )
        self._waiting.append(request)
        if self.task is None:
            self.task = asyncio.get_running_loop().create_task(self._answer())

    async def _answer(self) -> None:
        while self._waiting and not self.closing:
            request = self._waiting.popleft()
            try:
                await self._handler(Exchange(self, request))
            except Exception as error:  # noqa: BLE001 - the boundary of a connection: a bug ends it, loudly
                self._report(error)
            if not request.keep_alive:
                self.closing = True
                self.transport.close()
        self.task = None

    def _report(self, error: Exception) -> None:
        self.closing = True
        self.transport.abort()
        context = {"message": "the model server failed to answer", "exception": error, "protocol": self}
        asyncio.get_running_loop().call_exception_handler(context)

    async def abort(self) -> None:
        """Ends the connection from our side and waits until it is gone."""
        self.closing = True
        task = self.task
        self.transport.abort()
        await self.closed.wait()
        if task is not None:
            await asyncio.wait([task])
