"""The one writer: commits everything that waits, for all threads together, as soon as the last commit is done.

Durable before visible: frames and results leave this module only after their commit. A batch of deltas alone does
not wait for the disk (it survives the death of the process); a batch with any record does (it survives a power
cut). When the disk is full or failing the batch is kept and tried again; nothing that was accepted is dropped.
"""

import asyncio
import logging
import sqlite3
import threading
from collections import deque
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeAlias

from aster.brain.records import Frame, ThreadKey
from aster.brain.sequencer import Placed, Sequencer, Slot, close
from aster.brain.sql.projections import project, put
from aster.brain.sqlite.connection import BrainConnection, connect
from aster.brain.sqlite.faults import passing
from aster.brain.unit import Conflict, Unit
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.events import Event, Grade
from aster.infra.clock import now_ms

log = logging.getLogger("aster.brain")

Deliver: TypeAlias = Callable[[list[tuple[ThreadKey, list[Frame]]]], None]
Job: TypeAlias = Callable[[BrainConnection], object]

_RETRY_SECONDS = 0.5
_MAX_BATCH = 4096
_CHUNKS = (128, 64, 32, 16, 8, 4, 2, 1)
_ROW = "(?, ?, ?, ?, ?, ?, ?, ?)"
_INSERTS = {
    size: "INSERT INTO thread_events (thread_id, seq, user_id, turn_id, type, grade, ts, data) VALUES "
    + ", ".join([_ROW] * size)
    for size in _CHUNKS
}


class _Task:
    """A piece of maintenance that runs alone on the writer's connection, in a transaction of its own."""

    __slots__ = ("done", "job")

    def __init__(self, job: Job, done: "asyncio.Future[object]") -> None:
        self.job = job
        self.done = done


