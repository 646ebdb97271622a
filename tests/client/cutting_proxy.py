"""A TCP proxy that cuts connections where it is told to: so many bytes into an answer, or before the request."""

import asyncio
from collections.abc import Iterator
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

REFUSE = -1
"""Hang up on the client at once; the request never reaches the engine."""


class CuttingProxy:
    """Passes bytes on to `upstream` until `cut` says where connections end."""

    def __init__(self, upstream: str) -> None:
        parts = urlsplit(upstream)
        assert parts.hostname is not None
        assert parts.port is not None
        self._upstream = (parts.hostname, parts.port)
        self._cuts: Iterator[int] = iter(())
        self._request: bytes | None = None
        self._work: set[asyncio.Task[None]] = set()
        self.made = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    def cut(self, *after: int, request: str | None = None) -> None:
        """End every connection now, and the next ones after so many bytes of the answer, one after the other.

        With `request`, only answers to requests that begin so are counted and cut.
        """
        self.made = 0
        self._cuts = iter(after)
        self._request = request.encode() if request else None
        for task in self._work:
            task.cancel()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.close()
        for task in list(self._work):
            task.cancel()
        await asyncio.gather(*self._work, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._work.add(task)
        self.made += 1
        try:
            await self._pass_on(reader, writer)
        except (OSError, asyncio.CancelledError):
            pass
        finally:
            self._work.discard(task)
            writer.transport.abort()

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        exchange = _Exchange(None if self._request else next(self._cuts, None))
        if exchange.left == REFUSE:
            return
        above, below = await asyncio.open_connection(*self._upstream)
        asking = asyncio.create_task(self._ask(reader, below, exchange))
        try:
            await exchange.answer(above, writer)
        finally:
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)
            below.transport.abort()

    async def _ask(self, reader: asyncio.StreamReader, below: asyncio.StreamWriter, exchange: "_Exchange") -> None:
        while data := await reader.read(65536):
            if self._request is not None and data.startswith(self._request):
                exchange.left = next(self._cuts, None)
            below.write(data)
            await below.drain()


class _Exchange:
    """What one connection may still answer; None is everything."""

    def __init__(self, left: int | None) -> None:
        self.left = left

    async def answer(self, above: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await above.read(65536):
            passed = data if self.left is None else data[: self.left]
            writer.write(passed)
            await writer.drain()
            if self.left is not None:
                self.left -= len(passed)
                if self.left <= 0:
                    return
