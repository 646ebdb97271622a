"""One HTTP/1.1 connection to a provider: a request goes out, its response comes back in network-sized pieces.

All body bytes of one read from the socket are handed over together, however finely the provider chunked
them, and silence is watched by one timer per response instead of one per read. Closing is immediate.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import cast

import httptools
import httpx2

_HIGH_WATER = 64 * 1024
_FRAMING = (b"content-length", b"transfer-encoding")


class Connection(asyncio.Protocol):
    """Serves one request at a time; `gone` is called once, when the connection has ended.

    `heard` says that something of the answer under way has come.
    """

    def __init__(self, gone: Callable[["Connection"], None]) -> None:
        self.status = 0
        self.heard = False
        self.headers: list[tuple[bytes, bytes]] = []
        self._gone = gone
        self._loop = asyncio.get_running_loop()
        self._socket: asyncio.Transport | None = None
        self._parser: httptools.HttpResponseParser | None = None
        self._error: httpx2.TransportError | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._idle = self._limit = self._since = 0.0
        self._parts: list[bytes] = []
        self._size = 0
        self._paused = False
        self._complete = True
        self._keep = True
        self._expect_head()

    @property
    def reusable(self) -> bool:
        """Whether the last exchange left nothing behind that a next one could trip over."""
        socket = self._socket
        return self._complete and self._keep and socket is not None and not socket.get_write_buffer_size()

    def send(self, data: Sequence[bytes], first_byte: float, idle: float) -> None:
        """Sends a request; its first body byte may take `first_byte` seconds, each silence after that `idle`."""
        assert self._socket is not None
        self._parser = httptools.HttpResponseParser(self)
        self._complete = self._keep = self.heard = False
        self._expect_head()
        self._idle, self._limit, self._since = idle, first_byte, self._loop.time()
        self._watch_until(self._since + first_byte)
        self._socket.writelines(data)

    async def head(self) -> None:
        """Waits until status and headers are here."""
        while not self._head_complete:
            await self._wait()

    async def read(self) -> bytes:
        """All that has arrived of the body, waiting for some if there is none; empty at its end."""
        while not self._parts:
            if self._complete:
                return b""
            await self._wait()
        parts, self._parts, self._size = self._parts, [], 0
        if self._paused and self._socket is not None and not self._socket.is_closing():
            self._paused = False
            self._socket.resume_reading()
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def rest(self, seconds: float) -> None:
        """Stays open for a next request that long."""
        self._unwatch()
        self._timer = self._loop.call_later(seconds, self.close)

    def close(self) -> None:
        """Ends the connection at once, whatever is under way."""
        self._unwatch()
        if self._socket is not None:
            self._socket.abort()

    async def _wait(self) -> None:
        if self._error is not None:
            raise self._error
        if self._flowing:
            self._since = self._loop.time()
        self._waiter = self._loop.create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def _fail(self, error: httpx2.TransportError) -> None:
        self._error = self._error or error
        self.close()
        self._wake()

    def _watch_until(self, due: float) -> None:
        self._unwatch()
        self._timer = self._loop.call_at(due, self._watch)

    def _unwatch(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _watch(self) -> None:
        """Silence counts while somebody waits; a reader that is busy elsewhere is no fault of the provider."""
        now = self._loop.time()
        due = now + self._limit if self._waiter is None else self._since + self._limit
        if due > now:
            self._watch_until(due)
        else:
            what = "was silent" if self._flowing else "sent no answer"
            self._fail(httpx2.ReadTimeout(f"the provider {what} for {self._limit:g} s"))

    def _expect_head(self) -> None:
        self.headers = []
        self._head_complete = self._flowing = False
        self._until_close = True

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._socket = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        if self._parser is None:
            self.close()
            return
        self.heard = True
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade):
            self._fail(httpx2.RemoteProtocolError("the provider's answer is not valid HTTP/1.1"))
            return
        if self._size > _HIGH_WATER and not self._paused and self._socket is not None:
            self._paused = True
            self._socket.pause_reading()
        self._wake()

    def eof_received(self) -> None:
        if self._head_complete and self._until_close:
            self._complete = True
            self._wake()

    def connection_lost(self, exc: Exception | None) -> None:
        self._unwatch()
        self._socket = None
        if not self._complete and self._error is None:
            text = f"the connection broke ({exc})" if exc else "the provider hung up before its answer was complete"
            self._error = httpx2.ReadError(text)
        self._wake()
        self._gone(self)

    def on_message_begin(self) -> None:
        if self._complete:
            self._keep = False

    def on_header(self, name: bytes, value: bytes) -> None:
        self.headers.append((name, value))
        if name.lower() in _FRAMING:
            self._until_close = False

    def on_headers_complete(self) -> None:
        if self._parser is not None:
            self.status = self._parser.get_status_code()
            self._head_complete = self.status >= 200

    def on_body(self, body: bytes) -> None:
        self._parts.append(body)
        self._size += len(body)
        if not self._flowing:
            self._flowing = True
            self._limit, self._since = self._idle, self._loop.time()
            self._watch_until(self._since + self._idle)

    def on_message_complete(self) -> None:
        if not self._head_complete:
            self._expect_head()
        elif self._parser is not None:
            self._complete = True
            self._keep = self._parser.should_keep_alive()
            self._parser = None
            self._unwatch()
