"""The SQLite brain: a writer thread, a few readers, the fan-out, behind one lock on the file."""

import asyncio
import sqlite3
from collections.abc import Sequence
from pathlib import Path

from aster.brain.fanout import Fanout, Subscription
from aster.brain.grants import GrantRow, PastCall
from aster.brain.protocol import BrainHealth
from aster.brain.records import (
    ArtifactRecord,
    BackgroundRecord,
    BudgetRow,
    ConversationRow,
    FileVersion,
    Frame,
    HitlRecord,
    InboxRow,
    KeyRow,
    ObservabilityRow,
    Place,
    QuotaRow,
    Row,
    SnapshotRow,
    Spent,
    ThreadKey,
    ThreadRecord,
    TrajectoryRow,
    TurnRecord,
    UsageGroup,
    UsageSlice,
    UsageSum,
)
from aster.brain.sqlite import background, kept, money, permissions, queries, retention
from aster.brain.sqlite.connection import FileLock, connect
from aster.brain.sqlite.memory.store import SqliteMemory
from aster.brain.sqlite.readers import Readers
from aster.brain.sqlite.writer import Writer
from aster.brain.unit import Guard, Owned, Unit
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.events import Event
from aster.infra.clock import now_ms
from aster.infra.migrations import migrate

MIGRATIONS = "aster.brain.sqlite.migrations"
ROOM = 2000


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


