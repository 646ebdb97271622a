"""Who is alive: every replica holds a lock of its own for as long as its connection lasts, and one of them leads.

A lock that can be had belongs to nobody alive: the database lets go of it when a process dies. A process that hangs
keeps its connection, so one that has asked nothing for too long is cut off. Losing the connection loses nothing but
the place: what was taken meanwhile is known by its epoch, and the rest is still this replica's.
"""

import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from hashlib import blake2b
from typing import Any, Final, LiteralString

import psycopg
from psycopg.conninfo import make_conninfo

from aster.brain.postgres.connection import conninfo
from aster.contracts.errors import EngineError, ErrorCode

log = logging.getLogger("aster.membership")

_HELD: Final = (
    "SELECT l.classid::bigint, l.objid::bigint FROM pg_locks l"
    " WHERE l.locktype = 'advisory' AND l.objsubid = 1 AND l.granted"
    " AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())"
)
_CUT_OFF: Final = (
    "SELECT a.pid, pg_terminate_backend(a.pid) FROM pg_stat_activity a JOIN pg_locks l ON l.pid = a.pid"
    " WHERE l.locktype = 'advisory' AND l.objsubid = 1 AND l.granted AND a.datname = current_database()"
    " AND l.classid = %s::bigint::oid AND l.objid = %s::bigint::oid AND a.pid <> pg_backend_pid()"
    " AND a.state_change < clock_timestamp() - make_interval(secs => %s)"
)

_ALIVE: Final = (
    "SELECT split_part(a.application_name, ' ', 2), (extract(epoch FROM a.backend_start) * 1000)::bigint,"
    " EXISTS (SELECT 1 FROM pg_locks f WHERE f.pid = a.pid AND f.locktype = 'advisory' AND f.objsubid = 1"
    " AND f.granted AND f.classid = %s::bigint::oid AND f.objid = %s::bigint::oid)"
    " FROM pg_stat_activity a JOIN pg_locks l ON l.pid = a.pid"
    " WHERE l.locktype = 'advisory' AND l.objsubid = 1 AND l.granted AND a.datname = current_database()"
    " AND l.classid = %s::bigint::oid AND l.objid = %s::bigint::oid ORDER BY a.backend_start, a.pid"
)


def number(name: str) -> int:
    """The lock that stands for a name."""
    return int.from_bytes(blake2b(name.encode(), digest_size=8, person=b"aster-replica").digest(), signed=True)


def _halves(lock: int) -> tuple[int, int]:
    """A lock as the database lists it."""
    return divmod(lock % 2**64, 2**32)


_CLUSTER: Final = number("every replica")
_LEADER: Final = number("the leader")


class Membership:
    """`alone`: nobody else may be there, before and after."""

    def __init__(self, url: str, replica: str, silence_seconds: float, *, alone: bool = False) -> None:
        self._url = url
        self._replica = replica
        self._silence = silence_seconds
        self._alone = alone
        self._connection: psycopg.AsyncConnection | None = None
        self.leads = False

    @property
    def held(self) -> bool:
        """Whether the others know that this replica is alive."""
        return self._connection is not None and not self._connection.closed

    async def join(self) -> None:
        """Take a place among the replicas; refused when one of them will not have another."""
        await self._leave()
        called = make_conninfo(conninfo(self._url), application_name=f"aster {self._replica}")
        connection = await psycopg.AsyncConnection.connect(called, autocommit=True)
        try:
            await self._cut_off(connection)
            how: LiteralString = "pg_try_advisory_lock" if self._alone else "pg_try_advisory_lock_shared"
            if not await _ask(connection, f"SELECT {how}(%s)", _CLUSTER):
                raise EngineError(ErrorCode.CONFIGURATION_INVALID, _ALONE if self._alone else _OTHER_ALONE)
            if not await _ask(connection, "SELECT pg_try_advisory_lock(%s)", number(self._replica)):
                raise psycopg.OperationalError(
                    "the place of this replica is still held by a connection it has lost"
                )
        except BaseException:
            await connection.close()
            raise
        self._connection = connection

    async def beat(self, *, may_lead: bool = True) -> bool:
        """Show that this replica is alive; says whether it leads."""
        connection = self._joined()
        if self.leads and may_lead:
            await self._cut_off(connection)
        elif self.leads:
            self.leads = not await _ask(connection, "SELECT pg_advisory_unlock(%s)", _LEADER)
        else:
            sql: LiteralString = "SELECT pg_try_advisory_lock(%s)" if may_lead else "SELECT %s IS NULL"
            self.leads = bool(await _ask(connection, sql, _LEADER))
        return self.leads

    async def look_for_silent(self) -> None:
        """Cut off replicas that hang, the one that leads among them."""
        await self._cut_off(self._joined())

    async def dead(self, replicas: set[str]) -> set[str]:
        """Which of these are not alive."""
        found = await self._joined().execute(_HELD)
        alive = {high << 32 | low for high, low in await found.fetchall()}
        return {replica for replica in replicas if number(replica) % 2**64 not in alive}

    async def alive(self) -> list[tuple[str, int, bool]]:
        """Every replica with a place: its name, since when (in milliseconds), and whether it leads."""
        found = await self._joined().execute(_ALIVE, (*_halves(_LEADER), *_halves(_CLUSTER)))
        return [(str(name), int(since), bool(leads)) for name, since, leads in await found.fetchall()]

    @asynccontextmanager
    async def grave(self, replica: str) -> AsyncGenerator[bool]:
        """Hold the place of a dead replica; false when it is not dead, or somebody else holds it."""
        connection = self._joined()
        held = bool(await _ask(connection, "SELECT pg_try_advisory_lock(%s)", number(replica)))
        try:
            yield held
        finally:
            if held and not connection.closed:
                await connection.execute("SELECT pg_advisory_unlock(%s)", (number(replica),))

    async def leave(self) -> None:
        await self._leave()

    async def _leave(self) -> None:
        self.leads = False
        if self._connection is not None:
            await self._connection.close()
            self._connection = None

    def _joined(self) -> psycopg.AsyncConnection:
        if self._connection is None:
            raise psycopg.OperationalError("this replica has not joined the others")
        return self._connection

    async def _cut_off(self, connection: psycopg.AsyncConnection) -> None:
        """End the connections of replicas that have asked nothing for too long."""
        cut = await connection.execute(_CUT_OFF, (*_halves(_CLUSTER), self._silence))
        for pid, _ in await cut.fetchall():
            log.warning("a replica (connection %s) has been silent for too long and was cut off", pid)


async def _ask(connection: psycopg.AsyncConnection, sql: LiteralString, lock: int) -> Any:
    row = await (await connection.execute(sql, (lock,))).fetchone()
    return row[0] if row is not None else None


_ALONE: Final = (
    "Another engine runs on this database. RUNNER=local is for one engine alone: stop the other, or start both with"
    " RUNNER=dbos."
)
_OTHER_ALONE: Final = (
    "An engine with RUNNER=local runs on this database and is alone there by its settings: stop it, or start it with"
    " RUNNER=dbos too."
)
