"""Changing projects: each order compares and sets while no other change of its user's work is under way, writes down
what has happened, and says what is to be told of it."""

from collections.abc import Sequence
from typing import Any, Final

from aster.brain.projects import (
    AddArtifact,
    AddItems,
    BeginAdvance,
    CreateProject,
    EditProject,
    EndAdvance,
    EraseProject,
    ExitProject,
    LogRecord,
    ProjectOrder,
    ProjectOutcome,
    SetProject,
    SwitchProject,
)
from aster.brain.records import ThreadKey
from aster.brain.sql.connection import Connection
from aster.brain.sql.work import projects
from aster.brain.sql.work.graph_deeds import SqlDeed
from aster.brain.sql.work.projects_advancing import SqlAdvancing
from aster.brain.sql.work.projects_told import Told, stuck
from aster.brain.work import Create, Link
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.events import Event
from aster.contracts.projects import Project, ProjectAction, ProjectBudget, ProjectStatus
from aster.contracts.work import WorkEdge
from aster.infra.clock import now_ms

_SAID: Final[dict[ProjectStatus, ProjectAction]] = {
    "ACTIVE": "resumed",
    "PAUSED": "paused",
    "NEEDS_USER": "needs_user",
    "DONE": "done",
    "ARCHIVED": "archived",
}
MOST_ARTIFACTS: Final = 2000
_TABLES: Final = ("project_tasks", "project_nodes", "project_artifacts", "project_records", "project_advances")


