"""The PostgreSQL brain: one writer and a few readers of this replica, the fan-out, and an ear for the others.

Nothing that is true is kept in memory alone: what another replica writes is seen by the next read, and told as a hint.
"""

import asyncio
import logging

import psycopg

from aster.brain.changes import Change
from aster.brain.postgres import vectors
from aster.brain.postgres.connection import PostgresConnection
from aster.brain.postgres.faults import unreachable
from aster.brain.postgres.listener import Listener
from aster.brain.postgres.memory import PostgresMemory
from aster.brain.postgres.readers import Readers
from aster.brain.postgres.writer import Writer
from aster.brain.protocol import BrainHealth
from aster.brain.sql import queries
from aster.brain.sql.brain import SqlBrain
from aster.brain.sql.learning.store import SqlLearning
from aster.brain.sql.running import report
from aster.brain.sql.runtime import SqlRuntime
from aster.brain.sql.work.goals import SqlGoals
from aster.brain.sql.work.graph_store import SqlWork
from aster.brain.sql.work.projects_store import SqlProjects
from aster.brain.sql.work.schedules_store import SqlSchedules
from aster.brain.sql.work.team_requests_store import SqlTeamRequests
from aster.brain.sql.work.teams_store import SqlTeams
from aster.brain.sql.work.workflows import SqlWorkflows
from aster.brain.sql.work.worktree_store import SqlWorktrees
from aster.contracts.errors import EngineError, ErrorCode
from aster.infra.migrations import migrate

log = logging.getLogger("aster.brain")

MIGRATIONS = "aster.brain.postgres.migrations"
ALONE = "SELECT pg_advisory_xact_lock(hashtextextended('aster migrations', 0))"
"""Until the end of the transaction no engine starts on the database."""


def open_database(url: str) -> list[str]:
    """Bring the database to this version, alone; returns the migrations that were applied."""
    try:
        connection = PostgresConnection(url)
    except psycopg.Error as error:
        raise unreachable(error) from error
    try:
        applied = migrate(connection, MIGRATIONS, ("BEGIN", ALONE))
        vectors.prepare(connection, ("BEGIN", ALONE))
        _check_role(connection)
        return [migration.name for migration in applied]
    except psycopg.Error as error:
        raise EngineError(
            ErrorCode.STORAGE_UNAVAILABLE, f"The database is not a brain that can be used: {str(error).strip()}."
        ) from error
    finally:
        connection.close()


def _check_role(connection: PostgresConnection) -> None:
    """Row-level security does not hold a superuser."""
    role, free = connection.execute(
        "SELECT rolname, rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user"
    ).fetchone()
    if free:
        log.warning(
            "the role %s of DATABASE_URL may read every row: give the engine a role that is no superuser, so that"
            " the database keeps users apart as well",
            role,
        )


class PostgresBrain(SqlBrain):
    shared = True

    def __init__(self, url: str, *, readers: int = 4, patience: float = 30.0) -> None:
        """`readers` connections read; a read waits so many seconds for a database that has gone away."""
        self._url = url
        self._size = readers
        self._patience = patience
        super().__init__()
        self.fanout.alone = False

    async def start(self) -> list[str]:
        applied = await asyncio.to_thread(open_database, self._url)
        self._loop = asyncio.get_running_loop()
        self._ear = Listener(self._url, self.replica, self._loop, self._heard)
        try:
            await self._ear.start()
            self._writer = self._own = await asyncio.to_thread(
                Writer, self._url, self._loop, self.fanout.deliver, self.replica
            )
        except psycopg.Error as error:
            await self._ear.stop()
            raise unreachable(error) from error
        self._own.start()
        self._readers = self._pool = Readers(self._url, self._size, self._patience)
        self.memory = PostgresMemory(self._url, self._own, self._pool, self.replica)
        self.learning = SqlLearning(self._own, self._pool)
        self.work = SqlWork(self._own, self._pool)
        self.worktrees = SqlWorktrees(self._own, self._pool)
        self.team_requests = SqlTeamRequests(self._own, self._pool)
        self.workflows = SqlWorkflows(self._own, self._pool)
        self.goals = SqlGoals(self._pool)
        self.schedules = SqlSchedules(self._own, self._pool)
        self.teams = SqlTeams(self._own, self._pool)
        self.projects = SqlProjects(self._own, self._pool)
        self.runtime = SqlRuntime(self._pool)
        return applied

    async def close(self) -> None:
        await self._ear.stop()
        await asyncio.to_thread(self._own.stop)
        await asyncio.to_thread(self._pool.close)

    def _heard(self, change: Change) -> None:
        if change.everything:
            self.fanout.hint_all()
        for key in change.threads:
            self.fanout.hint(key)
        self.changes.tell(change)

    async def health(self) -> BrainHealth:
        version, fault = 0, self.fault
        if fault is None:
            try:
                version = await self._pool.glance(queries.ping)
            except (psycopg.Error, EngineError) as error:
                fault = str(error)
        return report(self._writer, "postgresql", version, fault)
