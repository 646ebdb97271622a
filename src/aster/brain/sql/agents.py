"""Agents of users, and sub-agents: reading them. They are written beside the events that tell of them."""

from typing import Any

from aster.brain.agents import AgentRow, SubagentRecord
from aster.brain.records import ThreadKey
from aster.brain.sql.connection import Connection

_AGENT = ", ".join(AgentRow.__struct_fields__)
_SUBAGENT = (
    "SELECT s.child_turn_id, s.user_id, h.task_id, s.turn_id, s.root_turn_id, s.tool_call_id, s.child_task_id, s.agent,"
    " s.background, s.status, s.body, s.result, s.created_at, s.ended_at, s.told_at, p.status, c.status"
    " FROM subagents s JOIN threads h USING (thread_id)"
    " LEFT JOIN turns p ON p.turn_id = s.turn_id LEFT JOIN turns c ON c.turn_id = s.child_turn_id"
)


def agents(db: Connection, user_id: str) -> list[AgentRow]:
    sql = f"SELECT {_AGENT} FROM agents WHERE user_id = ? ORDER BY name"
    names = AgentRow.__struct_fields__
    return [AgentRow(**dict(zip(names, row, strict=True))) for row in db.execute(sql, (user_id,))]


def drop_agent(db: Connection, user_id: str, name: str) -> bool:
    return db.execute("DELETE FROM agents WHERE user_id = ? AND name = ?", (user_id, name)).rowcount > 0


def subagent(db: Connection, user_id: str, child_turn_id: str) -> SubagentRecord | None:
    found = db.execute(
        f"{_SUBAGENT} WHERE s.user_id = ? AND s.child_turn_id = ?", (user_id, child_turn_id)
    ).fetchone()
    return None if found is None else _record(found)


def of_turn(db: Connection, user_id: str, turn_id: str) -> list[SubagentRecord]:
    """Those that a turn began."""
    sql = f"{_SUBAGENT} WHERE s.user_id = ? AND s.turn_id = ? ORDER BY s.created_at, s.rowid"
    return [_record(row) for row in db.execute(sql, (user_id, turn_id))]


def of_task(db: Connection, key: ThreadKey) -> list[SubagentRecord]:
    """Those that the turns of a task began."""
    sql = f"{_SUBAGENT} WHERE h.user_id = ? AND h.task_id = ? ORDER BY s.created_at, s.rowid"
    return [_record(row) for row in db.execute(sql, key)]


def running(db: Connection) -> list[SubagentRecord]:
    """Those of every user whose end is not on their parent's thread; asked once, at boot."""
    sql = f"{_SUBAGENT} WHERE s.status = 'running' ORDER BY s.created_at, s.rowid"
    return [_record(row) for row in db.execute(sql)]


def untold_threads(db: Connection) -> list[ThreadKey]:
    """Threads of every user on which one has ended in the background untold; asked once, at boot."""
    sql = (
        "SELECT DISTINCT h.user_id, h.task_id FROM subagents s JOIN threads h USING (thread_id)"
        " WHERE s.background = 1 AND s.ended_at IS NOT NULL AND s.told_at IS NULL"
    )
    return [ThreadKey(*row) for row in db.execute(sql)]


def of_root(db: Connection, home: ThreadKey, root_turn_id: str) -> tuple[int, float]:
    """How many a person's turn led to altogether, and what it and all of them have spent."""
    user_id, task_id = home
    count = db.execute(
        "SELECT count(*) FROM subagents WHERE user_id = ? AND root_turn_id = ?", (user_id, root_turn_id)
    ).fetchone()[0]
    spent = db.execute(
        "SELECT sum(cost_usd) FROM usage WHERE user_id = ? AND task_id IN"
        " (SELECT ? UNION SELECT task_id FROM threads WHERE user_id = ? AND home_task_id = ?) AND turn_id IN"
        " (SELECT ? UNION SELECT child_turn_id FROM subagents WHERE user_id = ? AND root_turn_id = ?)",
        (user_id, task_id, user_id, task_id, root_turn_id, user_id, root_turn_id),
    ).fetchone()[0]
    return count, spent or 0.0


def waits(db: Connection, user_id: str, turn_id: str) -> bool:
    """Whether a turn waits for a person, or for a sub-agent."""
    sql = (
        "SELECT EXISTS (SELECT 1 FROM hitl_requests WHERE user_id = ? AND turn_id = ? AND status = 'pending')"
        " OR EXISTS (SELECT 1 FROM subagents WHERE user_id = ? AND turn_id = ? AND status = 'running'"
        " AND background = 0)"
    )
    return bool(db.execute(sql, (user_id, turn_id, user_id, turn_id)).fetchone()[0])


def _record(row: tuple[Any, ...]) -> SubagentRecord:
    return SubagentRecord(**dict(zip(SubagentRecord.__struct_fields__, row, strict=True)))
