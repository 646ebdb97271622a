"""The one writer of a process: commits everything that waits, for all threads together, as soon as the last commit is
done.

Durable before visible: frames and results leave this module only after their commit. When the database cannot be
written for a while the batch is kept and tried again; nothing that was accepted is dropped. How a transaction begins
and ends is for each database.
"""

import asyncio
import logging
import threading
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Generic, TypeAlias, TypeVar

from aster.brain.records import Frame, ThreadKey
from aster.brain.sequencer import Placed, Sequencer, Slot, close
from aster.brain.sql.connection import Connection
from aster.brain.sql.projections import project, put
from aster.brain.unit import Conflict, Unit
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.events import Event
from aster.infra.clock import now_ms

log = logging.getLogger("aster.brain")

C = TypeVar("C", bound=Connection)
Deliver: TypeAlias = Callable[[list[tuple[ThreadKey, list[Frame]]]], None]

_RETRY_SECONDS = 0.5
_CHUNKS: Final = (128, 64, 32, 16, 8, 4, 2, 1)
_ROW = "(?, ?, ?, ?, ?, ?, ?, ?)"
INSERTS: Final = {
    size: "INSERT INTO thread_events (thread_id, seq, user_id, turn_id, type, grade, ts, data) VALUES "
    + ", ".join([_ROW] * size)
    for size in _CHUNKS
}


class Job(Generic[C]):
    """A piece of maintenance that runs alone on the writer's connection, in a transaction of its own."""

    __slots__ = ("done", "work")

    def __init__(self, work: Callable[[C], object], done: "asyncio.Future[object]") -> None:
        self.work = work
        self.done = done


@dataclass(slots=True)
class Batch:
    """What is committed together: each thread's share, whose units are in it, and whose guard did not hold."""

    threads: dict[ThreadKey, Placed] = field(default_factory=dict[ThreadKey, Placed])
    accepted: list[Unit] = field(default_factory=list[Unit])
    refused: list[tuple[Unit, Conflict]] = field(default_factory=list[tuple[Unit, Conflict]])


