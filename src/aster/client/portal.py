"""An event loop on a thread of its own, for programs that have none, or whose own must not be waited on.

Whoever calls waits in their own thread, in which callbacks are run too; leaving (an exception, Ctrl-C, a loop that is
left) cancels what was begun for them, and returns when that is over. The thread ends with `close`, or with the last one
who could have called it.
"""

import asyncio
import os
import threading
import weakref
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from typing import Any, TypeAlias, TypeVar

from aster.client.job import Job

T = TypeVar("T")
Farewell: TypeAlias = Callable[[], Coroutine[Any, Any, None]]


class Portal:
    """The way to the loop, from any thread; `farewell` is the last thing done there."""

    def __init__(self, farewell: Farewell) -> None:
        self._farewell = farewell
        self._lock = threading.Lock()
        self._pid = os.getpid()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._end: Callable[[], object] | None = None
        self._closed = False

    def call(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """What the work gives, once it is done."""

        async def alone() -> AsyncGenerator[T]:
            yield await work()

        (value,) = self.stream(alone)
        return value

    def stream(self, work: Callable[[], AsyncGenerator[T]]) -> Generator[T]:
        """What the work yields, as it comes."""
        job = self._begin(work)
        try:
            yield from job.values()
        finally:
            job.leave()

    def close(self) -> None:
        """End the thread. What is under way in other threads ends with a RuntimeError."""
        with self._lock:
            self._closed = True
        if self._end is not None:
            self._end()

    def _begin(self, work: Callable[[], AsyncGenerator[T]]) -> Job[T]:
        with self._lock:
            if self._closed:
                raise RuntimeError("This client is closed.")
            if os.getpid() != self._pid:
                raise RuntimeError("A client cannot be taken into a forked process; make another one there.")
            if threading.current_thread() is self._thread:
                raise RuntimeError("An async callback must not wait for its own client; use a plain function.")
            return Job(self._loop or self._start(), work)

    def _start(self) -> asyncio.AbstractEventLoop:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=_serve, args=(self._loop,), name="aster-client", daemon=True)
        self._thread.start()
        self._end = weakref.finalize(self, _shut, self._loop, self._thread, self._farewell)
        return self._loop


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
    finally:
        loop.close()


def _shut(loop: asyncio.AbstractEventLoop, thread: threading.Thread, farewell: Farewell) -> None:
    """End a loop and its thread; when that very thread dropped the portal, as soon as it can."""
    if not thread.is_alive():
        return
    asyncio.run_coroutine_threadsafe(_wind_up(loop, farewell), loop)
    if threading.current_thread() is not thread:
        thread.join()


async def _wind_up(loop: asyncio.AbstractEventLoop, farewell: Farewell) -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    try:
        await farewell()
        await loop.shutdown_asyncgens()
        await loop.shutdown_default_executor()
    finally:
        loop.stop()