class SqliteBrain:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = FileLock(path)
        self.fanout = Fanout(self.frames)

    async def start(self) -> list[str]:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._lock.acquire()
        try:
            applied = await asyncio.to_thread(open_database, self._path)
        except BaseException:
            self._lock.release()
            raise
        self._readers = Readers(self._path)
        self._loop = asyncio.get_running_loop()
        self._writer = Writer(self._path, self._loop, self.fanout.deliver)
        self._writer.start()
        self.memory = SqliteMemory(self._path, self._writer, self._readers)
        return applied

    async def close(self) -> None:
        await asyncio.to_thread(self._writer.stop)
        self._readers.close()
        self._lock.release()

    async def health(self) -> BrainHealth:
        writer = self._writer
        version, fault = 0, writer.fault
        try:
            version = await self._readers.run(queries.ping)
        except sqlite3.Error as error:
            fault = str(error)
        return BrainHealth(
            ok=fault is None,
            backend="sqlite",
            schema_version=version,
            backlog=writer.backlog,
            commits=writer.commits,
            events=writer.events,
            fault=fault,
        )

    @property
    def fault(self) -> str | None:
        """Why nothing can be written at the moment, if so."""
        return self._writer.fault

    @property
    def backlog(self) -> int:
        """Units that wait for the next commit."""
        return self._writer.backlog

    @property
    def written(self) -> tuple[int, int]:
        """Commits and events since the start."""
        return self._writer.commits, self._writer.events

    def append(
        self,
        key: ThreadKey,
        turn_id: str | None,
        events: Sequence[Event],
        *,
        rows: Sequence[Row] = (),
        guard: Guard | None = None,
    ) -> "asyncio.Future[list[Event]]":
        done: asyncio.Future[list[Event]] = self._loop.create_future()
        self._writer.submit(Unit(key, turn_id, events, rows, guard, done))
        return done

    def emit(self, key: ThreadKey, turn_id: str, event: Event) -> None:
        self._writer.submit(Unit(key, turn_id, (event,), (), Owned(turn_id)))

    def put(self, *rows: Row) -> "asyncio.Future[list[Event]]":
        done: asyncio.Future[list[Event]] = self._loop.create_future()
        self._writer.submit(Unit(None, None, (), rows, None, done))
        return done

    async def room(self) -> None:
        """Wait while too much is waiting to be committed (the disk is slow or full)."""
        while self._writer.backlog > ROOM:
            await asyncio.sleep(0.02)

    def subscribe(self, key: ThreadKey, after_seq: int) -> Subscription:
        return self.fanout.subscribe(key, after_seq)

    async def thread(self, key: ThreadKey) -> ThreadRecord | None:
        return await self._readers.run(queries.thread, key)

    async def threads(
        self,
        user_id: str,
        *,
        limit: int,
        before: Place | None = None,
        status: str | None = None,
        search: str | None = None,
    ) -> list[ThreadRecord]:
        return await self._readers.run(
            queries.threads, user_id, limit=limit, before=before, status=status, search=search
        )

    async def delete_thread(self, key: ThreadKey) -> str | None:
        def job(db: sqlite3.Connection) -> str | None:
            status = retention.delete_thread(db, key)
            self._writer.forget(key)
            return status

        status = await self._writer.run(job)
        assert status is None or isinstance(status, str)
        return status

    async def frames(self, key: ThreadKey, after_seq: int, limit: int, turn_id: str | None = None) -> list[Frame]:
        return await self._readers.run(queries.frames, key, after_seq, limit, turn_id)

    async def seq_at(self, key: ThreadKey, after_ms: int) -> int:
        return await self._readers.run(queries.seq_at, key, after_ms)

    async def head(self, key: ThreadKey) -> int:
        return await self._readers.run(queries.head, key)

    async def records(self, key: ThreadKey, turn_id: str, after_seq: int) -> list[tuple[str, bytes]]:
        return await self._readers.run(queries.records, key, turn_id, after_seq)

    async def turn(self, user_id: str, turn_id: str) -> TurnRecord | None:
        return await self._readers.run(queries.turn, user_id, turn_id)

    async def turns(self, key: ThreadKey) -> list[TurnRecord]:
        return await self._readers.run(queries.turns, key)

    async def running_turns(self) -> list[TurnRecord]:
        return await self._readers.run(queries.running_turns)

    async def answered_turns(self) -> list[TurnRecord]:
        return await self._readers.run(queries.answered_turns)

    async def waiting_threads(self) -> list[ThreadKey]:
        return await self._readers.run(queries.waiting_threads)

    async def conversations(self, key: ThreadKey) -> list[ConversationRow]:
        return await self._readers.run(queries.conversations, key)

    async def snapshot(self, user_id: str, turn_id: str) -> SnapshotRow | None:
        return await self._readers.run(queries.snapshot, user_id, turn_id, now_ms())

    async def trajectory(self, user_id: str, turn_id: str) -> TrajectoryRow | None:
        return await self._readers.run(queries.trajectory, user_id, turn_id)

    async def inbox(self, key: ThreadKey) -> list[InboxRow]:
        return await self._readers.run(queries.inbox, key)

    async def pending_requests(self, user_id: str, task_id: str | None = None) -> list[HitlRecord]:
        return await self._readers.run(queries.pending_requests, user_id, task_id)

    async def request(self, user_id: str, request_id: str) -> HitlRecord | None:
        return await self._readers.run(queries.request, user_id, request_id)

    async def budget_requests(self) -> list[HitlRecord]:
        return await self._readers.run(queries.budget_requests)

    async def usage(self, what: UsageSlice, group: UsageGroup, limit: int) -> tuple[list[UsageSum], UsageSum]:
        return await self._readers.run(money.usage, what, group, limit)

    async def spent(self, key: ThreadKey, since: int) -> Spent:
        return await self._readers.run(money.spent, key, since)

    async def budgets(self) -> list[BudgetRow]:
        return await self._readers.run(money.budgets)

    async def drop_budget(self, row: BudgetRow) -> None:
        await self._writer.run(lambda db: money.drop_budget(db, row))

    async def keys(self) -> list[KeyRow]:
        return await self._readers.run(queries.keys)

    async def observations(self, user_id: str, *, limit: int, kind: str | None = None) -> list[ObservabilityRow]:
        return await self._readers.run(queries.observations, user_id, limit=limit, kind=kind)

    async def quota_windows(self) -> list[QuotaRow]:
        return await self._readers.run(queries.quota_windows, now_ms())

    async def artifacts(self, key: ThreadKey) -> list[ArtifactRecord]:
        return await self._readers.run(kept.artifacts, key)

    async def artifact(self, user_id: str, artifact_id: str) -> tuple[ArtifactRecord, bytes] | None:
        return await self._readers.run(kept.artifact, user_id, artifact_id)

    async def file_versions(self, key: ThreadKey, turn_id: str | None) -> list[FileVersion]:
        return await self._readers.run(kept.file_versions, key, turn_id)

    async def grants(self, user_id: str) -> list[GrantRow]:
        return await self._readers.run(permissions.grants, user_id, now_ms())

    async def grants_for(self, key: ThreadKey, agent: str) -> list[GrantRow]:
        return await self._readers.run(permissions.grants_for, key, agent, now_ms())

    async def drop_grant(self, user_id: str, grant_id: str) -> bool:
        return bool(await self._writer.run(lambda db: permissions.drop_grant(db, user_id, grant_id)))

    async def past_calls(self, user_id: str, threads: int, limit: int) -> list[PastCall]:
        return await self._readers.run(permissions.past_calls, user_id, threads, limit)

    async def background_task(self, key: ThreadKey, runtime_task_id: str) -> BackgroundRecord | None:
        return await self._readers.run(background.background_task, key, runtime_task_id)

    async def background_untold(self, key: ThreadKey) -> list[BackgroundRecord]:
        return await self._readers.run(background.untold, key)

    async def background_untold_threads(self) -> list[ThreadKey]:
        return await self._readers.run(background.untold_threads)

    async def background_running(self) -> list[BackgroundRecord]:
        return await self._readers.run(background.running)

    async def counts(self) -> dict[str, int]:
        return await self._readers.run(queries.counts)

    async def retain(self, *, deltas_before: int, observations_before: int) -> int:
        """One small step of retention; returns how many rows went, zero when there is nothing left to do."""
        now = now_ms()
        folded = await self._writer.run(lambda db: retention.fold_deltas(db, deltas_before, now))
        pruned = await self._writer.run(lambda db: retention.prune(db, now, observations_before))
        assert isinstance(folded, int)
        assert isinstance(pruned, int)
        return folded + pruned
