"""Threads for blocking file work, apart from the event loop and from every other thread of the engine.

Each thread takes on the tools' identity when it starts and never runs anything else, so no code path can forget to
take it on or to give it back.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from aster.sandbox.identity import Identity, assume_in_thread
from aster.sandbox.settle import uninterrupted

T = TypeVar("T")


class FileThreads:
    """A few threads that read and write files as `identity` (as the engine itself when it is None)."""

    def __init__(self, identity: Identity | None, workers: int = 4) -> None:
        def take_on() -> None:
            if identity is not None:
                assume_in_thread(identity)

        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="aster-files", initializer=take_on)

    async def call(self, work: Callable[..., T], *arguments: object) -> T:
        """Run `work` there. A cancelled caller waits until it is over: a write is never left half known."""
        return await uninterrupted(asyncio.get_running_loop().run_in_executor(self._pool, work, *arguments))

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)
