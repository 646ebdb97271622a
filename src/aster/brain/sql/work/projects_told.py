"""What every change of a project writes: its row, the record of what has happened, and the event that tells of it."""

from typing import Any

from aster.brain.sql.connection import Connection
from aster.brain.sql.work import projects
from aster.brain.sql.work.graph_deeds import SqlDeed
from aster.brain.work import Actor, WorkOutcome
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.events import Event, ProjectUpdate
from aster.contracts.projects import ArtifactKind, Project, ProjectAction, ProjectArtifact
from aster.infra.ids import new_id

NAMED_CHARS = 200
"""Of a message in an event; it is whole on record."""


class Told:
    """`events` is what is to be told when all of it is written."""

    def __init__(self, db: Connection, actor: Actor, now: int) -> None:
        self.now = now
        self.actor = actor
        self.events: list[Event] = []
        self._db = db

    def put(self, found: Project, **changes: Any) -> Project:
        """Change a project's row; the project as it is then."""
        sql = "".join(f", {name} = ?" for name in changes)
        self._db.execute(
            f"UPDATE projects SET version = version + 1, updated_at = ?{sql} WHERE user_id = ? AND project_id = ?",
            (self.now, *changes.values(), found.user_id, found.project_id),
        )
        now = projects.project(self._db, found.user_id, found.project_id)
        assert now is not None
        return now

    def tell(
        self,
        project: Project,
        action: ProjectAction,
        message: str = "",
        *,
        item_id: str = "",
        advance_id: str = "",
        task_id: str = "",
        turn_id: str = "",
    ) -> None:
        """Write down what has happened, and have it told."""
        self.write(project.project_id, action, message, item_id=item_id, task_id=task_id, turn_id=turn_id)
        told = ProjectUpdate(
            action=action,
            project_id=project.project_id,
            title=project.title,
            status=project.status,
            item_id=item_id,
            advance_id=advance_id,
            by=self.actor.name,
            message=message[:NAMED_CHARS],
        )
        self.events.append(told)

    def write(
        self,
        project_id: str,
        kind: str,
        message: str,
        *,
        record_id: str = "",
        item_id: str = "",
        task_id: str = "",
        turn_id: str = "",
    ) -> None:
        actor = self.actor
        self._db.execute(
            "INSERT INTO project_records (record_id, user_id, project_id, kind, message, actor, item_id, task_id,"
            " turn_id, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (record_id) DO NOTHING",
            (
                *(record_id or new_id("record"), actor.user_id, project_id, kind, message, actor.name, item_id),
                *(task_id or actor.task_id, turn_id or actor.turn_id, self.now),
            ),
        )

    def enter(self, project_id: str, task_id: str) -> None:
        """A task works for a project from now on; it works for no other, which whoever asks has seen to."""
        self._db.execute(
            "INSERT INTO project_tasks (user_id, project_id, task_id, active, since) VALUES (?, ?, ?, 1, ?)"
            " ON CONFLICT (user_id, project_id, task_id) DO UPDATE SET active = 1, since = excluded.since",
            (self.actor.user_id, project_id, task_id, self.now),
        )

    def keep(
        self,
        project: Project,
        artifact_id: str,
        kind: ArtifactKind,
        name: str,
        content: str,
        item_id: str,
        task_id: str,
        turn_id: str = "",
    ) -> ProjectArtifact:
        made = ProjectArtifact(
            artifact_id=artifact_id,
            project_id=project.project_id,
            kind=kind,
            name=name,
            content=content,
            item_id=item_id,
            task_id=task_id,
            turn_id=turn_id or self.actor.turn_id,
            created_at=self.now,
        )
        done = self._db.execute(
            "INSERT INTO project_artifacts (artifact_id, user_id, project_id, kind, name, content, item_id, task_id,"
            " turn_id, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (artifact_id) DO NOTHING",
            (
                *(artifact_id, self.actor.user_id, project.project_id, kind, name, content, item_id, task_id),
                *(made.turn_id, self.now),
            ),
        )
        if done.rowcount:
            self.tell(project, "artifact_added", f"{kind}: {name}" if name else kind, item_id=item_id)
        return made

    def work(self, deed: SqlDeed) -> WorkOutcome:
        """Change the board in the same transaction; what tells of it is told too."""
        self.events += deed(self._db)
        return deed.outcome


def stuck(found: Project, reason: str, why: str) -> EngineError:
    details = {"reason": reason, "project_id": found.project_id, "status": found.status}
    return EngineError(ErrorCode.WORK_CONFLICT, f"The project {found.title!r} {why}.", details)
