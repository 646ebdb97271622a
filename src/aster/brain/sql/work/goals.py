"""Goals in SQL: a projection of `goal_status` events, so that the table never says what the thread does not.

A judgement about a goal that was replaced or cleared meanwhile changes nothing."""

from typing import Final

from aster.brain.goals import Goal
from aster.brain.records import ThreadKey
from aster.brain.sql.connection import Connection
from aster.brain.sql.running import Reads
from aster.contracts.events import GoalStatus

_FIELDS: Final = Goal.__struct_fields__
_SETTLED: Final = ("achieved", "failed")


def noted(db: Connection, event: GoalStatus, thread_id: int, user_id: str, now: int) -> None:
    match event.status:
        case "active":
            db.execute(
                "INSERT INTO goals (thread_id, user_id, goal_id, goal, status, outcome, reason, blocks, set_at,"
                " updated_at) VALUES (?, ?, ?, ?, 'active', 'active', NULL, 0, ?, ?) ON CONFLICT (thread_id)"
                " DO UPDATE SET goal_id = excluded.goal_id, goal = excluded.goal, status = 'active',"
                " outcome = 'active', reason = NULL, blocks = 0, set_at = excluded.set_at,"
                " updated_at = excluded.updated_at",
                (thread_id, user_id, event.goal_id, event.goal, now, now),
            )
        case "cleared":
            db.execute("DELETE FROM goals WHERE thread_id = ? AND goal_id = ?", (thread_id, event.goal_id))
        case outcome:
            db.execute(
                "UPDATE goals SET status = ?, outcome = ?, reason = ?, blocks = ?, updated_at = ?"
                " WHERE thread_id = ? AND goal_id = ? AND status = 'active'",
                (
                    *(outcome if outcome in _SETTLED else "active", outcome, event.reason, event.blocks, now),
                    *(thread_id, event.goal_id),
                ),
            )


def of(db: Connection, key: ThreadKey) -> Goal | None:
    found = db.execute(
        f"SELECT {', '.join(f'g.{name}' for name in _FIELDS)} FROM goals g JOIN threads t USING (thread_id)"
        " WHERE t.user_id = ? AND t.task_id = ?",
        key,
    ).fetchone()
    return None if found is None else Goal(**dict(zip(_FIELDS, found, strict=True)))


class SqlGoals:
    def __init__(self, readers: Reads) -> None:
        self._readers = readers

    async def of(self, key: ThreadKey) -> Goal | None:
        return await self._readers.run(of, key)