class SqlProjectDeed:
    """One order, made when the writer calls it."""

    def __init__(self, order: ProjectOrder) -> None:
        self._order = order
        self._actor = order.actor
        self._user = order.actor.user_id
        self.outcome = ProjectOutcome()

    def __call__(self, db: Connection, /) -> Sequence[Event]:
        db.dialect.hold(db, f"work {self._user}")
        self._db, self._told = db, Told(db, self._actor, now_ms())
        self.outcome = self._do()
        return self._told.events

    def _do(self) -> ProjectOutcome:
        match self._order:
            case CreateProject():
                return self._create(self._order)
            case EditProject():
                return self._edit(self._order)
            case SetProject():
                return self._set(self._order)
            case EraseProject():
                return self._erase(self._order)
            case SwitchProject():
                return self._switch(self._order)
            case ExitProject():
                return self._exit(self._order)
            case AddItems():
                return self._add(self._order)
            case AddArtifact():
                return self._keep(self._order)
            case LogRecord():
                return self._log(self._order)
            case BeginAdvance():
                return SqlAdvancing(self._db, self._told).begin(self._order)
            case EndAdvance():
                return SqlAdvancing(self._db, self._told).end(self._order)

    def _create(self, order: CreateProject) -> ProjectOutcome:
        found = projects.titled(self._db, self._user, order.draft.title)
        if found is not None:
            if found.status != "ARCHIVED":
                return ProjectOutcome(project=found)
            return self._set(SetProject(actor=self._actor, project_id=found.project_id, status="ACTIVE"))
        sql = "SELECT count(*) FROM projects WHERE user_id = ? AND status <> 'ARCHIVED'"
        if self._db.execute(sql, (self._user,)).fetchone()[0] >= order.most:
            message = (
                f"You have {order.most} projects, the most there can be (PROJECTS_PER_USER). Archive one first."
            )
            raise EngineError(ErrorCode.INVALID_REQUEST, message)
        draft, now = order.draft, self._told.now
        fields = {
            "project_id": order.project_id,
            "user_id": self._user,
            "title": draft.title,
            "title_key": projects.title_key(draft.title),
            "brief": draft.brief,
            "notes": draft.notes,
            "status": "ACTIVE",
            "reason": "",
            "going": 0,
            **_limits(draft.budget),
            **dict.fromkeys(("used_steps", "used_ms", "used_calls", "used_usd"), 0),
            "version": 1,
            **dict.fromkeys(("created_at", "updated_at"), now),
        }
        marks = ", ".join("?" * len(fields))
        self._db.execute(f"INSERT INTO projects ({', '.join(fields)}) VALUES ({marks})", list(fields.values()))
        made = self._found(order.project_id)
        self._told.tell(made, "created")
        return ProjectOutcome(project=made, new=True)

    def _edit(self, order: EditProject) -> ProjectOutcome:
        found, edit = self._found(order.project_id), order.edit
        if order.version is not None and order.version != found.version:
            raise stuck(found, "stale", f"has changed since; it is at version {found.version} now")
        changed: dict[str, Any] = {
            name: value
            for name in ("title", "brief", "notes")
            if (value := getattr(edit, name)) is not None and value != getattr(found, name)
        }
        if "title" in changed:
            same = projects.titled(self._db, self._user, changed["title"])
            if same is not None and same.project_id != found.project_id:
                raise stuck(found, "title_taken", f"cannot be called that: {same.project_id} is")
            changed["title_key"] = projects.title_key(changed["title"])
        if edit.budget is not None and edit.budget != found.budget:
            changed |= _limits(edit.budget)
        if not changed:
            return ProjectOutcome(project=found)
        now = self._told.put(found, **changed)
        self._told.tell(now, "updated", ", ".join(name for name in changed if name != "title_key"))
        return ProjectOutcome(project=now)

    def _set(self, order: SetProject) -> ProjectOutcome:
        found = self._found(order.project_id)
        kept = self._db.execute(
            "SELECT status, reason FROM projects WHERE user_id = ? AND project_id = ?",
            (self._user, order.project_id),
        ).fetchone()
        if kept == (order.status, order.reason):
            return ProjectOutcome(project=found)
        going = found.going and order.status == "ACTIVE"
        now = self._told.put(found, status=order.status, reason=order.reason, going=int(going))
        self._told.tell(now, _SAID[order.status], order.reason)
        return ProjectOutcome(project=now)

    def _erase(self, order: EraseProject) -> ProjectOutcome:
        found = self._found(order.project_id)
        if found.advance is not None:
            raise stuck(found, "busy", "is being worked on; pause it with `now` first")
        board = (self._user, found.board)
        items = "SELECT item_id FROM work_items WHERE user_id = ? AND board = ?"
        for table, column in (("work_history", "item_id"), ("work_edges", "item_id"), ("work_edges", "needs")):
            self._db.execute(
                f"DELETE FROM {table} WHERE user_id = ? AND {column} IN ({items})", (self._user, *board)
            )
        self._db.execute("DELETE FROM work_items WHERE user_id = ? AND board = ?", board)
        for table in (*_TABLES, "projects"):
            sql = f"DELETE FROM {table} WHERE user_id = ? AND project_id = ?"
            self._db.execute(sql, (self._user, order.project_id))
        return ProjectOutcome()

    def _switch(self, order: SwitchProject) -> ProjectOutcome:
        found = self._found(order.project_id)
        if found.status == "ARCHIVED":
            raise stuck(found, "archived", "is archived; resume it first")
        key = ThreadKey(self._user, order.task_id)
        before = projects.active(self._db, key)
        if before is not None and before.project_id == found.project_id:
            return ProjectOutcome(project=found)
        if before is not None:
            self._left(before, order.task_id)
        self._told.enter(found.project_id, order.task_id)
        self._told.tell(found, "switched", task_id=order.task_id)
        return ProjectOutcome(project=found)

    def _exit(self, order: ExitProject) -> ProjectOutcome:
        before = projects.active(self._db, ThreadKey(self._user, order.task_id))
        if before is not None:
            self._left(before, order.task_id)
        return ProjectOutcome(project=before)

    def _left(self, before: Project, task_id: str) -> None:
        sql = "UPDATE project_tasks SET active = 0 WHERE user_id = ? AND task_id = ? AND active = 1"
        self._db.execute(sql, (self._user, task_id))
        self._told.tell(before, "exited", task_id=task_id)

    def _add(self, order: AddItems) -> ProjectOutcome:
        found = self._found(order.project_id)
        if found.status == "ARCHIVED":
            raise stuck(found, "archived", "is archived; resume it first")
        if order.parent_id:
            sql = "SELECT 1 FROM work_items WHERE user_id = ? AND item_id = ? AND board = ? AND status <> 'deleted'"
            if self._db.execute(sql, (self._user, order.parent_id, found.board)).fetchone() is None:
                raise EngineError(ErrorCode.NOT_FOUND, f"The project has no item {order.parent_id[:64]!r}.")
        create = Create(actor=self._actor, board=found.board, drafts=order.drafts, most=order.most)
        made = self._told.work(SqlDeed(create)).items
        for item in made:
            self._db.execute(
                "INSERT INTO project_nodes (user_id, project_id, item_id, parent_id) VALUES (?, ?, ?, ?)"
                " ON CONFLICT (user_id, project_id, item_id) DO NOTHING",
                (self._user, found.project_id, item.item_id, order.parent_id),
            )
        if order.parent_id:
            edges = tuple(WorkEdge(item_id=order.parent_id, needs=item.item_id) for item in made)
            self._told.work(SqlDeed(Link(actor=self._actor, add=edges)))
        if found.status == "DONE":
            found = self._told.put(found, status="ACTIVE", reason="")
        message = "; ".join(item.subject for item in made)
        self._told.tell(found, "items_added", message, item_id=order.parent_id)
        return ProjectOutcome(project=found, items=made)

    def _keep(self, order: AddArtifact) -> ProjectOutcome:
        found = self._found(order.project_id)
        sql = "SELECT count(*) FROM project_artifacts WHERE user_id = ? AND project_id = ?"
        if self._db.execute(sql, (self._user, order.project_id)).fetchone()[0] >= MOST_ARTIFACTS:
            raise stuck(
                found, "full", f"keeps {MOST_ARTIFACTS} artifacts, the most there can be; make another project"
            )
        kept = self._told.keep(
            found, order.artifact_id, order.kind, order.name, order.content, order.item_id, self._actor.task_id
        )
        return ProjectOutcome(project=found, artifact=kept)

    def _log(self, order: LogRecord) -> ProjectOutcome:
        found = self._found(order.project_id)
        self._told.write(found.project_id, order.kind, order.message, record_id=order.record_id)
        whose = (self._user, order.project_id)
        sql = "SELECT number FROM project_records WHERE user_id = ? AND project_id = ? ORDER BY number DESC"
        oldest = self._db.execute(f"{sql} LIMIT 1 OFFSET ?", (*whose, order.keep)).fetchone()
        if oldest is not None:
            sql = "DELETE FROM project_records WHERE user_id = ? AND project_id = ? AND number <= ?"
            self._db.execute(sql, (*whose, oldest[0]))
        return ProjectOutcome(project=found)

    def _found(self, project_id: str) -> Project:
        found = projects.project(self._db, self._user, project_id)
        if found is None:
            raise EngineError(ErrorCode.NOT_FOUND, f"There is no project {project_id[:64]!r}.")
        return found


def _limits(budget: ProjectBudget) -> dict[str, Any]:
    return {
        "max_steps": budget.steps,
        "max_seconds": budget.seconds,
        "max_tool_calls": budget.tool_calls,
        "max_usd": budget.usd,
    }
