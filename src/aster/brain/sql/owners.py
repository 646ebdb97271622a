"""Turns that other processes run: asking them to stop, and counting how often they died over the same segment."""

from aster.brain.records import ThreadKey
from aster.brain.sql.connection import Connection


def ask_to_stop(db: Connection, key: ThreadKey, turn_id: str, stop_reason: str) -> bool:
    """Leave a note on the thread, while this turn of it runs; the first one counts."""
    changed = db.execute(
        "UPDATE threads SET asked_to_stop = coalesce(asked_to_stop, ?)"
        " WHERE user_id = ? AND task_id = ? AND active_turn_id = ? AND status = 'running'",
        (stop_reason, *key, turn_id),
    )
    return changed.rowcount > 0


def running_by(db: Connection) -> dict[str | None, int]:
    """Who runs turns, of every user, and how many; None for those that nobody has."""
    sql = (
        "SELECT h.owner, count(*) FROM turns t JOIN threads h USING (thread_id) WHERE t.status = 'running'"
        " GROUP BY h.owner"
    )
    return {owner: int(count) for owner, count in db.execute(sql)}


def count_crash(db: Connection, user_id: str, turn_id: str) -> int:
    found = db.execute(
        "UPDATE turns SET crashes = crashes + 1 WHERE user_id = ? AND turn_id = ? RETURNING crashes",
        (user_id, turn_id),
    ).fetchone()
    return 0 if found is None else int(found[0])
