"""A stage for several replicas: one model server, one PostgreSQL, three engines on it, and one engine on SQLite beside.

Replicas are asked directly, in turn: a balancer of ours would only measure itself.
"""

import itertools
import os
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from aster.testing.postgres import PostgresServer
from benchmarks.prompt import Prompt, say
from benchmarks.servers import Server, aster_server, model_server
from benchmarks.stage import WARM_TURNS, running
from benchmarks.subjects import Aster, Turn

REPLICAS = 3
VAULT_KEY = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="


@dataclass(slots=True)
class Stage:
    model: Server
    database: PostgresServer
    replicas: list[Aster]
    alone: Aster
    """The same engine on a SQLite file."""
    _numbers: "itertools.count[int]" = field(default_factory=itertools.count)

    async def turn(self, subject: Aster, prompt: Prompt) -> Turn:
        """A turn on a task that no replica has had."""
        return await subject.turn(prompt, f"cluster-{next(self._numbers)}")

    def processor(self) -> dict[str, float]:
        """Seconds of processor time that each part has used."""
        used = {f"replica {n}": one.server.cpu_seconds() for n, one in enumerate(self.replicas, 1)}
        own = psutil.Process(os.getpid()).cpu_times()
        return {
            **used,
            "database": family_seconds(self.database.pid),
            "model": self.model.cpu_seconds(),
            "load generator": own.user + own.system,
        }

    async def number(self, query: str) -> float:
        """A number from the engine's database."""
        return float(await self.database.sql(query, "aster"))


def family_seconds(pid: int) -> float:
    """What a process and its children have used; those that have gone are forgotten."""
    process = psutil.Process(pid)
    times = [one.cpu_times() for one in (process, *process.children())]
    return sum(time.user + time.system for time in times)


@asynccontextmanager
async def replicated_stage(directory: Path) -> AsyncIterator[Stage]:
    """Everything started and warm. The directory is opened to others: as root the database is somebody else."""
    directory.chmod(0o755)
    async with AsyncExitStack() as stack:
        database = PostgresServer(directory / "postgres")
        await database.start()
        stack.push_async_callback(database.stop)
        model = await stack.enter_async_context(running(model_server(directory)))
        shared = {"DATABASE_URL": database.url(), "AD_ENCRYPTION_KEY": VAULT_KEY}
        servers = [aster_server(directory, model, f"replica-{n}", **shared) for n in range(REPLICAS)]
        subjects = [Aster(await stack.enter_async_context(running(server))) for server in servers]
        alone = Aster(await stack.enter_async_context(running(aster_server(directory / "alone", model))))
        on = Stage(model, database, subjects, alone)
        for subject in (*subjects, alone):
            for _ in range(WARM_TURNS):
                await on.turn(subject, say(20))
        yield on
