"""A TCP proxy that cuts connections where it is told to: so many bytes into the answer, or before the request."""

import asyncio
from collections.abc import Iterator
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

REFUSE = -1
"""Hang up on the client at once; the request never reaches the engine."""


class CuttingProxy:
    """Passes bytes on to `upstream` until `cut` says where the connections to come end."""

    def __init__(self, upstream: str) -> None:
        parts = urlsplit(upstream)
        assert parts.hostname is not None
        assert parts.port is not None
        self._upstream = (parts.hostname, parts.port)
        self._cuts: Iterator[int | None] = iter(())
        self._work: set[asyncio.Task[None]] = set()
        self.made = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    def cut(self, *after: int | None) -> None:
        """End every connection now, and the next ones after so many bytes of the answer (None: never)."""
        self.made = 0
        self._cuts = iter(after)
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
            await self._pass_on(reader, writer, next(self._cuts, None))
        except (OSError, asyncio.CancelledError):
            pass
        finally:
            self._work.discard(task)
            writer.transport.abort()

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, cut: int | None) -> None:
        if cut == REFUSE:
            return
        above, below = await asyncio.open_connection(*self._upstream)
        asking = asyncio.create_task(_copy(reader, below, None))
        try:
            await _copy(above, writer, cut)
        finally:
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)
            below.transport.abort()


async def _copy(source: asyncio.StreamReader, sink: asyncio.StreamWriter, most: int | None) -> None:
    left = most
    while left is None or left > 0:
        data = await source.read(65536 if left is None else min(left, 65536))
        if not data:
            return
        sink.write(data)
        await sink.drain()
        left = None if left is None else left - len(data)
