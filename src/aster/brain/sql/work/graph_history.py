"""Forgetting changes of items that were changed very often: the newest of each are kept, and the one that made it.

An item has as many changes as its version says, so only those are looked at whose version is beyond what is kept.
"""

from aster.brain.sql.connection import Connection


def long(db: Connection, keep: int, limit: int) -> list[tuple[str, str]]:
    """Items of every user with more changes than are kept."""
    sql = (
        "SELECT w.user_id, w.item_id FROM work_items w WHERE w.version > 10 AND w.version > ? AND"
        " (SELECT count(*) FROM work_history h WHERE h.user_id = w.user_id AND h.item_id = w.item_id) > ? LIMIT ?"
    )
    return [(user_id, item_id) for user_id, item_id in db.execute(sql, (keep, keep + 1, limit))]


def shorten(db: Connection, user_id: str, item_id: str, keep: int) -> int:
    """Drop what is older than the newest changes of an item; says how many went."""
    sql = "SELECT number FROM work_history WHERE user_id = ? AND item_id = ? ORDER BY number DESC LIMIT 1 OFFSET ?"
    oldest = db.execute(sql, (user_id, item_id, keep - 1)).fetchone()
    if oldest is None:
        return 0
    sql = "DELETE FROM work_history WHERE user_id = ? AND item_id = ? AND number < ? AND action <> 'created'"
    return db.execute(sql, (user_id, item_id, oldest[0])).rowcount
