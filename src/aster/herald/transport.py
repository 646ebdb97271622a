"""Connections to providers, kept and reused: httpx2's transport interface over `connection.Connection`.

It follows nothing, reads no proxy from the environment and retries nothing, except on a kept connection that was
already dead: llama.cpp, for one, promises to keep a connection and closes it. How many connections there are
is not its business: the engine's slots bound that. Where a proxy is needed, httpx2's own transport fits in
its place.
"""

import asyncio
import ssl
from collections.abc import AsyncIterator
from typing import TypeAlias

import httpx2

from aster.herald.connection import Connection

_KEEP_SECONDS = 50.0

_Origin: TypeAlias = tuple[str, str, int]


class KeepAliveTransport(httpx2.AsyncBaseTransport):
    """A request's `timeout` extension gives `connect` and `read` (to the first byte), `idle_timeout` the rest."""

    def __init__(self) -> None:
        self._resting: dict[_Origin, list[Connection]] = {}
        self._all: set[Connection] = set()
        self._tls: ssl.SSLContext | None = None

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        url = request.url
        origin = (url.scheme, url.host, url.port or (443 if url.scheme == "https" else 80))
        timeouts = request.extensions["timeout"]
        lines = [b"%s %s HTTP/1.1\r\n" % (request.method.encode(), url.raw_path)]
        lines.extend(b"%s: %s\r\n" % header for header in request.headers.raw)
        head = b"".join(lines) + b"\r\n"
        body = await request.aread()
        limits = timeouts["read"], request.extensions["idle_timeout"]
        kept = self._take(origin)
        if kept is not None:
            try:
                return await self._exchange(origin, kept, [head, body], *limits)
            except httpx2.ReadError:
                if kept.heard:
                    raise
        fresh = await self._connect(origin, timeouts["connect"])
        return await self._exchange(origin, fresh, [head, body], *limits)

    async def _exchange(
        self, origin: _Origin, connection: Connection, data: list[bytes], first_byte: float, idle: float
    ) -> httpx2.Response:
        body = _Body(self, origin, connection)
        try:
            connection.send(data, first_byte, idle)
            await connection.head()
        except BaseException:
            connection.close()
            raise
        return httpx2.Response(connection.status, headers=connection.headers, stream=body)

    async def aclose(self) -> None:
        for connection in list(self._all):
            connection.close()
        self._resting.clear()

    def release(self, origin: _Origin, connection: Connection) -> None:
        """Takes back a connection whose exchange is over, or ends it if it is not."""
        if connection.reusable and connection in self._all:
            connection.rest(_KEEP_SECONDS)
            self._resting.setdefault(origin, []).append(connection)
        else:
            connection.close()

    def _take(self, origin: _Origin) -> Connection | None:
        resting = self._resting.get(origin, [])
        while resting:
            connection = resting.pop()
            if connection.reusable:
                return connection
        return None

    async def _connect(self, origin: _Origin, seconds: float) -> Connection:
        scheme, host, port = origin
        if scheme == "https" and self._tls is None:
            self._tls = httpx2.create_ssl_context()
        tls = self._tls if scheme == "https" else None
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(seconds):
                _, connection = await loop.create_connection(lambda: Connection(self._gone), host, port, ssl=tls)
        except TimeoutError:
            raise httpx2.ConnectTimeout(f"no connection to {host}:{port} within {seconds:g} s") from None
        except (OSError, UnicodeError) as error:
            raise httpx2.ConnectError(f"no connection to {host}:{port}: {error}") from error
        self._all.add(connection)
        return connection

    def _gone(self, connection: Connection) -> None:
        self._all.discard(connection)
        for resting in self._resting.values():
            if connection in resting:
                resting.remove(connection)


class _Body(httpx2.AsyncByteStream):
    """The body of one response; left early, it takes its connection with it."""

    def __init__(self, transport: KeepAliveTransport, origin: _Origin, connection: Connection) -> None:
        self._transport = transport
        self._origin = origin
        self._connection: Connection | None = connection

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        if self._connection is not None:
            data = await self._connection.read()
            if data:
                return data
            await self.aclose()
        raise StopAsyncIteration

    async def aclose(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            self._transport.release(self._origin, connection)
