"""Advancing projects in SQL: the next item is claimed for a turn, within the budgets, and what the turn came to is
written down with its end.

An item is completed by a result alone. Whatever else a turn ends with gives the item back and leaves the project to a
person, so nothing is ever done that did not run.
"""

from typing import Any, Final

from aster.brain.projects import BeginAdvance, EndAdvance, ProjectOutcome
from aster.brain.records import ThreadKey
from aster.brain.sql.connection import Connection
from aster.brain.sql.work import graph, projects
from aster.brain.sql.work.graph_deeds import SqlDeed
from aster.brain.sql.work.projects_told import Told, stuck
from aster.brain.work import Abandon, Actor, Claim, Complete
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.projects import Advance, Project
from aster.infra.ids import derived_id

STOPPED: Final = "It was stopped."
RESULT_CHARS: Final = 20_000
"""Of a result on the board; it is whole as an artifact."""
_REFUSED: Final = {
    "PAUSED": ("paused", "is paused; resume it first"),
    "NEEDS_USER": ("needs_user", "waits for a person: {reason} Answer or resume it first"),
    "DONE": ("done", "is done; add what is still to be done"),
    "ARCHIVED": ("archived", "is archived; resume it first"),
}


class SqlAdvancing:
    def __init__(self, db: Connection, told: Told) -> None:
        self._db = db
        self._told = told
        self._user = told.actor.user_id

    def begin(self, order: BeginAdvance) -> ProjectOutcome:
        known = projects.advance(self._db, self._user, order.advance_id)
        found = projects.project(self._db, self._user, order.project_id)
        if found is None:
            raise EngineError(ErrorCode.NOT_FOUND, f"There is no project {order.project_id[:64]!r}.")
        if known is not None:
            return ProjectOutcome(project=found, advance=known)
        if found.status in _REFUSED:
            reason, why = _REFUSED[found.status]
            raise stuck(found, reason, why.format(reason=found.reason))
        if found.advance is not None:
            raise stuck(found, "busy", f"is being worked on: {found.advance.item_id}")
        made = self._next(found, order.advance_id, going=order.going)
        if isinstance(made, Advance):
            return ProjectOutcome(project=projects.project(self._db, self._user, order.project_id), advance=made)
        raise stuck(found, *made)

    def end(self, order: EndAdvance) -> ProjectOutcome:
        """What becomes of an advance whose turn ends; never refused."""
        open_one = projects.advance(self._db, self._user, order.advance_id)
        found = None if open_one is None else projects.project(self._db, self._user, open_one.project_id)
        if open_one is None or open_one.status not in ("due", "running"):
            return ProjectOutcome()
        ms = max(0, self._told.now - (open_one.started_at or self._told.now))
        if found is None:
            self._settled(open_one, "stopped", order.reason, order, ms)
            return ProjectOutcome()
        done = order.result is not None and self._completed(open_one, found, order)
        status = "done" if done else "stopped" if order.stopped else "failed"
        reason = "" if done else order.reason or STOPPED
        self._settled(open_one, status, reason, order, ms)
        if done:
            now = self._account(found, order, ms)
            self._tell(now, open_one, status, reason)
            return ProjectOutcome(project=self._went_on(now, open_one), advance=open_one)
        self._abandon(open_one, reason)
        stand: dict[str, Any] = {"going": 0}
        if not order.stopped and found.status in ("ACTIVE", "NEEDS_USER"):
            stand |= {"status": "NEEDS_USER", "reason": reason}
        elif found.status in ("ACTIVE", "NEEDS_USER"):
            stand |= {"status": "PAUSED", "reason": reason}
        now = self._account(found, order, ms, **stand)
        self._tell(now, open_one, status, reason)
        return ProjectOutcome(project=now, advance=open_one)

    def _next(self, found: Project, advance_id: str, *, going: bool) -> Advance | tuple[str, str]:
        """Claim the next item for a turn; or why there is none."""
        if (spent := over(found)) is not None:
            return "budget", f"does not go on: {spent}. Raise its budget to go on"
        item_id = graph.next_ready(self._db, self._user, found.board, ())
        if item_id is None:
            return "nothing_ready", "has nothing that can be done now: " + self._why(found)
        task_id = derived_id("task", found.project_id, item_id)
        owner = Actor(user_id=self._user, name=found.board, task_id=task_id)
        claim = Claim(actor=owner, owner=found.board, item_id=item_id)
        item = self._told.work(SqlDeed(claim)).items[0]
        now = self._told.now
        self._db.execute(
            "INSERT INTO project_advances (advance_id, user_id, project_id, item_id, task_id, status, look_at,"
            " created_at) VALUES (?, ?, ?, ?, ?, 'due', ?, ?)",
            (advance_id, self._user, found.project_id, item_id, task_id, now, now),
        )
        if projects.active(self._db, ThreadKey(self._user, task_id)) is None:
            self._told.enter(found.project_id, task_id)
        project = self._told.put(found, going=int(going), used_steps=(found.used.steps or 0) + 1, reason="")
        self._told.tell(
            project, "advance_started", item.subject, item_id=item_id, advance_id=advance_id, task_id=task_id
        )
        made = projects.advance(self._db, self._user, advance_id)
        assert made is not None
        return made

    def _why(self, found: Project) -> str:
        sql = (
            "SELECT count(*), coalesce(sum(CASE WHEN status = 'in_progress' THEN 1 ELSE 0 END), 0) FROM work_items"
            " WHERE user_id = ? AND board = ? AND status IN ('pending', 'in_progress')"
        )
        left, held = self._db.execute(sql, (self._user, found.board)).fetchone()
        if not left:
            return "no item is open. Add some"
        return (
            f"{left} items are open, {held} of them somebody's, and the others wait for something or are for a role"
        )

    def _completed(self, done: Advance, found: Project, order: EndAdvance) -> bool:
        """Complete the item with its result and keep that; False when the item is not the project's any more, which a
        person may have seen to."""
        actor = Actor(user_id=self._user, name=found.board, task_id=done.task_id, turn_id=done.turn_id)
        result = order.result or ""
        try:
            complete = Complete(actor=actor, item_id=done.item_id, owner=found.board, result=result[:RESULT_CHARS])
            self._told.work(SqlDeed(complete))
        except EngineError:
            if not self._done_by_somebody(done.item_id):
                return False
        item = graph.item(self._db, self._user, done.item_id)
        name = "" if item is None else item.subject
        artifact_id = derived_id("artifact", done.advance_id)
        self._told.keep(found, artifact_id, "note", name, result, done.item_id, done.task_id, done.turn_id)
        return True

    def _done_by_somebody(self, item_id: str) -> bool:
        item = graph.item(self._db, self._user, item_id)
        return item is not None and item.status == "completed"

    def _abandon(self, ended: Advance, reason: str) -> None:
        actor = Actor(user_id=self._user, name="engine", task_id=ended.task_id, turn_id=ended.turn_id)
        self._told.work(SqlDeed(Abandon(actor=actor, task_id=ended.task_id, reason=reason)))

    def _settled(self, ended: Advance, status: str, reason: str, order: EndAdvance, ms: int) -> None:
        self._db.execute(
            "UPDATE project_advances SET status = ?, reason = ?, tool_calls = ?, ms = ?, usd = ?, ended_at = ?"
            " WHERE user_id = ? AND advance_id = ?",
            (
                *(status, reason, order.tool_calls, ms, order.usd, self._told.now),
                *(self._user, ended.advance_id),
            ),
        )

    def _account(self, found: Project, order: EndAdvance, ms: int, **changes: Any) -> Project:
        used = found.used
        return self._told.put(
            found,
            used_ms=round((used.seconds or 0.0) * 1000) + ms,
            used_calls=(used.tool_calls or 0) + order.tool_calls,
            used_usd=(used.usd or 0.0) + order.usd,
            **changes,
        )

    def _tell(self, project: Project, ended: Advance, status: str, reason: str) -> None:
        self._told.tell(
            project,
            "advance_done" if status == "done" else "advance_stopped" if status == "stopped" else "advance_failed",
            reason,
            item_id=ended.item_id,
            advance_id=ended.advance_id,
            task_id=ended.task_id,
            turn_id=ended.turn_id,
        )

    def _went_on(self, project: Project, done: Advance) -> Project:
        """With the next item, if it goes by itself; it is done when nothing is open any more."""
        left = "status IN ('pending', 'in_progress')"
        sql = f"SELECT 1 FROM work_items WHERE user_id = ? AND board = ? AND {left} LIMIT 1"
        if project.status == "ACTIVE" and self._db.execute(sql, (self._user, project.board)).fetchone() is None:
            project = self._told.put(project, status="DONE", going=0)
            self._told.tell(project, "done")
        elif project.status == "ACTIVE" and project.going:
            following = self._next(project, derived_id("advance", done.advance_id), going=True)
            if not isinstance(following, Advance):
                reason = f"It {following[1]}."
                project = self._told.put(project, going=0, reason=reason)
                self._told.tell(project, "blocked", reason)
        return project


def over(project: Project) -> str | None:
    """Which budget is used up, as a sentence; None when it may go on."""
    budget, used = project.budget, project.used
    for name, limit, so_far in (
        ("steps", budget.steps, used.steps),
        ("seconds of running time", budget.seconds, used.seconds),
        ("tool calls", budget.tool_calls, used.tool_calls),
        ("USD", budget.usd, used.usd),
    ):
        if limit is not None and (so_far or 0) >= limit:
            return f"{so_far or 0:g} of {limit:g} {name} are used"
    return None
