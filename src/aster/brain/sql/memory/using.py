"""Counting use: a record that entered a turn's context grows stronger, and remembers which task saw it; a lesson also,
whether it helped."""

from collections.abc import Sequence

from aster.brain.sql.connection import Connection
from aster.brain.sql.memory.rows import batches, marks


def use(db: Connection, user_id: str, ids: Sequence[str], task_id: str, turn_id: str, now: int) -> None:
    for some in batches(dict.fromkeys(ids)):
        found = db.execute(
            f"SELECT number FROM memory_receipts WHERE user_id = ? AND id IN ({marks(some)})", (user_id, *some)
        ).fetchall()
        for (number,) in found:
            db.execute(
                "UPDATE memory_receipts SET uses = uses + 1, last_used_at = ? WHERE number = ?", (now, number)
            )
            db.execute(
                "INSERT INTO memory_uses VALUES (?, ?, ?, ?, 1, ?) ON CONFLICT (number, task_id) DO UPDATE SET"
                " times = memory_uses.times + 1, turn_id = excluded.turn_id, used_at = excluded.used_at",
                (number, user_id, task_id, turn_id, now),
            )


def mark(db: Connection, user_id: str, ids: Sequence[str], *, helpful: bool) -> None:
    """Those of these records that are lessons helped, or did harm."""
    column = "helpful" if helpful else "harmful"
    for some in batches(dict.fromkeys(ids)):
        db.execute(
            f"UPDATE lessons SET {column} = {column} + 1 WHERE user_id = ? AND number IN"
            f" (SELECT number FROM memory_receipts WHERE user_id = ? AND kind = 'lesson' AND id IN ({marks(some)}))",
            (user_id, user_id, *some),
        )
