"""Hears what other replicas have written, on a thread and a connection of its own; hints that come together are told as
one. While the connection is being made anew hints are missed, so the first thing told after it is that anything may
have changed."""

import asyncio
import logging
import os
import select
import threading
from collections.abc import Callable, Iterable
from typing import Final

import psycopg

from aster.brain.changes import Change
from aster.brain.postgres import hints
from aster.brain.postgres.connection import conninfo

log = logging.getLogger("aster.brain")

_RETRY_SECONDS: Final = 0.2


class Listener:
    def __init__(
        self, url: str, replica: str, loop: asyncio.AbstractEventLoop, heard: Callable[[Change], None]
    ) -> None:
        self._url = url
        self._replica = replica
        self._loop = loop
        self._heard = heard
        self._stopping = threading.Event()
        self._wake, self._waker = os.pipe()
        self._thread: threading.Thread | None = None

    async def start(self) -> None:
        connection = await asyncio.to_thread(self._connect)
        self._thread = threading.Thread(target=self._run, args=(connection,), name="aster-listener", daemon=True)
        self._thread.start()

    async def stop(self) -> None:
        self._stopping.set()
        os.close(self._waker)
        if self._thread is not None:
            await asyncio.to_thread(self._thread.join)
        os.close(self._wake)

    def _connect(self) -> psycopg.Connection:
        connection = psycopg.connect(conninfo(self._url), autocommit=True)
        try:
            connection.execute(f"LISTEN {hints.CHANNEL}")
        except psycopg.Error:
            connection.close()
            raise
        return connection

    def _run(self, connection: psycopg.Connection | None) -> None:
        while connection is not None:
            try:
                self._listen(connection)
            except psycopg.Error as error:
                log.warning("other replicas cannot be heard, connecting again: %s", error)
            finally:
                connection.close()
            connection = self._connect_again()
            if connection is not None:
                self._tell(Change(everything=True))

    def _connect_again(self) -> psycopg.Connection | None:
        while not self._stopping.is_set():
            try:
                return self._connect()
            except psycopg.Error:
                self._stopping.wait(_RETRY_SECONDS)
        return None

    def _listen(self, connection: psycopg.Connection) -> None:
        """Until the connection is lost, or the brain is closed."""
        server, waiting = connection.pgconn, select.poll()
        waiting.register(server.socket, select.POLLIN)
        waiting.register(self._wake, select.POLLIN)
        while not self._stopping.is_set():
            waiting.poll()
            server.consume_input()
            told: list[hints.Hint] = []
            while (notify := server.notifies()) is not None:
                told.append(hints.read(notify.extra))
            change = merged(hint for hint in told if hint.replica != self._replica)
            if change is not None:
                self._tell(change)

    def _tell(self, change: Change) -> None:
        try:
            self._loop.call_soon_threadsafe(self._heard, change)
        except RuntimeError:
            log.debug("the loop is gone; nobody is left to hear")


def merged(told: Iterable[hints.Hint]) -> Change | None:
    """Hints that came together, as one; None when there was none."""
    changes = [hint.change() for hint in told]
    if len(changes) < 2:
        return changes[0] if changes else None
    return Change(
        frozenset().union(*(change.threads for change in changes)),
        frozenset().union(*(change.tables for change in changes)),
        any(change.everything for change in changes),
    )
