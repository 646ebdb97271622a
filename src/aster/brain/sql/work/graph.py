"""Reading the work graph. Whether an item is ready is worked out here, from what it waits for, each time it is asked;
nothing keeps it, so nothing can be wrong about it."""

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from aster.brain.sql.connection import Connection
from aster.brain.work import Use
from aster.contracts.model import decode
from aster.contracts.work import WorkBoard, WorkChange, WorkItem, WorkShow

FIELDS: Final = (
    *("item_id", "board", "subject", "description", "status", "owner", "role", "priority", "worktree", "result"),
    *("version", "task_id", "owner_task_id", "created_at", "updated_at", "claimed_at", "completed_at"),
)
_ITEM: Final = ", ".join(f"i.{name}" for name in FIELDS)
_CHANGE: Final = (
    *("number", "change_id", "item_id", "action", "at", "version", "task_id", "turn_id", "seq"),
    *("actor", "person", "overrode", "detail"),
)
_UNDONE: Final = (
    "EXISTS (SELECT 1 FROM work_edges e LEFT JOIN work_items d ON d.item_id = e.needs AND d.user_id = e.user_id"
    " WHERE e.user_id = i.user_id AND e.item_id = i.item_id AND coalesce(d.status, '') <> 'completed')"
)
"""It waits for something that is not completed, or is not there at all."""
READY: Final = f"i.status = 'pending' AND i.owner IS NULL AND NOT {_UNDONE}"
_AT_ONCE: Final = 200
_USED: Final[dict[Use, str]] = {"work": "work_items", "teams": "teams", "projects": "projects"}


def item(db: Connection, user_id: str, item_id: str) -> WorkItem | None:
    return next(iter(items_of(db, user_id, [item_id])), None)


def items_of(db: Connection, user_id: str, item_ids: Sequence[str]) -> list[WorkItem]:
    """These, in this order; those there are none of are left out."""
    found: dict[str, WorkItem] = {}
    for at in range(0, len(item_ids), _AT_ONCE):
        some = item_ids[at : at + _AT_ONCE]
        sql = f"SELECT {_ITEM} FROM work_items i WHERE i.user_id = ? AND i.item_id IN ({_marks(some)})"
        found |= {
            one.item_id: one for one in _with_needs(db, user_id, db.execute(sql, (user_id, *some)).fetchall())
        }
    return [found[item_id] for item_id in item_ids if item_id in found]


def items(
    db: Connection,
    user_id: str,
    *,
    limit: int,
    board: str | None = None,
    status: WorkShow | None = None,
    owner: str | None = None,
    role: str | None = None,
    ready: bool | None = None,
    after: str | None = None,
) -> list[WorkItem]:
    """A page: the most urgent first, then the oldest."""
    where: list[str] = ["i.user_id = ?"]
    given: list[object] = [user_id]
    exact = None if status == "open" else status
    for name, wanted in (("board", board), ("status", exact), ("owner", owner), ("role", role)):
        if wanted is not None:
            where.append(f"i.{name} = ?")
            given.append(wanted)
    if exact is None:
        where.append("i.status <> 'deleted'" if status is None else "i.status IN ('pending', 'in_progress')")
    if ready is not None:
        where.append(READY if ready else f"i.status = 'pending' AND (i.owner IS NOT NULL OR {_UNDONE})")
    if after is not None:
        found = db.execute(
            "SELECT priority, number FROM work_items WHERE user_id = ? AND item_id = ?", (user_id, after)
        ).fetchone()
        if found is None:
            return []
        where.append("(i.priority < ? OR (i.priority = ? AND i.number > ?))")
        given += (found[0], *found)
    sql = f"SELECT {_ITEM} FROM work_items i WHERE {' AND '.join(where)} ORDER BY i.priority DESC, i.number LIMIT ?"
    return _with_needs(db, user_id, db.execute(sql, (*given, limit)).fetchall())


def next_ready(
    db: Connection, user_id: str, board: str, roles: Sequence[str], without: Sequence[str] = ()
) -> str | None:
    """The most urgent item that is ready, for one of these roles or for anybody; not one of those to be passed over."""
    fits = f"(i.role IS NULL OR i.role IN ({_marks(roles)}))" if roles else "i.role IS NULL"
    passed = f" AND i.item_id NOT IN ({_marks(without)})" if without else ""
    sql = (
        f"SELECT i.item_id FROM work_items i WHERE i.user_id = ? AND i.board = ? AND {fits} AND {READY}{passed}"
        " ORDER BY i.priority DESC, i.number LIMIT 1"
    )
    found = db.execute(sql, (user_id, board, *roles, *without)).fetchone()
    return None if found is None else found[0]


