"""Changing the work graph: each order compares and sets while no other change of its user is under way, writes what it
did into the history, and says what is to be told of it.

A tool call that is made again after a crash finds its changes in the history, and comes to the same without a second.
"""

from collections.abc import Sequence
from typing import Any, Final

from aster.brain.sql.connection import Connection
from aster.brain.sql.work import graph, graph_edges, team_requests, worktrees
from aster.brain.sql.work.graph_edges import unsound
from aster.brain.work import (
    Abandon,
    Actor,
    BindItem,
    Claim,
    Complete,
    Create,
    Discard,
    Edit,
    Link,
    Release,
    Reopen,
    WorkOrder,
    WorkOutcome,
)
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.events import Event, WorkUpdate
from aster.contracts.model import decode, encode
from aster.contracts.work import WorkAction, WorkEdge, WorkItem, WorkObstacle
from aster.infra.clock import now_ms
from aster.infra.ids import new_id

_OPEN: Final = "SELECT count(*) FROM work_items WHERE user_id = ? AND status IN ('pending', 'in_progress')"


_SMALL: Final = 8
"""Up to 2 to the power of this many open items a user's board is small; beyond, each doubling is worth a look."""


class SqlDeed:
    """One order, made when the writer calls it."""

    def __init__(self, order: WorkOrder) -> None:
        self._order = order
        self._actor: Actor = order.actor
        self._call = f"{order.actor.call_key}:{type(order).__name__}" if order.actor.call_key else None
        self.outcome = WorkOutcome()

    def __call__(self, db: Connection, /) -> Sequence[Event]:
        self._db, self._now, self._told = db, now_ms(), list[Event]()
        db.dialect.hold(db, f"work {self._actor.user_id}")
        done = self._done_before()
        self.outcome = self._do() if done is None else done
        return self._told

    def _do(self) -> WorkOutcome:
        match self._order:
            case Create():
                return self._create(self._order)
            case Link():
                return self._link(self._order)
            case Edit():
                return self._edit(self._order)
            case Claim():
                return self._claim(self._order)
            case Complete():
                return self._complete(self._order)
            case Release():
                return self._release(self._order)
            case Abandon():
                return self._abandon(self._order)
            case Discard():
                return self._discard(self._order)
            case Reopen():
                return self._reopen(self._order)
            case BindItem():
                return self._bind(self._order)

    def _create(self, order: Create) -> WorkOutcome:
        user_id = self._actor.user_id
        count = self._db.execute(_OPEN, (user_id,)).fetchone()[0]
        if count + len(order.drafts) > order.most:
            raise unsound(f"{count} items are open, and {order.most} are the most; complete or delete some first")
        ids = [new_id("work") for _ in order.drafts]
        names = {draft.name: item_id for draft, item_id in zip(order.drafts, ids, strict=True) if draft.name}
        for draft, item_id in zip(order.drafts, ids, strict=True):
            fields = {
                "item_id": item_id,
                "user_id": user_id,
                "board": order.board,
                "subject": draft.subject,
                "description": draft.description,
                "status": "pending",
                "role": draft.role or None,
                "priority": draft.priority,
                "version": 1,
                "task_id": self._actor.task_id,
                "owner_task_id": "",
                "created_at": self._now,
                "updated_at": self._now,
            }
            self._insert("work_items", fields)
        edges = [
            WorkEdge(item_id=item_id, needs=names.get(needed, needed))
            for draft, item_id in zip(order.drafts, ids, strict=True)
            for needed in draft.blocked_by
        ]
        graph_edges.link(self._db, user_id, edges, fresh=True)
        if (count + len(ids)).bit_length() > max(count.bit_length(), _SMALL):
            self._db.dialect.survey(self._db, "work_items", "work_edges")
        made = graph.items_of(self._db, user_id, ids)
        for one in made:
            self._tell(one, "created")
        return WorkOutcome(items=tuple(made))

    def _link(self, order: Link) -> WorkOutcome:
        user_id = self._actor.user_id
        for item_id in dict.fromkeys(edge.item_id for edge in (*order.remove, *order.add)):
            self._unclaimed(self._found(item_id))
        gone = graph_edges.unlink(self._db, user_id, order.remove)
        new = graph_edges.link(self._db, user_id, order.add)
        named = list(dict.fromkeys(edge.item_id for edge in (*order.remove, *order.add)))
        for item_id in dict.fromkeys(edge.item_id for edge in (*gone, *new)):
            added = [edge.needs for edge in new if edge.item_id == item_id]
            removed = [edge.needs for edge in gone if edge.item_id == item_id]
            self._set(item_id)
            self._tell(self._found(item_id), "linked", {"added": added, "removed": removed})
        return WorkOutcome(items=tuple(graph.items_of(self._db, user_id, named)))

    def _edit(self, order: Edit) -> WorkOutcome:
        found = self._found(order.item_id)
        if found.status in ("completed", "deleted"):
            raise conflict(found, "already_resolved")
        if found.owner not in (None, order.owner) and not self._actor.person:
            raise conflict(found, "not_owner")
        if order.version is not None and order.version != found.version:
            raise conflict(found, "stale")
        edges = self._edges(found, order)
        edit = order.edit
        wanted = {
            "subject": edit.subject,
            "description": edit.description,
            "role": edit.role,
            "priority": edit.priority,
        }
        changed: dict[str, Any] = {
            name: value or None if name == "role" else value
            for name, value in wanted.items()
            if value is not None and (value or None) != (getattr(found, name) or None)
        }
        if not changed and not edges:
            return WorkOutcome(items=(found,))
        self._set(order.item_id, **changed)
        now = self._found(order.item_id)
        self._tell(
            now,
            "updated" if changed else "linked",
            {**edges, "before": {name: getattr(found, name) for name in changed}},
        )
        return WorkOutcome(items=(now,))

    def _edges(self, found: WorkItem, order: Edit) -> dict[str, list[str]]:
        """Change what an item waits for as an edit says; what was in fact changed."""
        if not order.add and not order.remove:
            return {}
        self._unclaimed(found)
        user_id = self._actor.user_id
        removed = [WorkEdge(item_id=found.item_id, needs=needed) for needed in order.remove]
        added = [WorkEdge(item_id=found.item_id, needs=needed) for needed in order.add]
        gone = graph_edges.unlink(self._db, user_id, removed)
        new = graph_edges.link(self._db, user_id, added)
        if not gone and not new:
            return {}
        return {"added": [edge.needs for edge in new], "removed": [edge.needs for edge in gone]}

    def _claim(self, order: Claim) -> WorkOutcome:
        user_id = self._actor.user_id
        item_id = order.item_id or graph.next_ready(self._db, user_id, order.board, order.roles, order.without)
        if item_id is None:
            return WorkOutcome()
        found = self._found(item_id)
        if found.status in ("completed", "deleted"):
            raise conflict(found, "already_resolved")
        if found.owner is not None:
            raise conflict(found, "already_claimed")
        if found.waiting_for:
            raise conflict(found, "blocked")
        busy = graph.held(self._db, user_id, order.owner)
        if busy is not None:
            raise conflict(found, "busy_owner", busy)
        at = "" if self._actor.person else self._actor.task_id
        self._set(item_id, status="in_progress", owner=order.owner, owner_task_id=at, claimed_at=self._now)
        now = self._found(item_id)
        team_requests.moved(self._db, user_id, order.owner, self._now)
        source = order.source or ("asked for" if order.item_id else "next in line")
        entered = worktrees.claimed(self._db, self._actor, found)
        self._tell(now, "claimed", {"owner": order.owner, "source": source})
        self._told += entered
        return WorkOutcome(items=(now,))

    def _complete(self, order: Complete) -> WorkOutcome:
        found = self._found(order.item_id)
        if found.status in ("completed", "deleted"):
            raise conflict(found, "already_resolved")
        overrode = self._may(found, order.owner, order.override)
        self._planned(found)
        self._set(order.item_id, status="completed", result=order.result, completed_at=self._now)
        unblocked = graph.unblocked_by(self._db, self._actor.user_id, order.item_id)
        now = self._found(order.item_id)
        told = {"unblocked": [one.item_id for one in unblocked]}
        self._tell(now, "completed", told, overrode=overrode)
        return WorkOutcome(items=(now,), unblocked=tuple(unblocked))

    def _release(self, order: Release) -> WorkOutcome:
        found = self._found(order.item_id)
        if found.status in ("completed", "deleted"):
            raise conflict(found, "already_resolved")
        if found.owner is None:
            raise conflict(found, "not_claimed")
        overrode = self._may(found, order.owner, order.override)
        worktrees.left(self._db, self._actor)
        return WorkOutcome(items=(self._given_back(found, order.reason, overrode=overrode),))

    def _abandon(self, order: Abandon) -> WorkOutcome:
        sql = "SELECT item_id FROM work_items WHERE user_id = ? AND owner_task_id = ? AND status = 'in_progress'"
        ids = [row[0] for row in self._db.execute(sql, (self._actor.user_id, order.task_id))]
        return WorkOutcome(items=tuple(self._given_back(self._found(item_id), order.reason) for item_id in ids))

    def _given_back(self, found: WorkItem, reason: str | None, *, overrode: bool = False) -> WorkItem:
        self._set(found.item_id, status="pending", owner=None, owner_task_id="", claimed_at=None)
        team_requests.moved(self._db, self._actor.user_id, found.owner, self._now)
        now = self._found(found.item_id)
        self._tell(now, "released", {"owner": found.owner, "reason": reason}, overrode=overrode)
        return now

    def _discard(self, order: Discard) -> WorkOutcome:
        found = self._found(order.item_id)
        if found.status == "deleted":
            return WorkOutcome(items=(found,))
        if found.status == "completed" and not order.override:
            raise conflict(found, "already_resolved")
        overrode = found.owner is not None and self._may(found, order.owner, order.override)
        self._set(order.item_id, status="deleted", owner=None, owner_task_id="")
        team_requests.moved(self._db, self._actor.user_id, found.owner, self._now)
        now = self._found(order.item_id)
        self._tell(now, "deleted", {"reason": order.reason}, overrode=overrode)
        return WorkOutcome(items=(now,))

    def _reopen(self, order: Reopen) -> WorkOutcome:
        found = self._found(order.item_id)
        if found.status in ("pending", "in_progress"):
            return WorkOutcome(items=(found,))
        gone = {"status": "pending", "owner": None, "owner_task_id": "", "claimed_at": None, "completed_at": None}
        self._set(order.item_id, **gone, result=None)
        now = self._found(order.item_id)
        self._tell(now, "reopened", {"reason": order.reason})
        return WorkOutcome(items=(now,))

    def _bind(self, order: BindItem) -> WorkOutcome:
        found = self._found(order.item_id)
        if order.worktree is not None:
            self._unclaimed(found)
        self._set(order.item_id, worktree=order.worktree)
        now = self._found(order.item_id)
        self._tell(now, "updated", {"before": {"worktree": found.worktree}})
        return WorkOutcome(items=(now,))

    def _found(self, item_id: str) -> WorkItem:
        found = graph.item(self._db, self._actor.user_id, item_id)
        if found is None:
            raise EngineError(ErrorCode.NOT_FOUND, f"There is no work item {item_id}.")
        return found

    def _unclaimed(self, found: WorkItem) -> None:
        """What an item waits for is settled once somebody has it."""
        if found.status in ("completed", "deleted"):
            raise conflict(found, "already_resolved")
        if found.owner is not None:
            raise conflict(found, "already_claimed")

    def _may(self, found: WorkItem, owner: str, override: bool) -> bool:
        """Refuse whoever is not the owner, unless a person overrides; says whether one did. What an agent has is not a
        person's, whatever name they give."""
        if found.owner == owner and not (self._actor.person and found.owner_task_id):
            return False
        if self._actor.person and override:
            return True
        raise conflict(found, "not_claimed" if found.owner is None else "not_owner")

    def _planned(self, found: WorkItem) -> None:
        """Refuse an agent to complete what its plan is not approved for; a person may."""
        gate = None if self._actor.person else team_requests.owned(self._db, self._actor.user_id, found.owner)
        if gate is not None and gate.closed:
            raise conflict(found, "plan_not_approved", plan=gate.status)

    def _set(self, item_id: str, **fields: Any) -> None:
        changes = "".join(f", {name} = ?" for name in fields)
        self._db.execute(
            f"UPDATE work_items SET version = version + 1, updated_at = ?{changes} WHERE user_id = ? AND item_id = ?",
            (self._now, *fields.values(), self._actor.user_id, item_id),
        )

    def _tell(
        self, now: WorkItem, action: WorkAction, detail: dict[str, Any] | None = None, *, overrode: bool = False
    ) -> None:
        """Write a change into the history, and have it told."""
        actor, change_id, known = self._actor, new_id("change"), detail or {}
        fields = {
            "change_id": change_id,
            "user_id": actor.user_id,
            "item_id": now.item_id,
            "action": action,
            "actor": actor.name,
            "at": self._now,
            "version": now.version,
            "person": int(actor.person),
            "overrode": int(overrode),
            "task_id": actor.task_id,
            "turn_id": actor.turn_id,
            "seq": 0,
            "detail": encode(known),
            "call_key": self._call,
        }
        self._insert("work_history", fields)
        self._told.append(
            WorkUpdate(
                item_id=now.item_id,
                action=action,
                subject=now.subject,
                status=now.status,
                change_id=change_id,
                board=now.board,
                version=now.version,
                by=actor.name,
                person=actor.person,
                overrode=overrode,
                owner=now.owner,
                role=now.role,
                priority=now.priority,
                worktree=now.worktree,
                blocked_by=now.blocked_by,
                unblocked=tuple(known.get("unblocked", ())),
                reason=known.get("reason"),
            )
        )

    def _insert(self, table: str, fields: dict[str, Any]) -> None:
        marks = ", ".join("?" * len(fields))
        self._db.execute(f"INSERT INTO {table} ({', '.join(fields)}) VALUES ({marks})", list(fields.values()))

    def _done_before(self) -> WorkOutcome | None:
        """What this very call came to, if it was made before."""
        if self._call is None:
            return None
        user_id = self._actor.user_id
        sql = "SELECT item_id, detail FROM work_history WHERE user_id = ? AND call_key = ? ORDER BY number"
        rows = self._db.execute(sql, (user_id, self._call)).fetchall()
        if not rows:
            return None
        unblocked = [
            one for _, detail in rows for one in decode(bytes(detail), dict[str, Any]).get("unblocked", ())
        ]
        return WorkOutcome(
            items=tuple(graph.items_of(self._db, user_id, list(dict.fromkeys(row[0] for row in rows)))),
            unblocked=tuple(graph.items_of(self._db, user_id, unblocked)),
        )