class GroupWriter(ABC, Generic[C]):
    fault: str | None
    patience = 0.0
    """For how many seconds a job is tried again while the database cannot be written; units are for ever."""
    most = 4096
    """Units of a batch."""

    def __init__(
        self,
        db: C,
        loop: asyncio.AbstractEventLoop,
        deliver: Deliver,
        replica: str,
        failures: type[Exception],
    ) -> None:
        self._db = db
        self._loop = loop
        self._deliver = deliver
        self._failures = failures
        self._queue: deque[Unit | Job[C]] = deque()
        self._wake = threading.Event()
        self._asleep = False
        self._stopping = False
        self._sequencer = Sequencer(replica, self._load, self._create)
        self._thread = threading.Thread(target=self._run, name="aster-writer", daemon=True)
        self.fault = None
        self.commits = 0
        self.events = 0

    @abstractmethod
    def _begin(self, units: Sequence[Unit]) -> None:
        """Begin the transaction of a batch."""

    @abstractmethod
    def _commit(self, batch: Batch) -> None:
        """End it: from here on it is durable."""

    @abstractmethod
    def _begin_job(self) -> None: ...

    @abstractmethod
    def _commit_job(self) -> None: ...

    @abstractmethod
    def _undo(self) -> None:
        """Leave no transaction open after a failure."""

    @abstractmethod
    def _load(self, key: ThreadKey) -> Slot:
        """What the database knows of a thread."""

    @abstractmethod
    def _create(self, key: ThreadKey) -> int:
        """A row for a thread that has none."""

    def start(self) -> None:
        self._thread.start()

    def submit(self, unit: Unit) -> None:
        self._queue.append(unit)
        self._rouse()

    def run(self, job: Callable[[C], object]) -> "asyncio.Future[object]":
        """Run maintenance between two batches."""
        done: asyncio.Future[object] = self._loop.create_future()
        self._queue.append(Job(job, done))
        self._rouse()
        return done

    def held(self, key: ThreadKey) -> int | None:
        """The epoch since which this process has a thread's turn."""
        return self._sequencer.held(key)

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

    def _rouse(self) -> None:
        """Wake the writer if it sleeps; while it works it looks at the queue by itself."""
        if self._asleep:
            self._wake.set()

    def _run(self) -> None:
        while self._wait():
            taken = self._take()
            if isinstance(taken, Job):
                self._run_job(taken)
            else:
                self._write_until_done(taken)

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

    def _take(self) -> list[Unit] | Job[C]:
        first = self._queue.popleft()
        if isinstance(first, Job):
            return first
        units = [first]
        while self._queue and len(units) < self.most and first.deed is None:
            head = self._queue[0]
            if isinstance(head, Job) or head.deed is not None:
                break
            units.append(head)
            self._queue.popleft()
        return units

    def _write_until_done(self, units: list[Unit]) -> None:
        while True:
            try:
                self._write(units)
                return
            except Exception as error:  # the boundary of the writer: what is bad of a unit must not end it
                self._roll_back()
                if isinstance(error, EngineError) and units[0].deed is not None:
                    self.fault = None
                    self._refuse(units[0], error)
                    return
                if not self._db.dialect.passing(error):
                    log.exception("a batch of %d units was refused", len(units))
                    self._write_singly(units, error)
                    return
                if not self._pause(error):
                    self._fail(units, error)
                    return

    def _write_singly(self, units: list[Unit], error: Exception) -> None:
        """One unit of the batch is bad: let the others through and tell its owner."""
        if len(units) == 1:
            self._fail(units, error)
            return
        for unit in units:
            unit.written.clear()
            self._write_until_done([unit])

    def _pause(self, error: BaseException) -> bool:
        """Wait before the next try; False when there is to be none."""
        if self.fault is None:
            log.error("the brain cannot be written, trying again: %s", error)
        self.fault = str(error)
        self._wake.clear()
        self._wake.wait(_RETRY_SECONDS)
        return not self._stopping

    def _roll_back(self) -> None:
        self._sequencer.forget()
        try:
            self._undo()
        except self._failures:
            log.exception("rollback failed")

    def _write(self, units: list[Unit]) -> None:
        now, batch = now_ms(), Batch()
        self._begin(units)
        for unit in units:
            unit.written.clear()
            try:
                for part in (unit,) if unit.deed is None else self._deed(unit):
                    self._sequencer.place(part, batch.threads, now)
                batch.accepted.append(unit)
            except Conflict as conflict:
                batch.refused.append((unit, conflict))
        for placed in batch.threads.values():
            close(placed, now)
        self._insert(batch.threads.values(), now)
        for placed in batch.threads.values():
            if placed.records or placed.handed:
                project(self._db, placed)
        for unit in batch.accepted:
            self._put_rows(unit)
        self._commit(batch)
        self._written(batch)

    def _deed(self, unit: Unit) -> Sequence[Unit]:
        """Do what the unit is to do if its guard holds; the unit with what tells of it, and what is told of it on other
        threads."""
        assert unit.deed is not None
        self._sequencer.admit(unit)
        told = unit.deed(self._db)
        here = () if unit.key is None else (unit.key.task_id, "")
        own = replace(unit, events=(*(event for event in told if event.task_id in here), *unit.events))
        others = [
            Unit(key, None, [event for event in told if event.task_id == key.task_id])
            for key in dict.fromkeys(unit.beside)
            if key != unit.key and self._sequencer.slot(key).thread_id is not None
        ]
        return (own, *(other for other in others if other.events))

    def _written(self, batch: Batch) -> None:
        """A batch is durable: count it and show it."""
        self._sequencer.committed()
        self.fault = None
        self.commits += 1
        self.events += sum(len(placed.frames) for placed in batch.threads.values())
        self._publish(batch)

    def _insert(self, threads: Iterable[Placed], now: int) -> None:
        values: list[object] = []
        count = 0
        for placed in threads:
            slot, user_id = placed.slot, placed.key.user_id
            for item in placed.frames:
                values += (slot.id, item.seq, user_id, item.turn_id, item.type, item.grade, now, item.json)
                count += 1
        self._insert_rows(values, count)

    def _insert_rows(self, values: list[object], count: int) -> None:
        start = 0
        for size in _CHUNKS:
            while count - start >= size:
                self._db.execute(INSERTS[size], values[start * 8 : (start + size) * 8])
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

    def _publish(self, batch: Batch) -> None:
        frames = [(key, placed.frames) for key, placed in batch.threads.items()]
        settled = [(unit.done, unit.written) for unit in batch.accepted if unit.done is not None]
        failed = [(unit.done, conflict) for unit, conflict in batch.refused if unit.done is not None]
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

    def _fail(self, units: list[Unit], error: Exception) -> None:
        failure = EngineError(
            ErrorCode.STORAGE_UNAVAILABLE,
            f"The brain could not be written: {error}. Free some space and try again.",
        )
        for unit in units:
            self._refuse(unit, failure)

    def _refuse(self, unit: Unit, failure: EngineError) -> None:
        """Nothing of a unit is written: tell whoever waits for it."""

        def tell() -> None:
            if unit.done is not None and not unit.done.done():
                unit.done.set_exception(failure)

        self._call(tell)

    def _run_job(self, job: Job[C]) -> None:
        until = time.monotonic() + self.patience
        while True:
            try:
                self._begin_job()
                result = job.work(self._db)
                self._commit_job()
            except BaseException as error:  # noqa: BLE001  # handed to whoever asked for the job
                self._roll_back()
                if time.monotonic() < until and self._again(error) and self._pause(error):
                    continue
                self.fault = None
                self._settle(job, error)
                return
            self.fault = None
            self._settle(job, None, result)
            return

    def _settle(self, job: Job[C], error: BaseException | None, result: object = None) -> None:
        def tell() -> None:
            if job.done.done():
                return
            if error is None:
                job.done.set_result(result)
            else:
                job.done.set_exception(error)

        self._call(tell)

    def _again(self, error: BaseException) -> bool:
        """Whether a job that failed so may be tried again: nothing of it is written."""
        return not self._stopping and self._db.dialect.passing(error)

    def _call(self, function: Callable[[], object]) -> None:
        try:
            self._loop.call_soon_threadsafe(function)
        except RuntimeError:
            log.warning("the loop is gone; what was committed is on the thread")
