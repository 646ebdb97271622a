"""The runner starts, cancels and resumes segments, and nothing more; what a segment does is not its business.

`local` runs them as asyncio tasks of this process, at most as many at a time as there are slots.
"""

import asyncio
from collections import deque
from collections.abc import Coroutine
from typing import Any, Protocol, TypeAlias

from aster.brain.records import ThreadKey

Work: TypeAlias = Coroutine[Any, Any, None]


class Runner(Protocol):
    def try_slot(self) -> bool:
        """Take a slot if one is free; whoever took it gives it back."""
        ...

    def give_back(self) -> None: ...

    async def acquire(self) -> None:
        """Wait for a slot."""
        ...

    def start(self, key: ThreadKey, work: Work) -> None:
        """Run a segment of this thread."""
        ...

    def cancel(self, key: ThreadKey) -> bool:
        """Interrupt the segment that runs for this thread, if one does."""
        ...

    async def idle(self, timeout: float) -> bool:
        """Wait until nothing runs; false when the time is up first."""
        ...

    async def stop(self) -> None:
        """Interrupt everything and wait until it is gone."""
        ...

    @property
    def slots(self) -> tuple[int, int]:
        """Slots in use and slots in all."""
        ...


class LocalRunner:
    def __init__(self, slots: int) -> None:
        self._total = slots
        self._used = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._tasks: dict[ThreadKey, asyncio.Task[None]] = {}

    def try_slot(self) -> bool:
        if self._used >= self._total:
            return False
        self._used += 1
        return True

    def give_back(self) -> None:
        """Hand the slot to whoever waits longest, or free it."""
        while self._waiting:
            waiter = self._waiting.popleft()
            if not waiter.done():
                waiter.set_result(None)
                return
        self._used -= 1

    async def acquire(self) -> None:
        if self.try_slot():
            return
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(waiter)
        try:
            await waiter
        except asyncio.CancelledError:
            if waiter.done() and not waiter.cancelled():
                self.give_back()
            raise

    def start(self, key: ThreadKey, work: Work) -> None:
        task = asyncio.get_running_loop().create_task(work, name=f"segment {key.task_id}")
        self._tasks[key] = task
        task.add_done_callback(lambda done: self._gone(key, done))

    def _gone(self, key: ThreadKey, task: "asyncio.Task[None]") -> None:
        if self._tasks.get(key) is task:
            del self._tasks[key]
        if not task.cancelled() and task.exception() is not None:
            task.get_loop().call_exception_handler(
                {"message": "a segment failed outside its turn", "exception": task.exception(), "task": task}
            )

    def cancel(self, key: ThreadKey) -> bool:
        task = self._tasks.get(key)
        return task.cancel() if task is not None else False

    async def idle(self, timeout: float) -> bool:
        running = list(self._tasks.values())
        if not running:
            return True
        _, late = await asyncio.wait(running, timeout=timeout)
        return not late

    async def stop(self) -> None:
        running = list(self._tasks.values())
        for task in running:
            task.cancel()
        if running:
            await asyncio.wait(running)

    @property
    def slots(self) -> tuple[int, int]:
        return self._used, self._total
