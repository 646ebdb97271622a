"""Reading what is known of work that outlives its turn; it is written beside the events that tell of it."""

from typing import Any

from aster.brain.records import BackgroundRecord, ThreadKey
from aster.brain.sql.connection import Connection

_TASK = (
    "b.runtime_task_id, t.task_id, b.user_id, b.turn_id, b.tool_call_id, b.work, b.status, b.description,"
    " b.started_at, b.ended_at, b.exit_code, b.artifact_id, b.left_out, b.read_to, b.told_at"
)
_FROM = f"SELECT {_TASK} FROM background_tasks b JOIN threads t USING (thread_id)"


def background_task(db: Connection, key: ThreadKey, runtime_task_id: str) -> BackgroundRecord | None:
    sql = f"{_FROM} WHERE t.user_id = ? AND t.task_id = ? AND b.runtime_task_id = ?"
    found = db.execute(sql, (*key, runtime_task_id)).fetchone()
    return None if found is None else _record(found)


def untold(db: Connection, key: ThreadKey) -> list[BackgroundRecord]:
    """What has ended on a thread without its model knowing, in the order of the ends."""
    sql = (
        f"{_FROM} WHERE t.user_id = ? AND t.task_id = ? AND b.told_at IS NULL AND b.ended_at IS NOT NULL"
        " ORDER BY b.ended_at, b.started_at"
    )
    return [_record(row) for row in db.execute(sql, key)]


def untold_threads(db: Connection) -> list[ThreadKey]:
    """Threads of every user on which something has ended untold; asked once, at boot."""
    sql = (
        "SELECT DISTINCT t.user_id, t.task_id FROM background_tasks b JOIN threads t USING (thread_id)"
        " WHERE b.told_at IS NULL AND b.ended_at IS NOT NULL"
    )
    return [ThreadKey(*row) for row in db.execute(sql)]


def running(db: Connection) -> list[BackgroundRecord]:
    """What was running when the engine stopped, of every user; asked once, at boot."""
    return [_record(row) for row in db.execute(f"{_FROM} WHERE b.status = 'running' ORDER BY b.started_at")]


def _record(row: tuple[Any, ...]) -> BackgroundRecord:
    return BackgroundRecord(**dict(zip(BackgroundRecord.__struct_fields__, row, strict=True)))
