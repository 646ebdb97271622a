"""Reading projects. Whether one waits for a person is seen by the turn of its open advance, each time it is asked, and
what is open, ready or done on its board is the work graph's to say."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from aster.brain.records import ThreadKey
from aster.brain.sql.connection import Connection
from aster.brain.sql.work import graph
from aster.contracts.projects import (
    Advance,
    Project,
    ProjectArtifact,
    ProjectBudget,
    ProjectNode,
    ProjectRecord,
    ProjectStatus,
)
from aster.contracts.work import WorkItem

OPEN: Final = "status IN ('due', 'running')"
WAITS: Final = "A question of it waits for an answer."
MOST_NODES: Final = 2000
_WAITING: Final = (
    "EXISTS (SELECT 1 FROM project_advances a JOIN turns t ON t.turn_id = a.turn_id WHERE a.user_id = p.user_id"
    " AND a.project_id = p.project_id AND a.status = 'running' AND t.status = 'suspended')"
)
_STATUS: Final = f"CASE WHEN p.status = 'ACTIVE' AND {_WAITING} THEN 'NEEDS_USER' ELSE p.status END"
_PLAIN: Final = ("project_id", "user_id", "title", "brief", "notes", "reason", "going", "version")
_TIMES: Final = ("created_at", "updated_at", "number")
_SPENT: Final = (
    *("max_steps", "max_seconds", "max_tool_calls", "max_usd"),
    *("used_steps", "used_ms", "used_calls", "used_usd"),
)
_PROJECT: Final = (*_PLAIN, *_TIMES)
_PROJECTS: Final = f"SELECT {', '.join(f'p.{name}' for name in (*_PROJECT, *_SPENT))}, {_STATUS} FROM projects p"
_ADVANCE: Final = Advance.__struct_fields__
_ADVANCES: Final = f"SELECT {', '.join(f'a.{name}' for name in _ADVANCE)}"
_ARTIFACT: Final = ProjectArtifact.__struct_fields__
_RECORD: Final = (
    *("number", "project_id", "kind", "message", "actor", "at"),
    *("item_id", "task_id", "turn_id"),
)


def project(db: Connection, user_id: str, project_id: str) -> Project | None:
    return _one(db, f"{_PROJECTS} WHERE p.user_id = ? AND p.project_id = ?", (user_id, project_id))


def titled(db: Connection, user_id: str, title: str) -> Project | None:
    return _one(db, f"{_PROJECTS} WHERE p.user_id = ? AND p.title_key = ?", (user_id, title_key(title)))


def title_key(title: str) -> str:
    """What two titles have in common that are the same but for their letters' case and spaces."""
    return " ".join(title.split()).casefold()


def active(db: Connection, key: ThreadKey) -> Project | None:
    sql = (
        f"{_PROJECTS} JOIN project_tasks t ON t.project_id = p.project_id AND t.user_id = p.user_id"
        " WHERE t.user_id = ? AND t.task_id = ? AND t.active = 1"
    )
    return _one(db, sql, key)


def projects(
    db: Connection, user_id: str, *, limit: int, before: int | None = None, status: ProjectStatus | None = None
) -> list[Project]:
    where, given = ["p.user_id = ?"], list[object]((user_id,))
    if before is not None:
        where.append("p.number < ?")
        given.append(before)
    where.append("p.status <> 'ARCHIVED'" if status is None else f"{_STATUS} = ?")
    if status is not None:
        given.append(status)
    sql = f"{_PROJECTS} WHERE {' AND '.join(where)} ORDER BY p.number DESC LIMIT ?"
    return _with_advances(db, user_id, db.execute(sql, (*given, limit)).fetchall())


def tasks(db: Connection, user_id: str, project_id: str) -> list[str]:
    sql = "SELECT task_id FROM project_tasks WHERE user_id = ? AND project_id = ? ORDER BY since DESC, task_id LIMIT ?"
    return [row[0] for row in db.execute(sql, (user_id, project_id, MOST_NODES))]


def nodes(db: Connection, user_id: str, project_id: str) -> list[ProjectNode]:
    sql = "SELECT item_id, parent_id FROM project_nodes WHERE user_id = ? AND project_id = ?"
    above = dict(db.execute(sql, (user_id, project_id)).fetchall())
    board = board_of(project_id)
    items = graph.items(db, user_id, limit=MOST_NODES, board=board)
    known = {item.item_id for item in items}
    below: dict[str, list[WorkItem]] = {}
    for item in items:
        parent = above.get(item.item_id, "")
        below.setdefault(parent if parent in known else "", []).append(item)
    found: list[ProjectNode] = []
    left = [(item, "", 0) for item in reversed(below.get("", ()))]
    while left:
        item, parent, depth = left.pop()
        found.append(ProjectNode(item=item, parent_id=parent, depth=depth))
        left += [(part, item.item_id, depth + 1) for part in reversed(below.get(item.item_id, ()))]
    return found


def artifacts(
    db: Connection,
    user_id: str,
    project_id: str,
    *,
    limit: int,
    before: int | None = None,
    item_ids: Sequence[str] | None = None,
) -> list[ProjectArtifact]:
    where, given = (
        "user_id = ? AND project_id = ?",
        [user_id, project_id, *((before,) if before is not None else ())],
    )
    if before is not None:
        where += " AND number < ?"
    if item_ids is not None:
        where += f" AND item_id IN ({', '.join('?' * len(item_ids))})"
        given += item_ids
    return _artifacts(db, where, (*given, limit))


