"""Reading what model calls were shown: the `context_manifest` events of a thread, found by an index of their own."""

from typing import Any

from aster.brain.records import ThreadKey
from aster.brain.sql.connection import Connection


def manifests(
    db: Connection,
    key: ThreadKey,
    *,
    turn_id: str | None = None,
    after: int = 0,
    before: int | None = None,
    limit: int | None = None,
) -> list[bytes]:
    """The manifests of a task (or of one of its turns) between two seqs, the newest `limit` of them, oldest first."""
    sql = (
        "SELECT data FROM thread_events WHERE type = 'context_manifest' AND user_id = ?"
        " AND thread_id = (SELECT thread_id FROM threads WHERE user_id = ? AND task_id = ?) AND seq > ?"
    )
    params: list[Any] = [key.user_id, *key, after]
    if turn_id is not None:
        sql, params = sql + " AND turn_id = ?", [*params, turn_id]
    if before is not None:
        sql, params = sql + " AND seq < ?", [*params, before]
    sql += " ORDER BY seq DESC"
    if limit is not None:
        sql, params = sql + " LIMIT ?", [*params, limit]
    found = db.execute(sql, params).fetchall()
    return [data for (data,) in reversed(found)]
