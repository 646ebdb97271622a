"""The writer of the brain's file. A batch of deltas alone does not wait for the disk (it survives the death of the
process); a batch with any record does (it survives a power cut)."""

import asyncio
import sqlite3
from collections.abc import Sequence
from pathlib import Path

from aster.brain.records import ThreadKey
from aster.brain.sequencer import Slot
from aster.brain.sql.writer import INSERTS, Batch, Deliver, GroupWriter
from aster.brain.sqlite.connection import BrainConnection, connect
from aster.brain.unit import Unit
from aster.contracts.events import Grade
from aster.infra.clock import now_ms


class Writer(GroupWriter[BrainConnection]):
    def __init__(self, path: Path, loop: asyncio.AbstractEventLoop, deliver: Deliver, replica: str) -> None:
        super().__init__(connect(path), loop, deliver, replica, sqlite3.Error)
        self._synchronous = "FULL"

    def stop(self) -> None:
        super().stop()
        self._db.close()

    def _begin(self, units: Sequence[Unit]) -> None:
        light = all(map(_is_light, units))
        self._choose_durability(light)
        if not light:
            self._begin_job()

    def _choose_durability(self, light: bool) -> None:
        """A batch that holds nothing but deltas need not wait for the disk."""
        wanted = "NORMAL" if light else "FULL"
        if wanted != self._synchronous:
            self._db.execute(f"PRAGMA synchronous = {wanted}")
            self._synchronous = wanted

    def _insert_rows(self, values: list[object], count: int) -> None:
        if count not in INSERTS and count and not self._db.in_transaction:
            self._begin_job()
        super()._insert_rows(values, count)

    def _commit(self, batch: Batch) -> None:
        if self._db.in_transaction:
            self._commit_job()

    def _begin_job(self) -> None:
        self._db.execute("BEGIN IMMEDIATE")

    def _commit_job(self) -> None:
        self._db.execute("COMMIT")

    def _undo(self) -> None:
        if self._db.in_transaction:
            self._db.execute("ROLLBACK")

    def _load(self, key: ThreadKey) -> Slot:
        found = self._db.execute(
            "SELECT thread_id, status, active_turn_id, updated_at, title, owner, epoch FROM threads"
            " WHERE user_id = ? AND task_id = ?",
            key,
        ).fetchone()
        if found is None:
            return Slot()
        thread_id, status, active, updated, title, owner, epoch = found
        head = self._db.execute(
            "SELECT seq, ts FROM thread_events WHERE thread_id = ? ORDER BY seq DESC LIMIT 1", (thread_id,)
        ).fetchone() or (0, 0)
        requests = self._db.execute(
            "SELECT request_id FROM hitl_requests WHERE thread_id = ? AND status = 'pending'", (thread_id,)
        )
        return Slot(
            *(thread_id, head[0], status, active, max(updated, head[1])),
            *({r for (r,) in requests}, title, owner, epoch),
        )

    def _create(self, key: ThreadKey) -> int:
        now = now_ms()
        cursor = self._db.execute(
            "INSERT INTO threads (user_id, task_id, created_at, updated_at) VALUES (?, ?, ?, ?)", (*key, now, now)
        )
        assert cursor.lastrowid is not None
        return cursor.lastrowid


def _is_light(unit: Unit) -> bool:
    """Deltas alone; a single statement of them is its own transaction."""
    if unit.rows or unit.hand is not None or unit.deed is not None:
        return False
    return all(event.grade is Grade.DELTA for event in unit.events)
