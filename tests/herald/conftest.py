"""A scripted provider, both event loops, and a server that sends exactly the bytes it is told."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import pytest
import uvloop

from aster.testing import ModelServer

Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
RawServer = Callable[[Handler], AbstractAsyncContextManager[str]]


def pytest_asyncio_loop_factories() -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    """Sockets behave a little differently under uvloop, so every test here runs on both loops."""
    return {"asyncio": asyncio.new_event_loop, "uvloop": uvloop.new_event_loop}


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    async with ModelServer() as running:
        yield running


@pytest.fixture
def raw_server() -> RawServer:
    """Serves every connection with the handler given; yields the server's address."""

    @asynccontextmanager
    async def serve(handler: Handler) -> AsyncIterator[str]:
        running: set[asyncio.Task[None]] = set()

        async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            assert task is not None
            running.add(task)
            with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
                await handler(reader, writer)
            writer.close()
            with contextlib.suppress(ConnectionError, asyncio.CancelledError):
                await writer.wait_closed()

        listening = await asyncio.start_server(handle, "127.0.0.1", 0)
        host, port = listening.sockets[0].getsockname()
        try:
            yield f"http://{host}:{port}"
        finally:
            listening.close()
            for task in running:
                task.cancel()
            await asyncio.gather(*running)

    return serve
