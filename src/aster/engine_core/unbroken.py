"""What is begun is done: a step that takes two commits is not left half way because whoever asked for it has gone.

A client gives up, its request is cancelled, and a turn would stand there as this process's with nobody running it.
"""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class Unbroken:
    def __init__(self) -> None:
        self._doing: set[asyncio.Task[Any]] = set()

    async def do(self, work: Coroutine[Any, Any, T]) -> T:
        """Do something to its end; whoever waits for it may go."""
        task = asyncio.get_running_loop().create_task(work)
        self._doing.add(task)
        task.add_done_callback(self._doing.discard)
        return await asyncio.shield(task)

    async def idle(self, seconds: float) -> None:
        """Wait until all of it is done, or the time is up."""
        if self._doing:
            await asyncio.wait(self._doing, timeout=seconds)
