"""The writer of one replica among several. It trusts nothing it remembers: each batch locks its threads, in one order
for all replicas, and looks at them anew, so guards and epochs are compared with what is stored.

Everything is durable when it is shown, deltas too. A commit whose answer never came is looked up after reconnecting:
what is on the thread is shown, what is not is written again, and so nothing is lost or doubled. Rows that no thread
tells of are counted beside them for that.
"""

import asyncio
import logging
import random
import time
from collections.abc import Iterable, Sequence
from typing import Final

import psycopg

from aster.brain.postgres import hints
from aster.brain.postgres.connection import EVERYBODY, PostgresConnection
from aster.brain.postgres.faults import collision, passing, unreachable
from aster.brain.postgres.values import kept
from aster.brain.records import ThreadKey
from aster.brain.sequencer import Placed, Slot
from aster.brain.sql.writer import Batch, Deliver, GroupWriter, Job
from aster.brain.unit import Unanswered, Unit
from aster.infra.clock import now_ms

log = logging.getLogger("aster.brain")

_APART: Final = 0.005
IDLE_MS: Final = 1000
"""A process that is stopped in the middle of a batch holds up nobody for longer than this."""
JOB_IDLE_MS: Final = 3000
"""The same for a job, which may think for a while between two statements."""
_QUIET: Final = frozenset(("thread_events", "writers"))
_COUNT: Final = (
    "INSERT INTO writers (replica, batches, written_at) VALUES (?, ?, ?) ON CONFLICT (replica) DO UPDATE"
    " SET batches = writers.batches + excluded.batches, written_at = excluded.written_at RETURNING batches"
)
"""So many batches with rows alone has this replica written: it waits for who is still writing one."""
_REMEMBERED_MS: Final = 86_400_000
_THESE: Final = "(t.user_id, t.task_id) IN ({})"
_LOCKED: Final = (
    "SELECT t.thread_id, t.user_id, t.task_id, t.status, t.active_turn_id, t.updated_at, t.title, t.owner, t.epoch"
    f" FROM threads t WHERE {_THESE} ORDER BY t.thread_id FOR NO KEY UPDATE"
)
_HEADS: Final = (
    "SELECT t.thread_id, e.seq, e.ts FROM threads t CROSS JOIN LATERAL (SELECT seq, ts FROM thread_events"
    f" WHERE thread_id = t.thread_id ORDER BY seq DESC LIMIT 1) e WHERE {_THESE}"
)
_ASKED: Final = (
    "SELECT t.thread_id, r.request_id FROM threads t JOIN hitl_requests r USING (thread_id)"
    f" WHERE {_THESE} AND r.status = 'pending'"
)


class Contended(psycopg.OperationalError):
    """Somebody else is at it at this moment: the same may go through at the next try."""

    sqlstate = "40001"