class Writer:
    def __init__(self, path: Path, loop: asyncio.AbstractEventLoop, deliver: Deliver) -> None:
        self._path = path
        self._loop = loop
        self._deliver = deliver
        self._queue: deque[Unit | _Task] = deque()
        self._wake = threading.Event()
        self._asleep = False
        self._stopping = False
        self._sequencer = Sequencer(self._load, self._create)
        self._synchronous = "FULL"
        self._db = connect(path)
        self._thread = threading.Thread(target=self._run, name="aster-writer", daemon=True)
        self.fault: str | None = None
        self.commits = 0
        self.events = 0

    def start(self) -> None:
        self._thread.start()

    def submit(self, unit: Unit) -> None:
        self._queue.append(unit)
        self._rouse()

    def _rouse(self) -> None:
        """Wake the writer if it sleeps; while it works it looks at the queue by itself."""
        if self._asleep:
            self._wake.set()

    def run(self, job: Job) -> "asyncio.Future[object]":
        """Run maintenance between two batches."""
        done: asyncio.Future[object] = self._loop.create_future()
        self._queue.append(_Task(job, done))
        self._rouse()
        return done

    def forget(self, key: ThreadKey) -> None:
        """Only for a job that runs on the writer: the thread is gone, so is what was cached of it."""
        self._sequencer.forget(key)

    @property
    def backlog(self) -> int:
        return len(self._queue)

    def stop(self) -> None:
        """Commit what waits, then end."""
        self._stopping = True
        self._wake.set()
        self._thread.join()
        self._db.close()

    def _run(self) -> None:
        while self._wait():
            batch = self._take()
            if isinstance(batch, _Task):
                self._run_task(batch)
            else:
                self._commit_until_done(batch)

    def _wait(self) -> bool:
        """Sleep until there is work; false when there is none and never will be."""
        while not self._queue:
            if self._stopping:
                return False
            # Order matters: whoever appends after this line sees the flag and sets the event.
            self._asleep = True
            if not self._queue and not self._stopping:
                self._wake.wait()
            self._asleep = False
            self._wake.clear()
        return True

    def _take(self) -> list[Unit] | _Task:
        first = self._queue.popleft()
        if isinstance(first, _Task):
            return first
        units = [first]
        while self._queue and len(units) < _MAX_BATCH:
            head = self._queue[0]
            if isinstance(head, _Task):
                break
            units.append(head)
            self._queue.popleft()
        return units

    def _commit_until_done(self, units: list[Unit]) -> None:
        while True:
            try:
                self._commit(units)
                return
            except sqlite3.Error as error:
                self._rollback()
                if not passing(error):
                    log.exception("a batch of %d units was refused", len(units))
                    self._commit_singly(units, error)
                    return
                self._pause(error)
                if self._stopping:
                    self._fail(units, error)
                    return

    def _commit_singly(self, units: list[Unit], error: sqlite3.Error) -> None:
        """One unit of the batch is bad: let the others through and tell its owner."""
        if len(units) == 1:
            self._fail(units, error)
            return
        for unit in units:
            unit.written.clear()
            self._commit_until_done([unit])

    def _pause(self, error: sqlite3.Error) -> None:
        if self.fault is None:
            log.error("the brain cannot be written, trying again: %s", error)
        self.fault = str(error)
        self._wake.clear()
        self._wake.wait(_RETRY_SECONDS)

    def _rollback(self) -> None:
        self._sequencer.forget()
        try:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
        except sqlite3.Error:
            log.exception("rollback failed")

    def _commit(self, units: list[Unit]) -> None:
        db, now, light = self._db, now_ms(), all(map(_is_light, units))
        self._choose_durability(light)
        batch: dict[ThreadKey, Placed] = {}
        refused: list[tuple[Unit, Conflict]] = []
        accepted: list[Unit] = []
        if not light:
            db.execute("BEGIN IMMEDIATE")
        for unit in units:
            unit.written.clear()
            try:
                self._sequencer.place(unit, batch, now)
                accepted.append(unit)
            except Conflict as conflict:
                refused.append((unit, conflict))
        for placed in batch.values():
            close(placed, now)
        self._insert(batch.values(), now)
        for placed in batch.values():
            if placed.records:
                project(db, placed)
        for unit in accepted:
            self._put_rows(unit)
        if db.in_transaction:
            db.execute("COMMIT")
        self.fault = None
        self.commits += 1
        self.events += sum(len(placed.frames) for placed in batch.values())
        self._publish(batch, accepted, refused)

    def _choose_durability(self, light: bool) -> None:
        """A batch that holds nothing but deltas need not wait for the disk."""
        wanted = "NORMAL" if light else "FULL"
        if wanted != self._synchronous:
            self._db.execute(f"PRAGMA synchronous = {wanted}")
            self._synchronous = wanted

    def _insert(self, batch: Iterable[Placed], now: int) -> None:
        rows: list[object] = []
        count = 0
        for placed in batch:
            slot, user_id = placed.slot, placed.key.user_id
            for item in placed.frames:
                rows += (slot.id, item.seq, user_id, item.turn_id, item.type, item.grade, now, item.json)
                count += 1
        if count not in _INSERTS and count and not self._db.in_transaction:
            self._db.execute("BEGIN IMMEDIATE")
        start = 0
        for size in _CHUNKS:
            while count - start >= size:
                self._db.execute(_INSERTS[size], rows[start * 8 : (start + size) * 8])
                start += size

    def _put_rows(self, unit: Unit) -> None:
        if not unit.rows:
            return
        if unit.key is None:
            for row in unit.rows:
                put(self._db, row, None, None)
            return
        thread_id = self._sequencer.slot(unit.key).id
        for row in unit.rows:
            put(self._db, row, thread_id, unit.key.user_id)

    def _load(self, key: ThreadKey) -> Slot:
        """What the database knows of a thread."""
        found = self._db.execute(
            "SELECT thread_id, status, active_turn_id, updated_at, title FROM threads"
            " WHERE user_id = ? AND task_id = ?",
            key,
        ).fetchone()
        if found is None:
            return Slot()
        thread_id, status, active, updated, title = found
        head = self._db.execute(
            "SELECT seq, ts FROM thread_events WHERE thread_id = ? ORDER BY seq DESC LIMIT 1", (thread_id,)
        ).fetchone() or (0, 0)
        requests = self._db.execute(
            "SELECT request_id FROM hitl_requests WHERE thread_id = ? AND status = 'pending'", (thread_id,)
        )
        return Slot(thread_id, head[0], status, active, max(updated, head[1]), {r for (r,) in requests}, title)

    def _create(self, key: ThreadKey) -> int:
        now = now_ms()
        cursor = self._db.execute(
            "INSERT INTO threads (user_id, task_id, created_at, updated_at) VALUES (?, ?, ?, ?)", (*key, now, now)
        )
        assert cursor.lastrowid is not None
        return cursor.lastrowid

    def _publish(
        self, batch: dict[ThreadKey, Placed], accepted: list[Unit], refused: list[tuple[Unit, Conflict]]
    ) -> None:
        frames = [(key, placed.frames) for key, placed in batch.items()]
        settled = [(unit.done, unit.written) for unit in accepted if unit.done is not None]
        failed = [(unit.done, conflict) for unit, conflict in refused if unit.done is not None]
        self._call(lambda: self._show(frames, settled, failed))

    def _show(
        self,
        frames: list[tuple[ThreadKey, list[Frame]]],
        settled: "list[tuple[asyncio.Future[list[Event]], list[Event]]]",
        failed: "list[tuple[asyncio.Future[list[Event]], Conflict]]",
    ) -> None:
        self._deliver(frames)
        for done, written in settled:
            if not done.done():
                done.set_result(written)
        for done, conflict in failed:
            if not done.done():
                done.set_exception(conflict)

    def _fail(self, units: list[Unit], error: sqlite3.Error) -> None:
        failure = EngineError(
            ErrorCode.STORAGE_UNAVAILABLE,
            f"The brain could not be written: {error}. Free some space and try again.",
        )
        waiting = [unit.done for unit in units if unit.done is not None]
        self._call(lambda: [done.set_exception(failure) for done in waiting if not done.done()])

    def _run_task(self, task: _Task) -> None:
        try:
            self._db.execute("BEGIN IMMEDIATE")
            result = task.job(self._db)
            self._db.execute("COMMIT")
        except BaseException as error:  # noqa: BLE001  # handed to whoever asked for the job
            self._rollback()
            failure = error
            self._call(lambda: None if task.done.done() else task.done.set_exception(failure))
            return
        self._call(lambda: None if task.done.done() else task.done.set_result(result))

    def _call(self, function: Callable[[], object]) -> None:
        try:
            self._loop.call_soon_threadsafe(function)
        except RuntimeError:
            log.warning("the loop is gone; what was committed is on the thread")


def _is_light(unit: Unit) -> bool:
    """Deltas alone; a single statement of them is its own transaction."""
    return not unit.rows and all(event.grade is Grade.DELTA for event in unit.events)
