"""Reading what is known of work that outlives its turn; it is written beside the events that tell of it.

Whoever tells how it ended in the place of a replica that died takes it over first, so that it is told once.
"""

from typing import Any

from aster.brain.background import ENDING, BackgroundRecord
from aster.brain.records import ThreadKey
from aster.brain.sql.connection import Connection

_TASK = (
    "b.runtime_task_id, t.task_id, b.user_id, b.turn_id, b.tool_call_id, b.work, b.status, b.description,"
    " b.started_at, b.ended_at, b.exit_code, b.artifact_id, b.left_out, b.read_to, b.told_at,"
    " b.owner, b.asked_to_stop, b.wake, b.said, b.work_item, b.stalled_at, b.stall_told_at"
)
_FROM = f"SELECT {_TASK} FROM background_tasks b JOIN threads t USING (thread_id)"


def background_task(db: Connection, key: ThreadKey, runtime_task_id: str) -> BackgroundRecord | None:
    sql = f"{_FROM} WHERE t.user_id = ? AND t.task_id = ? AND b.runtime_task_id = ?"
    found = db.execute(sql, (*key, runtime_task_id)).fetchone()
    return None if found is None else _record(found)


def untold(db: Connection, key: ThreadKey) -> list[BackgroundRecord]:
    """What has ended on a thread without its model knowing, or seems to wait there for an answer, in the order in which
    that happened."""
    sql = (
        f"{_FROM} WHERE t.user_id = ? AND t.task_id = ? AND ((b.told_at IS NULL AND b.ended_at IS NOT NULL)"
        " OR (b.ended_at IS NULL AND b.stalled_at IS NOT NULL AND b.stall_told_at IS NULL))"
        " ORDER BY coalesce(b.ended_at, b.stalled_at), b.started_at"
    )
    return [_record(row) for row in db.execute(sql, key)]


def untold_threads(db: Connection) -> list[ThreadKey]:
    """Threads of every user on which something has ended or come to a halt untold; asked once, at boot."""
    of = "SELECT t.user_id, t.task_id FROM background_tasks b JOIN threads t USING (thread_id)"
    sql = (
        f"{of} WHERE b.told_at IS NULL AND b.ended_at IS NOT NULL"
        f" UNION {of} WHERE b.status = 'running' AND b.stalled_at IS NOT NULL AND b.stall_told_at IS NULL"
    )
    return [ThreadKey(*row) for row in db.execute(sql)]


def running(db: Connection) -> list[BackgroundRecord]:
    """What runs, of every user, on whichever replica; or ran there when it stopped."""
    return [_record(row) for row in db.execute(f"{_FROM} WHERE b.status = 'running' ORDER BY b.started_at")]


def of_user(db: Connection, user_id: str) -> list[BackgroundRecord]:
    """What runs for a user."""
    sql = f"{_FROM} WHERE b.user_id = ? AND b.status = 'running' ORDER BY b.started_at"
    return [_record(row) for row in db.execute(sql, (user_id,))]


def ask_to_stop(db: Connection, key: ThreadKey, runtime_task_id: str, why: str) -> bool:
    """Ask whoever runs it to end it; false when it has ended."""
    sql = (
        "UPDATE background_tasks SET asked_to_stop = ? WHERE user_id = ? AND runtime_task_id = ? AND status = 'running'"
        " AND thread_id = (SELECT thread_id FROM threads WHERE user_id = ? AND task_id = ?)"
    )
    return db.execute(sql, (why, key.user_id, runtime_task_id, *key)).rowcount > 0


def of_owner(db: Connection, owner: str) -> dict[str, str | None]:
    """What a replica runs as far as anybody knows, each with why it shall end, if it shall."""
    sql = "SELECT runtime_task_id, asked_to_stop FROM background_tasks WHERE status = 'running' AND owner = ?"
    return dict(db.execute(sql, (owner,)).fetchall())


def end(db: Connection, key: ThreadKey, runtime_task_id: str, owner: str) -> bool:
    """Become the one who tells how it ended, as the replica that ran it, however often that is asked; false when
    another tells that it is lost."""
    sql = (
        "UPDATE background_tasks SET owner = ? WHERE user_id = ? AND runtime_task_id = ? AND status = 'running'"
        " AND owner IN (?, ?)"
    )
    ending = owner + ENDING
    return db.execute(sql, (ending, key.user_id, runtime_task_id, owner, ending)).rowcount > 0


def take_over(db: Connection, record: BackgroundRecord, owner: str) -> bool:
    """Become the one who tells how it ended; false when somebody else has."""
    sql = (
        "UPDATE background_tasks SET owner = ? WHERE user_id = ? AND runtime_task_id = ? AND status = 'running'"
        " AND coalesce(owner, '') = ?"
    )
    given = (owner, record.user_id, record.runtime_task_id, record.owner or "")
    return db.execute(sql, given).rowcount > 0


def output(db: Connection, key: ThreadKey, runtime_task_id: str, offset: int = 0) -> list[tuple[int, str]]:
    """What a command that still runs has said from a position on, as far as it is written: pieces, each with its own
    position."""
    of = "FROM background_output WHERE user_id = ? AND runtime_task_id = ?"
    sql = f"SELECT position, text {of} AND part >= coalesce((SELECT max(part) {of} AND position <= ?), 0) ORDER BY part"
    return [
        (position, text)
        for position, text in db.execute(sql, (key.user_id, runtime_task_id, key.user_id, runtime_task_id, offset))
    ]


def _record(row: tuple[Any, ...]) -> BackgroundRecord:
    return BackgroundRecord(**dict(zip(BackgroundRecord.__struct_fields__, row, strict=True)))
