"""When people were last heard: learning stands back behind them, and is never kept waiting by itself.

A thread with a parent is a sub-agent's, a replay's or learning's own; none of them is a person."""

from aster.brain.sql.connection import Connection


def active_at(db: Connection, now: int) -> int | None:
    """When a turn of any person last began, paused or ended; now while one runs."""
    own = "FROM threads WHERE parent_task_id IS NULL"
    if db.execute(f"SELECT 1 {own} AND status = 'running' LIMIT 1").fetchone() is not None:
        return now
    found = db.execute(f"SELECT max(updated_at) {own}").fetchone()
    return None if found is None or found[0] is None else int(found[0])