def unblocked_by(db: Connection, user_id: str, item_id: str) -> list[WorkItem]:
    """What waited for an item and is ready now that it is completed."""
    sql = (
        "SELECT i.item_id FROM work_edges w JOIN work_items i ON i.item_id = w.item_id AND i.user_id = w.user_id"
        f" WHERE w.user_id = ? AND w.needs = ? AND {READY} ORDER BY i.priority DESC, i.number"
    )
    return items_of(db, user_id, [row[0] for row in db.execute(sql, (user_id, item_id))])


def held(db: Connection, user_id: str, owner: str) -> WorkItem | None:
    sql = "SELECT item_id FROM work_items WHERE user_id = ? AND owner = ? AND status = 'in_progress'"
    found = db.execute(sql, (user_id, owner)).fetchone()
    return None if found is None else item(db, user_id, found[0])


def history(
    db: Connection, user_id: str, item_id: str, *, limit: int, before: int | None = None
) -> list[WorkChange]:
    until, given = ("", ()) if before is None else (" AND number < ?", (before,))
    sql = (
        f"SELECT {', '.join(_CHANGE)} FROM work_history WHERE user_id = ? AND item_id = ?{until}"
        " ORDER BY number DESC LIMIT ?"
    )
    return [_change(row) for row in db.execute(sql, (user_id, item_id, *given, limit))]


def boards(db: Connection, user_id: str) -> list[WorkBoard]:
    counts: dict[str, dict[str, int]] = {}
    sql = (
        "SELECT board, status, count(*) FROM work_items WHERE user_id = ? AND status <> 'deleted'"
        " GROUP BY board, status ORDER BY board"
    )
    for board, status, count in db.execute(sql, (user_id,)):
        counts.setdefault(board, {})[status] = count
    sql = f"SELECT i.board, count(*) FROM work_items i WHERE i.user_id = ? AND {READY} GROUP BY i.board"
    for board, count in db.execute(sql, (user_id,)):
        counts[board]["ready"] = count
    return [WorkBoard(board=board, **found) for board, found in counts.items()]


def uses(db: Connection, user_id: str) -> frozenset[Use]:
    asked = ", ".join(f"EXISTS (SELECT 1 FROM {table} WHERE user_id = ?)" for table in _USED.values())
    row = db.execute(f"SELECT {asked}", (user_id,) * len(_USED)).fetchone()
    return frozenset(use for use, found in zip(_USED, row, strict=True) if found)


def _with_needs(db: Connection, user_id: str, rows: Sequence[Sequence[Any]]) -> list[WorkItem]:
    """The items with what they wait for, and whether they are ready."""
    found = [WorkItem(**dict(zip(FIELDS, row, strict=True))) for row in rows]
    needs: dict[str, list[tuple[str, bool]]] = {}
    for at in range(0, len(found), _AT_ONCE):
        some = [one.item_id for one in found[at : at + _AT_ONCE]]
        sql = (
            "SELECT e.item_id, e.needs, d.status FROM work_edges e LEFT JOIN work_items d ON d.item_id = e.needs"
            f" AND d.user_id = e.user_id WHERE e.user_id = ? AND e.item_id IN ({_marks(some)}) ORDER BY d.number"
        )
        for item_id, needed, status in db.execute(sql, (user_id, *some)):
            needs.setdefault(item_id, []).append((needed, status == "completed"))
    return [_ready(one, needs.get(one.item_id, ())) for one in found]


def _ready(found: WorkItem, needs: Sequence[tuple[str, bool]]) -> WorkItem:
    waiting = tuple(needed for needed, done in needs if not done)
    return msgspec.structs.replace(
        found,
        blocked_by=tuple(needed for needed, _ in needs),
        waiting_for=waiting,
        ready=found.status == "pending" and found.owner is None and not waiting,
    )


def _change(row: Sequence[Any]) -> WorkChange:
    *told, actor, person, overrode, detail = row
    fields = dict(zip(_CHANGE, told, strict=False))
    return WorkChange(
        **fields,
        by=actor,
        person=bool(person),
        overrode=bool(overrode),
        detail=decode(bytes(detail), dict[str, Any]),
    )


def _marks(values: Sequence[object]) -> str:
    return ", ".join("?" * len(values))
