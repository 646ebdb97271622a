"""Changing worktrees: each order compares and sets under the hold that the work graph of its user has, and says what is
to be told of it."""

from collections.abc import Sequence
from typing import Any, Final

from aster.brain.sql.connection import Connection
from aster.brain.sql.work import graph, worktrees
from aster.brain.sql.work.graph_deeds import SqlDeed
from aster.brain.sql.work.worktrees import told
from aster.brain.work import Actor, BindItem
from aster.brain.worktrees import Bind, Enter, Keep, Remove, Removing, Reserve, Spoil, Stay, WorktreeOrder, refusal
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.events import Event
from aster.contracts.work import WorkItem
from aster.contracts.worktrees import Worktree
from aster.infra.clock import now_ms

_THERE: Final = "status IN ('creating', 'active', 'kept', 'removing')"
GIVEN_UP: Final = "The engine stopped while it was made. What there is of it was left where it is."


class SqlWorktreeDeed:
    """One order, made when the writer calls it."""

    def __init__(self, order: WorktreeOrder) -> None:
        self._order = order
        self._actor: Actor = order.actor
        self._made: Worktree | None = None

    @property
    def outcome(self) -> Worktree:
        assert self._made is not None, "it is known once it is done"
        return self._made

    def __call__(self, db: Connection, /) -> Sequence[Event]:
        self._db, self._now = db, now_ms()
        db.dialect.hold(db, f"work {self._actor.user_id}")
        self._made, events = self._do()
        return events

    def _do(self) -> tuple[Worktree, Sequence[Event]]:
        match self._order:
            case Reserve():
                return self._reserve(self._order)
            case Bind():
                return self._bind(self._order)
            case Spoil():
                return self._spoil(self._order)
            case Keep():
                return self._keep(self._order)
            case Removing():
                return self._removing(self._order)
            case Stay():
                found = self._found(self._order.worktree_id)
                if found.status != "removing":
                    return found, ()
                return self._set(found, status="kept" if found.kept else "active"), ()
            case Remove():
                return self._remove(self._order)
            case Enter():
                found = self._found(self._order.worktree_id)
                if found.status not in worktrees.THERE:
                    raise refusal("broken", f"The worktree {found.name} is {found.status}.", found)
                worktrees.enter(self._db, self._actor, found.worktree_id)
                return found, ()

    def _reserve(self, order: Reserve) -> tuple[Worktree, Sequence[Event]]:
        """The same call finds again what it has begun."""
        user_id, tree = self._actor.user_id, order.tree
        before = worktrees.get(self._db, user_id, tree.worktree_id)
        if before is not None:
            return before, ()
        events = self._given_up(order)
        self._free(tree)
        count = self._db.execute(f"SELECT count(*) FROM worktrees WHERE user_id = ? AND {_THERE}", (user_id,))
        if count.fetchone()[0] >= order.most:
            raise refusal("limit", f"There are {order.most} worktrees, which is the most. Remove some first.")
        fields = {
            **{name: getattr(tree, name) for name in worktrees.FIELDS},
            "user_id": user_id,
            "status": "creating",
            "kept": 0,
            "created_by": self._actor.name,
            "person": int(self._actor.person),
            "created_at": self._now,
            "updated_at": self._now,
        }
        marks = ", ".join("?" * len(fields))
        self._db.execute(f"INSERT INTO worktrees ({', '.join(fields)}) VALUES ({marks})", list(fields.values()))
        return self._found(tree.worktree_id), events

    def _given_up(self, order: Reserve) -> list[Event]:
        """What an engine began that died over it is no longer being made."""
        sql = "SELECT worktree_id FROM worktrees WHERE user_id = ? AND status = 'creating' AND updated_at < ?"
        old = self._db.execute(sql, (self._actor.user_id, self._now - order.stale_ms)).fetchall()
        gone = [self._set(self._found(row[0]), status="failed", reason=GIVEN_UP) for row in old]
        return [told(one, "failed", GIVEN_UP) for one in gone]

    def _free(self, tree: Worktree) -> None:
        """Refuse a place that is taken, and an item that is not to be had."""
        user_id = self._actor.user_id
        sql = f"SELECT worktree_id FROM worktrees WHERE user_id = ? AND path = ? AND {_THERE}"
        if self._db.execute(sql, (user_id, tree.path)).fetchone() is not None:
            raise refusal("exists", f"There is a worktree {tree.name} already. Choose another name.")
        item = self._item(tree.item_id)
        if item.status in ("completed", "deleted"):
            raise refusal("item_resolved", f"{item.item_id} is {item.status}; a worktree is made before that.")
        if item.owner is not None:
            raise refusal("item_claimed", f"{item.owner} has {item.item_id}; a worktree is made before that.")
        sql = f"SELECT name FROM worktrees WHERE user_id = ? AND item_id = ? AND {_THERE}"
        bound = self._db.execute(sql, (user_id, item.item_id)).fetchone()
        if item.worktree is not None or bound is not None:
            raise refusal("item_bound", f"{item.item_id} has the worktree {item.worktree or bound[0]} already.")

    def _bind(self, order: Bind) -> tuple[Worktree, Sequence[Event]]:
        found = self._found(order.worktree_id)
        if found.status in worktrees.THERE:
            return found, ()
        if found.status != "creating":
            raise refusal("git_failed", f"The worktree {found.name} was given up meanwhile.", found)
        item = self._item(found.item_id)
        if item.status != "pending" or item.worktree is not None:
            raise refusal(
                "item_claimed", f"{item.item_id} was claimed or changed while its worktree was made.", found
            )
        bound = SqlDeed(BindItem(actor=self._actor, item_id=item.item_id, worktree=found.name))(self._db)
        made = self._set(found, status="active", base=order.base)
        return made, (*bound, told(made, "created"))

    def _spoil(self, order: Spoil) -> tuple[Worktree, Sequence[Event]]:
        found = self._found(order.worktree_id)
        if found.status != "creating":
            return found, ()
        spoilt = self._set(found, status="failed", reason=order.reason)
        return spoilt, (told(spoilt, "failed", order.reason),)

    def _keep(self, order: Keep) -> tuple[Worktree, Sequence[Event]]:
        found = self._found(order.worktree_id)
        if found.status == "kept":
            return found, ()
        if found.status not in ("active", "removing"):
            raise _gone(found)
        kept = self._set(found, status="kept", kept=1)
        return kept, (told(kept, "kept"),)

    def _removing(self, order: Removing) -> tuple[Worktree, Sequence[Event]]:
        found = self._found(order.worktree_id)
        if found.status not in ("active", "kept", "removing"):
            raise _gone(found)
        item = graph.item(self._db, self._actor.user_id, found.item_id)
        if item is not None and item.status in ("pending", "in_progress"):
            said = f"{item.item_id} is {item.status}; complete or delete it first."
            raise refusal("unfinished", said, found)
        if found.in_use:
            raise refusal("in_use", f"A turn works in {found.name}; wait for its end, or cancel it.", found)
        running = worktrees.commands(self._db, self._actor.user_id, found.worktree_id)
        if running:
            said = f"Commands in the background run in {found.name}; end them first: {', '.join(running)}."
            raise refusal("background", said, found, commands=running)
        return self._set(found, status="removing"), ()

    def _remove(self, order: Remove) -> tuple[Worktree, Sequence[Event]]:
        found = self._found(order.worktree_id)
        if found.status == "removed":
            return found, ()
        if found.status != "removing":
            raise refusal("in_use", f"Somebody wants {found.name} to stay.", found)
        cleared: Sequence[Event] = ()
        if graph.item(self._db, self._actor.user_id, found.item_id) is not None:
            cleared = SqlDeed(BindItem(actor=self._actor, item_id=found.item_id, worktree=None))(self._db)
        sql = "DELETE FROM worktree_leases WHERE user_id = ? AND worktree_id = ?"
        self._db.execute(sql, (self._actor.user_id, found.worktree_id))
        gone = self._set(found, status="removed", reason=order.reason)
        return gone, (*cleared, told(gone, "removed", order.reason))

    def _found(self, worktree_id: str) -> Worktree:
        found = worktrees.get(self._db, self._actor.user_id, worktree_id)
        if found is None:
            raise EngineError(ErrorCode.NOT_FOUND, f"There is no worktree {worktree_id}.")
        return found

    def _item(self, item_id: str) -> WorkItem:
        item = graph.item(self._db, self._actor.user_id, item_id)
        if item is None:
            raise EngineError(ErrorCode.NOT_FOUND, f"There is no work item {item_id}.")
        return item

    def _set(self, found: Worktree, **fields: Any) -> Worktree:
        changes = "".join(f", {name} = ?" for name in fields)
        self._db.execute(
            f"UPDATE worktrees SET updated_at = ?{changes} WHERE user_id = ? AND worktree_id = ?",
            (self._now, *fields.values(), self._actor.user_id, found.worktree_id),
        )
        return self._found(found.worktree_id)


def _gone(found: Worktree) -> EngineError:
    reason = "being_made" if found.status == "creating" else "removed"
    said = {"creating": "is being made", "removed": "was removed", "failed": "was never made whole"}[found.status]
    return refusal(reason, f"The worktree {found.name} {said}.", found)
