"""Grants: reading those that hold, withdrawing one, and the recorded calls a new rule is tried on."""

from typing import Any

from aster.brain.grants import GrantRow, PastCall
from aster.brain.records import ThreadKey
from aster.brain.sql.connection import Connection

_GRANT = ", ".join(GrantRow.__struct_fields__)


def grants(db: Connection, user_id: str, now: int) -> list[GrantRow]:
    """Every grant of a user that has not run out, newest first."""
    sql = (
        f"SELECT {_GRANT} FROM grants WHERE user_id = ? AND (expires_at IS NULL OR expires_at > ?)"
        " ORDER BY created_at DESC, rowid DESC"
    )
    return [_grant(row) for row in db.execute(sql, (user_id, now))]


def grants_for(db: Connection, key: ThreadKey, agent: str, now: int) -> list[GrantRow]:
    """The grants of a user that reach into a task, as an agent works on it."""
    sql = (
        f"SELECT {_GRANT} FROM grants WHERE user_id = ? AND (expires_at IS NULL OR expires_at > ?)"
        " AND (scope = 'everywhere' OR (scope = 'task' AND task_id = ?) OR (scope = 'agent' AND agent = ?))"
        " ORDER BY created_at DESC, rowid DESC"
    )
    return [_grant(row) for row in db.execute(sql, (key.user_id, now, key.task_id, agent))]


def drop_grant(db: Connection, user_id: str, grant_id: str) -> bool:
    return db.execute("DELETE FROM grants WHERE user_id = ? AND grant_id = ?", (user_id, grant_id)).rowcount > 0


def note_use(db: Connection, user_id: str, grant_id: str, now: int) -> None:
    """A call ran because of a grant."""
    db.execute(
        "UPDATE grants SET uses = uses + 1, last_used_at = ? WHERE user_id = ? AND grant_id = ?",
        (now, user_id, grant_id),
    )


def past_calls(db: Connection, user_id: str, threads: int, limit: int) -> list[PastCall]:
    """The newest calls on a user's newest threads: what was run, and what a person was asked and said.

    A call that was refused without a question is known by its result alone. In a replay nothing was run.
    """
    recent = db.execute(
        "SELECT thread_id, task_id FROM threads WHERE user_id = ? AND (parent_task_id IS NULL OR from_task_id IS NULL)"
        " ORDER BY updated_at DESC, task_id DESC LIMIT ?",
        (user_id, threads),
    ).fetchall()
    found: list[PastCall] = []
    for thread_id, task_id in recent:
        rows = db.execute(
            "SELECT seq, type, data FROM thread_events WHERE thread_id = ? AND user_id = ?"
            " AND type IN ('tool_call', 'permission_prompt', 'hitl_resolved') AND grade != 'delta'"
            " ORDER BY seq DESC LIMIT ?",
            (thread_id, user_id, limit - len(found)),
        ).fetchall()
        found += [PastCall(task_id=task_id, seq=seq, type=kind, data=data) for seq, kind, data in reversed(rows)]
        if len(found) >= limit:
            break
    return found


def _grant(row: tuple[Any, ...]) -> GrantRow:
    return GrantRow(**dict(zip(GrantRow.__struct_fields__, row, strict=True)))