class Writer(GroupWriter[PostgresConnection]):
    fault: str | None
    patience = 10.0
    most = 1024

    def __init__(self, url: str, loop: asyncio.AbstractEventLoop, deliver: Deliver, replica: str) -> None:
        self._url = url
        self._replica = replica
        super().__init__(self._connect(), loop, deliver, replica, psycopg.Error)
        self._units: Sequence[Unit] = ()
        self._loaded: dict[ThreadKey, Slot] = {}
        self._doubt: tuple[Sequence[Unit], Batch] | None = None
        self._counted = 0
        self._job_sent = False
        self._gone: list[ThreadKey] = []
        self._db.execute("DELETE FROM writers WHERE written_at < ?", (now_ms() - _REMEMBERED_MS,))
        self._db.sync()

    def _connect(self) -> PostgresConnection:
        return PostgresConnection(
            self._url,
            **{"aster.user": EVERYBODY},
            synchronous_commit="on",
            statement_timeout="0",
            idle_in_transaction_session_timeout=str(IDLE_MS),
        )

    def _reconnect(self) -> None:
        if self._db.broken:
            self._db.close()
            self._db = self._connect()

    def stop(self) -> None:
        super().stop()
        self._db.close()

    def forget(self, key: ThreadKey) -> None:
        super().forget(key)
        self._gone.append(key)

    def _pause(self, error: BaseException) -> bool:
        """Two replicas in each other's way, or a connection that was cut, are worth another try at once."""
        if collision(error):
            time.sleep(random.random() * _APART)  # noqa: S311  # no secret
            return True
        if self.fault is None:
            self.fault = str(error).strip()
            log.warning("the brain cannot be written, connecting again: %s", self.fault)
            return True
        return super()._pause(error)

    def _write(self, units: list[Unit]) -> None:
        self._reconnect()
        doubt = self._doubt
        if doubt is not None and doubt[0] is units and self._is_written(doubt[1]):
            self._doubt = None
            self._sequencer.recommitted(doubt[1].threads.values())
            self._written(doubt[1])
            self._tell()
            return
        super()._write(units)

    def _tell(self) -> None:
        """Something was written, and whether the others were told is not known either."""
        try:
            self._db.execute(hints.SEND, (hints.anything(self._replica),))
            self._db.sync()
        except psycopg.Error as error:
            log.warning("other replicas could not be told of a commit: %s", error)

    def _is_written(self, batch: Batch) -> bool:
        """Whether a commit that was never answered took place: any event of it, or any turn that changed hands, tells;
        of rows alone their count does."""
        for placed in batch.threads.values():
            if placed.frames or placed.handed:
                return self._shows(placed)
        return self._count(0) == self._counted > 0

    def _count(self, more: int) -> int:
        return self._db.execute(_COUNT, (self._replica, more, now_ms())).fetchone()[0]

    def _shows(self, placed: Placed) -> bool:
        db, slot = self._db, placed.slot
        db.execute("BEGIN")
        self._lock([placed.key], asked=False)
        if placed.frames:
            first = placed.frames[0]
            found = db.execute(
                "SELECT count(*) FROM thread_events WHERE thread_id = ? AND seq = ? AND data = ?",
                (slot.id, first.seq, first.json),
            )
        else:
            found = db.execute(
                "SELECT count(*) FROM threads WHERE thread_id = ? AND epoch >= ?", (slot.id, slot.epoch)
            )
        there = found.fetchone()[0] > 0
        db.execute("COMMIT")
        return there

    def _begin(self, units: Sequence[Unit]) -> None:
        self._units = units
        self._sequencer.forget()
        self._db.touched.clear()
        self._db.execute("BEGIN")
        told = all(unit.events or unit.hand for unit in units)
        self._counted = 0 if told else self._count(1)
        keys = list({key: None for unit in units for key in (unit.key, *unit.beside) if key is not None})
        self._loaded = self._lock(keys, asked=any(isinstance(unit.guard, Unanswered) for unit in units))

    def _lock(self, keys: list[ThreadKey], *, asked: bool) -> dict[ThreadKey, Slot]:
        """Hold these threads, and see them as they are then: what is beside them is read after they are locked."""
        if not keys:
            return {}
        db, named = self._db, _padded(keys)
        marks = ", ".join(["(?, ?)"] * (len(named) // 2))
        threads = db.execute(_LOCKED.format(marks), named)
        heads = db.execute(_HEADS.format(marks), named)
        requests = db.execute(_ASKED.format(marks), named) if asked else ()
        slots: dict[int, Slot] = {}
        found: dict[ThreadKey, Slot] = {}
        for thread_id, user_id, task_id, status, active, updated, title, owner, epoch in threads:
            slot = Slot(thread_id, 0, status, active, updated, set(), title, owner, epoch)
            slots[thread_id] = found[ThreadKey(user_id, task_id)] = slot
        # A thread that was made after the lock is not held, whatever is read of it; making it again will tell.
        for thread_id, seq, ts in heads:
            if (slot := slots.get(thread_id)) is not None:
                slot.head, slot.last_ms = seq, max(slot.last_ms, ts)
        for thread_id, request_id in requests:
            if (slot := slots.get(thread_id)) is not None:
                slot.open_requests.add(request_id)
        return found

    def _load(self, key: ThreadKey) -> Slot:
        stored = ThreadKey(kept(key.user_id), kept(key.task_id))
        return self._loaded.get(stored) or Slot()

    def _create(self, key: ThreadKey) -> int:
        now = now_ms()
        made = self._db.execute(
            "INSERT INTO threads (user_id, task_id, created_at, updated_at) VALUES (?, ?, ?, ?)"
            " ON CONFLICT DO NOTHING RETURNING thread_id",
            (*key, now, now),
        ).fetchone()
        if made is None:
            raise Contended(f"task {key.task_id} was made elsewhere at the same time")
        return made[0]

    def _commit(self, batch: Batch) -> None:
        self._doubt = (self._units, batch)
        try:
            self._end(batch.threads)
        except psycopg.Error:
            if not self._db.broken:
                self._doubt = None
            raise
        self._doubt = None

    def _end(self, threads: Iterable[ThreadKey]) -> None:
        """Commit, and tell the other replicas; that they could not be told does not undo it."""
        db = self._db
        tables = db.touched - _QUIET
        committed = db.send("COMMIT")
        keys = list(threads)
        if keys or tables:
            db.send(hints.SEND, (hints.written(self._replica, keys, tables),))
        try:
            db.sync()
        except psycopg.Error as error:
            if not committed.settled:
                raise
            log.warning("other replicas could not be told of a commit: %s", error)

    def _begin_job(self) -> None:
        self._reconnect()
        self._job_sent = False
        self._gone.clear()
        self._db.touched.clear()
        self._db.execute("BEGIN")
        self._db.execute(f"SET LOCAL idle_in_transaction_session_timeout = {JOB_IDLE_MS}")

    def _commit_job(self) -> None:
        self._db.sync()
        self._job_sent = bool(self._db.touched)
        self._end(self._gone)

    def _again(self, error: BaseException) -> bool:
        return not self._job_sent and super()._again(error)

    def _settle(self, job: Job[PostgresConnection], error: BaseException | None, result: object = None) -> None:
        if isinstance(error, psycopg.Error) and passing(error):
            error = unreachable(error)
        super()._settle(job, error, result)

    def _undo(self) -> None:
        self._db.abandon()


def _padded(keys: list[ThreadKey]) -> list[str]:
    """The names of all keys; the last one again and again up to a power of two, so that few statements serve all."""
    wanted = 1 << (len(keys) - 1).bit_length()
    return [name for key in (*keys, *keys[-1:] * (wanted - len(keys))) for name in key]
