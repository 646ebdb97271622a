"""The SQLite brain: a writer thread, a few readers, the fan-out, behind one lock on the file."""

import asyncio
import sqlite3
from pathlib import Path

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
from aster.brain.sqlite.connection import FileLock, connect
from aster.brain.sqlite.memory import SqliteMemory
from aster.brain.sqlite.readers import Readers
from aster.brain.sqlite.writer import Writer
from aster.contracts.errors import EngineError, ErrorCode
from aster.infra.migrations import migrate

MIGRATIONS = "aster.brain.sqlite.migrations"


def open_database(path: Path) -> list[str]:
    """Make the file if need be and bring it to this version; returns the migrations that were applied."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        connection = connect(path)
    except (OSError, sqlite3.Error) as error:
        raise EngineError(
            ErrorCode.STORAGE_UNAVAILABLE,
            f"The brain cannot be opened at {path}: {error}. Set SQLITE_DB_PATH to a file that can be written.",
        ) from error
    try:
        return [migration.name for migration in migrate(connection, MIGRATIONS)]
    except sqlite3.DatabaseError as error:
        raise EngineError(
            ErrorCode.STORAGE_UNAVAILABLE, f"{path} is not a brain that can be used: {error}."
        ) from error
    finally:
        connection.close()


class SqliteBrain(SqlBrain):
    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = FileLock(path)
        super().__init__()

    async def start(self) -> list[str]:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._lock.acquire()
        try:
            applied = await asyncio.to_thread(open_database, self._path)
        except BaseException:
            self._lock.release()
            raise
        self._loop = asyncio.get_running_loop()
        self._writer = self._file = Writer(self._path, self._loop, self.fanout.deliver, self.replica)
        self._file.start()
        self._readers = self._pool = Readers(self._path)
        self.memory = SqliteMemory(self._path, self._file, self._pool)
        self.learning = SqlLearning(self._file, self._pool)
        self.work = SqlWork(self._file, self._pool)
        self.worktrees = SqlWorktrees(self._file, self._pool)
        self.team_requests = SqlTeamRequests(self._file, self._pool)
        self.workflows = SqlWorkflows(self._file, self._pool)
        self.goals = SqlGoals(self._pool)
        self.schedules = SqlSchedules(self._file, self._pool)
        self.teams = SqlTeams(self._file, self._pool)
        self.projects = SqlProjects(self._file, self._pool)
        self.runtime = SqlRuntime(self._pool)
        await self.learning.forsaken()
        return applied

    async def close(self) -> None:
        await asyncio.to_thread(self._file.stop)
        self._pool.close()
        self._lock.release()

    async def health(self) -> BrainHealth:
        version, fault = 0, self.fault
        try:
            version = await self._readers.run(queries.ping)
        except sqlite3.Error as error:
            fault = str(error)
        return report(self._writer, "sqlite", version, fault)
