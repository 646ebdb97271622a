"""Who runs the queries of a brain: readers, which never wait for the writer, and the one writer of the process."""

import asyncio
from collections.abc import Callable
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from aster.brain.protocol import BrainHealth
from aster.brain.records import ThreadKey
from aster.brain.sql.connection import Connection
from aster.brain.unit import Unit

P = ParamSpec("P")
T = TypeVar("T")


class Reads(Protocol):
    async def run(self, query: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a query function; a caller that is cancelled leaves the connection whole."""
        ...


class Writes(Protocol):
    fault: str | None
    commits: int
    events: int

    @property
    def backlog(self) -> int: ...
    def submit(self, unit: Unit) -> None: ...
    def held(self, key: ThreadKey) -> int | None: ...
    def run(self, job: Callable[[Connection], object]) -> "asyncio.Future[object]":
        """Run maintenance between two batches, in a transaction of its own."""
        ...

    def forget(self, key: ThreadKey) -> None:
        """Only for a job that runs on the writer: the thread is gone, so is what was cached of it."""
        ...


def report(writer: Writes, backend: str, version: int, fault: str | None) -> BrainHealth:
    """How a brain is, by its writer and by whoever has just read from it."""
    return BrainHealth(
        ok=fault is None,
        backend=backend,
        schema_version=version,
        backlog=writer.backlog,
        commits=writer.commits,
        events=writer.events,
        fault=fault,
    )
