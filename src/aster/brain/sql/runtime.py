"""`RuntimeStore` in SQL: two tables read as one list.

A row of either is found through its user and the time it began, so a page costs what it shows, and not what there is.
"""

from collections.abc import Sequence
from typing import Any, Final

from aster.brain.records import ThreadKey
from aster.brain.runtime import RuntimeKind, RuntimePlace, RuntimeRecord, RuntimeShow
from aster.brain.sql.connection import Connection
from aster.brain.sql.running import Reads
from aster.brain.unit import Deed
from aster.contracts.errors import EngineError
from aster.contracts.events import Event
from aster.infra.clock import now_ms

_COMMANDS: Final = (
    "SELECT b.runtime_task_id AS runtime_id, 'bash' AS kind, b.user_id AS user_id, t.task_id AS task_id, b.turn_id,"
    " b.tool_call_id, CASE WHEN b.status = 'running' AND b.stalled_at IS NOT NULL THEN 'stalled' ELSE b.status END"
    " AS status, b.description, b.started_at AS started_at, b.ended_at, b.exit_code, b.said, b.left_out,"
    " b.told_at, b.work_item, b.wake, b.stalled_at, b.artifact_id, CAST(NULL AS TEXT) AS child_task_id,"
    " CAST(NULL AS TEXT) AS agent, CAST(NULL AS BYTEA) AS given"
    " FROM background_tasks b JOIN threads t USING (thread_id)"
)
_AGENTS: Final = (
    "SELECT s.child_task_id AS runtime_id, 'agent' AS kind, s.user_id AS user_id, t.task_id AS task_id, s.turn_id,"
    " s.tool_call_id, CASE s.status WHEN 'errored' THEN 'failed' WHEN 'cancelled' THEN 'killed' ELSE s.status END"
    " AS status, '', s.created_at AS started_at, s.ended_at, CAST(NULL AS BIGINT),"
    " length(coalesce(s.result, '')), 0, s.told_at,"
    " (SELECT min(w.item_id) FROM work_items w WHERE w.user_id = s.user_id AND w.owner_task_id = s.child_task_id),"
    " 0, CAST(NULL AS BIGINT), CAST(NULL AS TEXT), s.child_task_id AS child_task_id, s.agent, s.body"
    " FROM subagents s JOIN threads t USING (thread_id)"
)
_BEHIND: Final = "s.background = 1"


def tasks(
    db: Connection,
    user_id: str,
    *,
    limit: int,
    status: RuntimeShow | None = None,
    task_id: str | None = None,
    kind: RuntimeKind | None = None,
    after: RuntimePlace | None = None,
) -> list[RuntimeRecord]:
    parts: list[str] = []
    given: list[Any] = []
    for name, sql, own, began, mark in (
        ("bash", _COMMANDS, "b.user_id = ?", "b.started_at", "b.runtime_task_id"),
        ("agent", _AGENTS, f"s.user_id = ? AND {_BEHIND}", "s.created_at", "s.child_task_id"),
    ):
        if kind not in (None, name):
            continue
        part, values = f"{sql} WHERE {own}", [user_id]
        if task_id is not None:
            part, values = f"{part} AND t.task_id = ?", [*values, task_id]
        if status is not None:
            part, values = f"{part} AND {_standing(name, status)}", values
        if after is not None:
            part = f"{part} AND ({began} < ? OR ({began} = ? AND {mark} < ?))"
            values = [*values, after.started_at, after.started_at, after.runtime_id]
        parts.append(
            f"SELECT * FROM ({part} ORDER BY started_at DESC, runtime_id DESC LIMIT {int(limit)}) AS {name}s"
        )
        given += values
    sql = f"{' UNION ALL '.join(parts)} ORDER BY started_at DESC, runtime_id DESC LIMIT {int(limit)}"
    return [_record(row) for row in db.execute(sql, given)]


