"""Reading compacted conversations: the way back from a turn ends at the newest one on it, not at the root."""

from typing import Any

from aster.brain.compaction_records import CompactionRow, WayBack
from aster.brain.records import ConversationRow, ThreadKey
from aster.brain.sql.connection import Connection

_VIEW = ", ".join(CompactionRow.__struct_fields__)
_TURN = ", ".join(ConversationRow.__struct_fields__)
_THREAD = "thread_id = (SELECT thread_id FROM threads WHERE user_id = ? AND task_id = ?)"


def way_back(db: Connection, key: ThreadKey, turn_id: str, messages: int | None) -> WayBack:
    """The turns from a place back to what was compacted last on that way, newest first."""
    found = db.execute("SELECT thread_id FROM threads WHERE user_id = ? AND task_id = ?", key).fetchone()
    turns: list[ConversationRow] = []
    following: str | None = turn_id
    while found is not None and following is not None:
        row = db.execute(
            f"SELECT {_TURN} FROM conversations WHERE turn_id = ? AND thread_id = ?", (following, found[0])
        ).fetchone()
        if row is None:
            break
        turns.append(_of(ConversationRow, row))
        limit = turns[-1].message_count if messages is None else messages
        view = db.execute(
            f"SELECT {_VIEW} FROM compactions WHERE turn_id = ? AND thread_id = ? AND ok = 1 AND covers <= ?"
            " ORDER BY created_at DESC, covers DESC, rowid DESC LIMIT 1",
            (following, found[0], limit),
        ).fetchone()
        if view is not None:
            return WayBack(turns, _of(CompactionRow, view))
        following, messages = turns[-1].follows_turn_id, turns[-1].follows_messages
    return WayBack(turns, None)


def compaction(db: Connection, user_id: str, compaction_id: str) -> CompactionRow | None:
    row = db.execute(
        f"SELECT {_VIEW} FROM compactions WHERE user_id = ? AND compaction_id = ?", (user_id, compaction_id)
    ).fetchone()
    return None if row is None else _of(CompactionRow, row)


def failures(db: Connection, key: ThreadKey) -> int:
    """How many compactions of a task have failed since the last one that did not."""
    newest = db.execute(
        f"SELECT ok FROM compactions WHERE {_THREAD} ORDER BY created_at DESC, rowid DESC LIMIT 10", key
    ).fetchall()
    return next((count for count, (ok,) in enumerate(newest) if ok), len(newest))


def _of(kind: type[Any], row: tuple[Any, ...]) -> Any:
    return kind(**dict(zip(kind.__struct_fields__, row, strict=True)))