def results(db: Connection, user_id: str, project_id: str, limit: int) -> list[ProjectArtifact]:
    where = "user_id = ? AND project_id = ? AND kind = 'note' AND item_id <> ''"
    return _artifacts(db, where, (user_id, project_id, limit))


def records(
    db: Connection, user_id: str, project_id: str, *, limit: int, before: int | None = None, kind: str | None = None
) -> list[ProjectRecord]:
    where, given = ["user_id = ?", "project_id = ?"], list[object]((user_id, project_id))
    for clause, value in (("number < ?", before), ("kind = ?", kind)):
        if value is not None:
            where.append(clause)
            given.append(value)
    sql = (
        f"SELECT {', '.join(_RECORD)} FROM project_records WHERE {' AND '.join(where)} ORDER BY number DESC LIMIT ?"
    )
    found: list[ProjectRecord] = []
    for row in db.execute(sql, (*given, limit)):
        fields: dict[str, Any] = dict(zip(_RECORD, row, strict=True))
        found.append(ProjectRecord(**{"by" if name == "actor" else name: value for name, value in fields.items()}))
    return found


def advance(db: Connection, user_id: str, advance_id: str) -> Advance | None:
    sql = f"{_ADVANCES} FROM project_advances a WHERE a.user_id = ? AND a.advance_id = ?"
    return next(iter(_advances(db.execute(sql, (user_id, advance_id)))), None)


def advances(
    db: Connection, user_id: str, project_id: str, *, limit: int, before: int | None = None
) -> list[Advance]:
    until, given = ("", ()) if before is None else (" AND a.number < ?", (before,))
    sql = (
        f"{_ADVANCES} FROM project_advances a WHERE a.user_id = ? AND a.project_id = ?{until}"
        " ORDER BY a.number DESC LIMIT ?"
    )
    return _advances(db.execute(sql, (user_id, project_id, *given, limit)))


def open_advances(db: Connection, now: int, limit: int) -> list[Advance]:
    sql = f"{_ADVANCES} FROM project_advances a WHERE a.{OPEN} AND a.look_at <= ? ORDER BY a.look_at LIMIT ?"
    return _advances(db.execute(sql, (now, limit)))


def look_later(db: Connection, seen: Advance, look_at: int, waits_ms: int) -> bool:
    found = db.execute(
        "UPDATE project_advances SET look_at = ?, started_at = started_at + ? WHERE user_id = ? AND advance_id = ?"
        " AND status = ? AND look_at = ?",
        (look_at, waits_ms, seen.user_id, seen.advance_id, seen.status, seen.look_at),
    )
    return found.rowcount > 0


def suggestible(db: Connection, key: ThreadKey, turns: int) -> bytes | None:
    sql = (
        "SELECT p.body FROM threads h JOIN plans p ON p.thread_id = h.thread_id WHERE h.user_id = ? AND h.task_id = ?"
        " AND (SELECT count(*) FROM turns t WHERE t.thread_id = h.thread_id) >= ?"
        " AND NOT EXISTS (SELECT 1 FROM project_suggestions s WHERE s.thread_id = h.thread_id)"
        " AND NOT EXISTS (SELECT 1 FROM project_tasks w WHERE w.user_id = h.user_id AND w.task_id = h.task_id)"
    )
    found = db.execute(sql, (*key, turns)).fetchone()
    return None if found is None else bytes(found[0])


def task_deleted(db: Connection, key: ThreadKey) -> None:
    """A task goes: it works for no project any more."""
    db.execute("DELETE FROM project_tasks WHERE user_id = ? AND task_id = ?", key)


def board_of(project_id: str) -> str:
    return f"project/{project_id}"


def _one(db: Connection, sql: str, given: Sequence[object]) -> Project | None:
    rows = db.execute(sql, given).fetchall()
    return next(iter(_with_advances(db, rows[0][1], rows)), None) if rows else None


def _with_advances(db: Connection, user_id: str, rows: Sequence[Sequence[Any]]) -> list[Project]:
    """The projects with what is worked on now."""
    if not rows:
        return []
    marks = ", ".join("?" * len(rows))
    sql = f"{_ADVANCES} FROM project_advances a WHERE a.user_id = ? AND a.project_id IN ({marks}) AND a.{OPEN}"
    found = _advances(db.execute(sql, (user_id, *(row[0] for row in rows))))
    at = {one.project_id: one for one in found}
    return [_project(row, at.get(row[0])) for row in rows]


def _project(row: Sequence[Any], worked_on: Advance | None) -> Project:
    fields: dict[str, Any] = dict(zip(_PROJECT, row, strict=False))
    steps, seconds, calls, usd, used_steps, used_ms, used_calls, used_usd, status = row[len(_PROJECT) :]
    waits = status == "NEEDS_USER" and not fields["reason"]
    fields |= {"going": bool(fields["going"]), "reason": WAITS if waits else fields["reason"]}
    return Project(
        **fields,
        status=status,
        budget=ProjectBudget(steps=steps, seconds=seconds, tool_calls=calls, usd=usd),
        used=ProjectBudget(steps=used_steps, seconds=used_ms / 1000, tool_calls=used_calls, usd=used_usd),
        advance=worked_on,
    )


def _advances(rows: Iterable[Any]) -> list[Advance]:
    return [Advance(**dict(zip(_ADVANCE, row, strict=True))) for row in rows]


def _artifacts(db: Connection, where: str, given: Sequence[object]) -> list[ProjectArtifact]:
    sql = f"SELECT {', '.join(_ARTIFACT)} FROM project_artifacts WHERE {where} ORDER BY number DESC LIMIT ?"
    return [ProjectArtifact(**dict(zip(_ARTIFACT, row, strict=True))) for row in db.execute(sql, given)]