def _standing(kind: str, status: RuntimeShow) -> str:
    """The condition under which a row of a table has a status; the words are ours."""
    if kind == "agent":
        named = {"failed": "errored", "killed": "cancelled", "active": "running"}.get(status, status)
        return f"s.status = '{named}'"
    match status:
        case "active":
            return "b.status = 'running'"
        case "running":
            return "b.status = 'running' AND b.stalled_at IS NULL"
        case "stalled":
            return "b.status = 'running' AND b.stalled_at IS NOT NULL"
        case _:
            return f"b.status = '{status}'"


def task(db: Connection, user_id: str, runtime_id: str) -> RuntimeRecord | None:
    sql = f"{_COMMANDS} WHERE b.user_id = ? AND b.runtime_task_id = ?"
    found = db.execute(sql, (user_id, runtime_id)).fetchone()
    if found is None:
        sql = f"{_AGENTS} WHERE s.user_id = ? AND {_BEHIND} AND s.child_task_id = ? ORDER BY s.created_at DESC LIMIT 1"
        found = db.execute(sql, (user_id, runtime_id)).fetchone()
    return None if found is None else _record(found)


def last_words(db: Connection, user_id: str, runtime_id: str) -> str:
    sql = f"SELECT s.result FROM subagents s WHERE s.user_id = ? AND {_BEHIND} AND s.child_task_id = ?"
    found = db.execute(f"{sql} ORDER BY s.created_at DESC LIMIT 1", (user_id, runtime_id)).fetchone()
    return (found[0] or "") if found is not None else ""


def taken(db: Connection, key: ThreadKey, turn_id: str, message_id: str) -> bool:
    sql = (
        "SELECT EXISTS (SELECT 1 FROM turns WHERE user_id = ? AND turn_id = ?)"
        " OR EXISTS (SELECT 1 FROM message_names WHERE user_id = ? AND message_id = ?)"
    )
    return bool(db.execute(sql, (key.user_id, turn_id, key.user_id, message_id)).fetchone()[0])


class Leaving:
    """Lets a message of a name be left for its task, once."""

    def __init__(self, key: ThreadKey, turn_id: str, message_id: str, refusal: EngineError) -> None:
        self._key = key
        self._turn_id = turn_id
        self._message_id = message_id
        self._refusal = refusal

    def __call__(self, db: Connection, /) -> Sequence[Event]:
        user_id, task_id = self._key
        if taken(db, self._key, self._turn_id, self._message_id):
            raise self._refusal
        db.execute(
            "INSERT INTO message_names (message_id, thread_id, user_id, created_at)"
            " SELECT ?, thread_id, user_id, ? FROM threads WHERE user_id = ? AND task_id = ?",
            (self._message_id, now_ms(), user_id, task_id),
        )
        return ()


class SqlRuntime:
    def __init__(self, readers: Reads) -> None:
        self._readers = readers

    async def tasks(
        self,
        user_id: str,
        *,
        limit: int,
        status: RuntimeShow | None = None,
        task_id: str | None = None,
        kind: RuntimeKind | None = None,
        after: RuntimePlace | None = None,
    ) -> list[RuntimeRecord]:
        return await self._readers.run(
            tasks, user_id, limit=limit, status=status, task_id=task_id, kind=kind, after=after
        )

    async def task(self, user_id: str, runtime_id: str) -> RuntimeRecord | None:
        return await self._readers.run(task, user_id, runtime_id)

    async def last_words(self, user_id: str, runtime_id: str) -> str:
        return await self._readers.run(last_words, user_id, runtime_id)

    async def taken(self, key: ThreadKey, turn_id: str, message_id: str) -> bool:
        return await self._readers.run(taken, key, turn_id, message_id)

    def leaving(self, key: ThreadKey, turn_id: str, message_id: str, refusal: EngineError) -> Deed:
        return Leaving(key, turn_id, message_id, refusal)


def _record(row: tuple[Any, ...]) -> RuntimeRecord:
    found: dict[str, Any] = dict(zip(RuntimeRecord.__struct_fields__, row, strict=True))
    found["wake"] = bool(found["wake"])
    return RuntimeRecord(**found)
