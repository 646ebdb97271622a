"""A few reading connections, each with a thread of its own: a query never blocks the loop, and a caller that is
cancelled leaves its connection whole.

A reader sees one user's rows at a time, those of the user it reads for; only a query that belongs to nobody sees all.
When the server goes away a query is asked again until it is back, for a while.
"""

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from inspect import signature
from typing import Any, Concatenate, Final, ParamSpec, TypeVar

import psycopg

from aster.brain.postgres.connection import PostgresConnection
from aster.brain.postgres.faults import passing, unreachable

P = ParamSpec("P")
T = TypeVar("T")

_WAITS: Final = (0.0, 0.05, 0.2, 0.5)


class Readers:
    def __init__(self, url: str, size: int, patience: float) -> None:
        self._url = url
        self._patience = patience
        self._local = threading.local()
        self._opened: set[PostgresConnection] = set()
        self._closing = threading.Event()
        self._pool = ThreadPoolExecutor(size, thread_name_prefix="aster-reader")
        self._glances = ThreadPoolExecutor(1, thread_name_prefix="aster-glance")

    async def run(
        self, query: Callable[Concatenate[PostgresConnection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run a query function, for the user its first argument names."""
        user_id = _reader(query, args)

        def call() -> T:
            return self._persist(lambda db: query(db, *args, **kwargs), user_id, self._patience)

        return await asyncio.get_running_loop().run_in_executor(self._pool, call)

    async def glance(self, query: Callable[[PostgresConnection], T]) -> T:
        """Run a query of nobody's that is not worth waiting for, beside those that wait."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._glances, self._persist, query, None, 0.0)

    def _persist(self, query: Callable[[PostgresConnection], T], user_id: str | None, patience: float) -> T:
        until = time.monotonic() + patience
        tries = 0
        while True:
            try:
                db = self._connection()
                db.serve(user_id)
                found = query(db)
                db.sync()
                return found
            except psycopg.Error as error:
                if not passing(error):
                    raise
                if tries and (time.monotonic() >= until or self._closing.is_set()):
                    raise unreachable(error) from error
            self._closing.wait(_WAITS[min(tries, len(_WAITS) - 1)])
            tries += 1

    def _connection(self) -> PostgresConnection:
        connection: PostgresConnection | None = getattr(self._local, "connection", None)
        if connection is not None and connection.broken:
            self._opened.discard(connection)
            connection.close()
            connection = None
        if connection is None:
            connection = PostgresConnection(self._url, default_transaction_read_only="on")
            self._local.connection = connection
            self._opened.add(connection)
        return connection

    def close(self) -> None:
        self._closing.set()
        self._pool.shutdown(wait=True)
        self._glances.shutdown(wait=True)
        for connection in self._opened:
            connection.close()


def _reader(query: Callable[..., Any], args: tuple[Any, ...]) -> str | None:
    """For whom a query reads: its first argument is a user, or belongs to one."""
    if not args:
        return None
    first = args[0]
    if isinstance(first, str):
        return first if _first_name(query) == "user_id" else None
    return getattr(first, "user_id", None)


@lru_cache(512)
def _first_name(query: Callable[..., Any]) -> str | None:
    """The name of a query's first parameter after the connection."""
    names = list(signature(query).parameters)
    return names[1] if len(names) > 1 else None
