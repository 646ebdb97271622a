"""An engine and its model on a thread of their own, for tests that block theirs."""

import asyncio
import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from aster.testing import ModelServer
from tests.live import live


@dataclass(slots=True)
class Elsewhere:
    url: str
    model: ModelServer
    loop: asyncio.AbstractEventLoop

    def release(self, name: str) -> None:
        self.loop.call_soon_threadsafe(self.model.release, name)


@contextmanager
def elsewhere(**settings: Any) -> Generator[Elsewhere]:
    ready: asyncio.Queue[Elsewhere] = asyncio.Queue()
    done = asyncio.Event()

    async def run() -> None:
        async with ModelServer() as model, live(model, **settings) as engine:
            ready.put_nowait(Elsewhere(engine.url, model, loop))
            await done.wait()

    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="elsewhere")
    thread.start()
    running = asyncio.run_coroutine_threadsafe(run(), loop)
    try:
        yield asyncio.run_coroutine_threadsafe(ready.get(), loop).result(30)
    finally:
        loop.call_soon_threadsafe(done.set)
        running.result(30)
        asyncio.run_coroutine_threadsafe(loop.shutdown_default_executor(), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
