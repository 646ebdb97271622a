"""A small pool of reading connections: a query never waits for the writer, and never blocks the loop."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

from aster.brain.sqlite.connection import BrainConnection, connect

P = ParamSpec("P")
T = TypeVar("T")


class Readers:
    def __init__(self, path: Path, size: int = 3) -> None:
        self._path = path
        self._local = threading.local()
        self._opened: list[BrainConnection] = []
        self._pool = ThreadPoolExecutor(size, thread_name_prefix="aster-reader")

    async def run(
        self, query: Callable[Concatenate[BrainConnection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run a query function; a caller that is cancelled leaves the connection whole."""

        def call() -> T:
            return query(self._connection(), *args, **kwargs)

        return await asyncio.get_running_loop().run_in_executor(self._pool, call)

    def _connection(self) -> BrainConnection:
        connection: BrainConnection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = connect(self._path, readonly=True)
            self._local.connection = connection
            self._opened.append(connection)
        return connection

    def close(self) -> None:
        self._pool.shutdown(wait=True)
        for connection in self._opened:
            connection.close()
