"""A cluster on this machine, and the ways in which it is made to fail; each of them ends with everything running.

Three engines, one PostgreSQL, a balancer that sends every connection to a replica by chance. A replica that is frozen
and cut off from the database is a zombie: the others take its turns, and when it wakes it must not write.
"""

import asyncio
import os
import random
import signal
import tempfile
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx2
import psutil

from aster.testing.balancer import Balancer
from aster.testing.postgres import PostgresServer
from tests.process import Process, engine, model

REPLICAS = 3
VAULT_KEY = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="


@dataclass
class Cluster:
    directory: Path
    upstream: Process
    database: PostgresServer
    engines: list[Process]
    balancer: Balancer
    chance: random.Random
    happened: Counter[str] = field(default_factory=Counter[str])

    @property
    def workspace(self) -> Path:
        return self.directory / "workspaces" / "default"

    def schedule(self, count: int) -> list[Callable[[], Awaitable[None]]]:
        """So many faults in any order; every kind comes before one comes again."""
        kinds = [
            self.kill,
            self.zombie,
            self.crash_database,
            self.cut_clients,
            self.freeze,
            self.cut_database,
            self.drain,
        ]
        chosen: list[Callable[[], Awaitable[None]]] = []
        while len(chosen) < count:
            chosen += self.chance.sample(kinds, len(kinds))
        return chosen[:count]

    async def kill(self) -> None:
        """A replica is gone in the middle of whatever it did, and comes back."""
        victim = await self._busiest()
        await victim.kill()
        await asyncio.sleep(self.chance.uniform(0.0, 2.0))
        await victim.up()

    async def drain(self) -> None:
        """A replica is told to go, as in an upgrade, and comes back."""
        victim = self.chance.choice(self.engines)
        await victim.stop()
        await victim.up()

    async def freeze(self) -> None:
        """A replica stands still, with its connections, and goes on as if nothing had been."""
        victim = self.chance.choice(self.engines)
        os.kill(victim.pid, signal.SIGSTOP)
        await asyncio.sleep(self.chance.uniform(1.0, 4.0))
        os.kill(victim.pid, signal.SIGCONT)

    async def zombie(self) -> None:
        """A replica stands still, the database sees it no more, and it wakes when its turns have gone elsewhere."""
        victim = await self._busiest()
        os.kill(victim.pid, signal.SIGSTOP)
        await self._cut(_ports(victim.pid, self.database.port))
        await asyncio.sleep(self.chance.uniform(2.5, 5.0))
        os.kill(victim.pid, signal.SIGCONT)

    async def crash_database(self) -> None:
        """PostgreSQL stops at once and is started again a little later."""
        await self.database.crash()
        await asyncio.sleep(self.chance.uniform(0.0, 2.0))
        await self.database.start()

    async def cut_database(self) -> None:
        """Some replica loses its connections to the database."""
        await self._cut(_ports(self.chance.choice(self.engines).pid, self.database.port))

    async def cut_clients(self) -> None:
        """Half of all clients lose their connection."""
        self.balancer.cut(0.5)

    async def _busiest(self) -> Process:
        """The replica that runs the most turns: there is most to lose there."""
        async with httpx2.AsyncClient(trust_env=False, timeout=20) as client:
            said = [await client.get(f"{one.url}/health") for one in self.engines]
        used = [answer.json()["subsystems"]["slots"]["used"] for answer in said]
        return self.engines[used.index(max(used))]

    async def _cut(self, ports: list[int]) -> None:
        chosen = ", ".join(map(str, ports)) or "0"
        await self.database.sql(
            f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE client_port IN ({chosen})"
        )


def _ports(pid: int, remote: int) -> list[int]:
    """The local ports from which a process is connected to a port."""
    found = psutil.Process(pid).net_connections("tcp")
    return [one.laddr.port for one in found if one.raddr and one.raddr.port == remote]


@asynccontextmanager
async def cluster(directory: Path, chance: random.Random) -> AsyncGenerator[Cluster]:
    """Everything started; at the end everything is stopped that was started here."""
    async with AsyncExitStack() as stack:
        place = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="aster-chaos-")))
        place.chmod(0o755)
        database = PostgresServer(place)
        await database.start()
        stack.push_async_callback(database.stop)
        upstream = model(directory)
        await upstream.up()
        stack.push_async_callback(upstream.stop)
        settings = {
            "DATABASE_URL": database.url(),
            "AD_ENCRYPTION_KEY": VAULT_KEY,
            "HEARTBEAT_SECONDS": "1",
            "REPLICA_SILENCE_SECONDS": "2",
            "EMBEDDINGS_PROVIDER": "off",
        }
        engines = [engine(directory, upstream.url, **settings) for _ in range(REPLICAS)]
        for process in engines:
            stack.push_async_callback(process.kill)
        await asyncio.gather(*(process.up() for process in engines))
        ports = [int(process.url.rsplit(":", 1)[1]) for process in engines]
        balancer = await stack.enter_async_context(Balancer(ports, policy="random"))
        yield Cluster(directory, upstream, database, engines, balancer, chance)
