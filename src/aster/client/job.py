"""Work on an event loop, as the thread that waits for it sees it: values and calls in order, then the end.

A value is handed over once; work is never far ahead of who reads it. A callback runs in the thread that waits, when
everything before it was read.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import aclosing
from dataclasses import dataclass
from queue import SimpleQueue
from threading import Thread, current_thread
from typing import Any, Generic, TypeVar

from aster.client.callbacks import HOST

T = TypeVar("T")

_AHEAD = 64
"""How many values may wait to be read."""


@dataclass(frozen=True, slots=True)
class _Value(Generic[T]):
    value: T


@dataclass(frozen=True, slots=True)
class _Call:
    """Something to run in the thread that waits, and where to put what came of it."""

    work: Callable[[], Any]
    outcome: "asyncio.Future[tuple[Any, Exception | None]]"


@dataclass(frozen=True, slots=True)
class _Over:
    """The end; `error` is why, and None also when the work was cancelled."""

    error: BaseException | None
    cancelled: bool


class Job(Generic[T]):
    """Begins its work on the loop at once."""

    def __init__(self, loop: asyncio.AbstractEventLoop, work: Callable[[], AsyncGenerator[T]]) -> None:
        self._loop = loop
        self._work = work
        self._said: SimpleQueue[_Value[T] | _Call | _Over] = SimpleQueue()
        self._room = asyncio.Semaphore(_AHEAD)
        self._task: asyncio.Task[None] | None = None
        self._thread: Thread | None = None
        self._over = False
        loop.call_soon_threadsafe(self._start)

    def values(self) -> Generator[T]:
        """Wait for what the work has to say, to its end."""
        while True:
            match self._said.get():
                case _Value(value):
                    self._post(self._room.release)
                    yield value
                case _Call() as call:
                    self._serve(call)
                case _Over(error, cancelled):
                    if error is not None:
                        raise error
                    if cancelled:
                        raise RuntimeError("The client was closed while this was under way.")
                    return

    def leave(self) -> None:
        """Cancel the work unless it is over, and wait for its end."""
        if self._over or not self._post(self._cancel) or current_thread() is self._thread:
            return
        while not isinstance(self._said.get(), _Over):
            pass

    def _post(self, work: Callable[..., object], *args: Any) -> bool:
        """Have the loop do something; False when it is there no more."""
        try:
            self._loop.call_soon_threadsafe(work, *args)
        except RuntimeError:
            return False
        return True

    def _serve(self, call: _Call) -> None:
        try:
            outcome = call.work(), None
        except Exception as error:  # noqa: BLE001 - a callback's error is raised where the callback was asked
            outcome = None, error
        self._post(_settle, call.outcome, outcome)

    def _start(self) -> None:
        self._thread = current_thread()
        self._task = self._loop.create_task(self._run())
        self._task.add_done_callback(self._ended)

    def _cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()

    def _ended(self, task: "asyncio.Task[None]") -> None:
        self._over = True
        cancelled = task.cancelled()
        self._said.put(_Over(None if cancelled else task.exception(), cancelled))

    async def _run(self) -> None:
        HOST.set(self._host)
        async with aclosing(self._work()) as values:
            async for value in values:
                await self._room.acquire()
                self._said.put(_Value(value))

    async def _host(self, work: Callable[[], Any]) -> Any:
        call = _Call(work, self._loop.create_future())
        self._said.put(call)
        value, error = await call.outcome
        if error is not None:
            raise error
        return value


def _settle(outcome: "asyncio.Future[tuple[Any, Exception | None]]", value: tuple[Any, Exception | None]) -> None:
    if not outcome.done():
        outcome.set_result(value)