def place(db: Connection, user_id: str, event: WorkUpdate) -> None:
    """Note in the history where on a thread a change is told."""
    db.execute(
        "UPDATE work_history SET task_id = ?, turn_id = ?, seq = ? WHERE user_id = ? AND change_id = ? AND seq = 0",
        (event.task_id, event.turn_id or "", event.seq, user_id, event.change_id),
    )


_WHY: Final[dict[WorkObstacle, str]] = {
    "already_claimed": "{owner} has it",
    "already_resolved": "it is {status}",
    "blocked": "it waits for {waiting}",
    "busy_owner": "whoever asks for it is still at {busy}; complete or release that first",
    "not_owner": "it is {owner}'s",
    "not_claimed": "nobody has claimed it",
    "stale": "it has changed since; it is at version {version} now",
    "plan_not_approved": "Blocked: plan status is {plan}",
}


def conflict(found: WorkItem, reason: WorkObstacle, busy: WorkItem | None = None, plan: str = "") -> EngineError:
    said = _WHY[reason].format(
        owner=found.owner,
        status=found.status,
        waiting=", ".join(found.waiting_for),
        busy="" if busy is None else f"{busy.item_id} ({busy.subject})",
        version=found.version,
        plan=plan,
    )
    details: dict[str, Any] = {"reason": reason, "item_id": found.item_id, "status": found.status}
    if found.waiting_for:
        details["waiting_for"] = list(found.waiting_for)
    if found.owner is not None:
        details["owner"] = found.owner
    if busy is not None:
        details["busy_with"] = busy.item_id
    return EngineError(ErrorCode.WORK_CONFLICT, f"{found.item_id} stays as it is: {said}.", details)
