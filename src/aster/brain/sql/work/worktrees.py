"""Worktrees in SQL, and who works in them: reading, and what claiming, giving back and deleting have to do with them.

A turn's lease lasts as long as the turn is its thread's active one, so nothing has to end it: neither a crash nor
another replica leaves one behind. Rows of turns that are over tell which commands in the background were begun there.
"""

from collections.abc import Sequence
from typing import Any, Final

from aster.brain.records import ThreadKey
from aster.brain.sql.connection import Connection
from aster.brain.work import Actor
from aster.brain.worktrees import refusal
from aster.contracts.events import WorktreeEvent
from aster.contracts.work import WorkItem
from aster.contracts.worktrees import Worktree, WorktreeAction, WorktreeStatus

FIELDS: Final = (
    *("worktree_id", "name", "repository", "path", "branch", "status", "item_id", "home_task_id", "base"),
    *("kept", "created_by", "person", "reason", "created_at", "updated_at"),
)
_LIVE: Final = (
    "FROM worktree_leases l JOIN threads h ON h.user_id = l.user_id AND h.task_id = l.task_id"
    " AND h.active_turn_id = l.turn_id WHERE l.user_id = w.user_id AND l.worktree_id = w.worktree_id AND l.held = 1"
)
_TREE: Final = f"{', '.join(f'w.{name}' for name in FIELDS)}, EXISTS (SELECT 1 {_LIVE})"
_FROM: Final = f"SELECT {_TREE} FROM worktrees w"
THERE: Final = ("active", "kept")
"""In which an item can be done."""


def get(db: Connection, user_id: str, worktree_id: str) -> Worktree | None:
    return _one(db, f"{_FROM} WHERE w.user_id = ? AND w.worktree_id = ?", (user_id, worktree_id))


def of_item(db: Connection, user_id: str, item_id: str) -> Worktree | None:
    sql = f"{_FROM} WHERE w.user_id = ? AND w.item_id = ? AND w.status IN ('active', 'kept', 'removing')"
    return _one(db, sql, (user_id, item_id))


def listed(
    db: Connection,
    user_id: str,
    *,
    limit: int,
    status: WorktreeStatus | None = None,
    item_id: str | None = None,
    after: str | None = None,
) -> list[Worktree]:
    where, given = ["w.user_id = ?"], [user_id]
    for name, wanted in (("status", status), ("item_id", item_id)):
        if wanted is not None:
            where.append(f"w.{name} = ?")
            given.append(wanted)
    if after is not None:
        where.append("w.number < (SELECT number FROM worktrees WHERE user_id = ? AND worktree_id = ?)")
        given += (user_id, after)
    sql = f"{_FROM} WHERE {' AND '.join(where)} ORDER BY w.number DESC LIMIT ?"
    return [_tree(row) for row in db.execute(sql, (*given, limit))]


def waiting(db: Connection, user_id: str) -> list[Worktree]:
    """Those whose items are pending."""
    sql = (
        f"{_FROM} JOIN work_items i ON i.item_id = w.item_id AND i.user_id = w.user_id"
        " WHERE w.user_id = ? AND w.status IN ('active', 'kept', 'removing') AND i.status = 'pending'"
    )
    return [_tree(row) for row in db.execute(sql, (user_id,))]


def of_turn(db: Connection, key: ThreadKey, turn_id: str) -> Worktree | None:
    """That of the item which the task of the turn holds; if it holds none that has one, where the turn still works."""
    user_id, task_id = key
    held = db.execute(
        "SELECT item_id, worktree FROM work_items WHERE user_id = ? AND owner_task_id = ? AND owner_task_id <> ''"
        " AND status = 'in_progress' AND worktree IS NOT NULL",
        (user_id, task_id),
    ).fetchone()
    if held is not None:
        found = of_item(db, user_id, held[0])
        if found is None:
            raise refusal("broken", f"The worktree {held[1]} of {held[0]} is not on record any more.")
        return found
    sql = (
        f"{_FROM} JOIN worktree_leases m ON m.worktree_id = w.worktree_id AND m.user_id = w.user_id"
        " WHERE m.user_id = ? AND m.turn_id = ? AND m.held = 1"
    )
    return _one(db, sql, (user_id, turn_id))


def claimed(db: Connection, actor: Actor, item: WorkItem) -> list[WorktreeEvent]:
    """An item has been claimed: whoever has it works in its worktree from here on, or in none. Refused when that is not
    there any more, or a turn that had the item before has not ended."""
    if actor.turn_id:
        left(db, actor)
    if item.worktree is None:
        return []
    found = of_item(db, actor.user_id, item.item_id)
    if found is None or found.status not in THERE:
        raise refusal(
            "broken", f"The worktree {item.worktree} of {item.item_id} is not there to be worked in.", found
        )
    if found.in_use:
        raise refusal("in_use", f"Somebody still works in the worktree {found.name}; wait for that turn.", found)
    if not actor.task_id:
        return []
    if actor.turn_id:
        enter(db, actor, found.worktree_id)
    return [told(found, "entered")]


def enter(db: Connection, actor: Actor, worktree_id: str) -> None:
    """A turn works in a worktree, until it ends or goes to another."""
    left(db, actor)
    db.execute(
        "INSERT INTO worktree_leases (turn_id, worktree_id, user_id, task_id, held) VALUES (?, ?, ?, ?, 1)"
        " ON CONFLICT (turn_id, worktree_id) DO UPDATE SET held = 1",
        (actor.turn_id, worktree_id, actor.user_id, actor.task_id),
    )


def left(db: Connection, actor: Actor) -> None:
    """A turn works in no worktree any more; what it has begun in the background may."""
    db.execute(
        "UPDATE worktree_leases SET held = 0 WHERE user_id = ? AND turn_id = ? AND held = 1",
        (actor.user_id, actor.turn_id),
    )


def commands(db: Connection, user_id: str, worktree_id: str) -> list[str]:
    """What runs in the background that was begun by a turn which has worked there."""
    sql = (
        "SELECT b.runtime_task_id FROM worktree_leases l JOIN background_tasks b ON b.turn_id = l.turn_id"
        " AND b.user_id = l.user_id WHERE l.user_id = ? AND l.worktree_id = ? AND b.ended_at IS NULL"
    )
    return [row[0] for row in db.execute(sql, (user_id, worktree_id))]


def task_deleted(db: Connection, user_id: str, task_id: str) -> None:
    db.execute("DELETE FROM worktree_leases WHERE user_id = ? AND task_id = ?", (user_id, task_id))


def told(tree: Worktree, action: WorktreeAction, reason: str | None = None) -> WorktreeEvent:
    return WorktreeEvent(
        name=tree.name,
        action=action,
        path=tree.path,
        branch=tree.branch,
        work_task_id=tree.item_id,
        reason=reason,
        worktree_id=tree.worktree_id,
    )


def _one(db: Connection, sql: str, given: Sequence[Any]) -> Worktree | None:
    found = db.execute(sql, given).fetchone()
    return None if found is None else _tree(found)


def _tree(row: Sequence[Any]) -> Worktree:
    *known, in_use = row
    fields = dict(zip(FIELDS, known, strict=True))
    fields |= {"kept": bool(fields["kept"]), "person": bool(fields["person"]), "in_use": bool(in_use)}
    return Worktree(**fields)
