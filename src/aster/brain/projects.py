"""What a storage must be able to do for projects: changes that are made whole or not at all, and looking.

A change is a deed like those of the work graph, whose items a project's are: what is done to the board, to the project
and to the record of what has happened is one transaction. One item of a project is worked on at a time; whoever begins
it has claimed it, so that there is one however many ask.
"""

from collections.abc import Sequence
from typing import Any, ClassVar, Protocol, TypeAlias

from aster.brain.records import Row, ThreadKey
from aster.brain.work import Actor
from aster.contracts.events import Event
from aster.contracts.model import Contract
from aster.contracts.projects import (
    Advance,
    ArtifactKind,
    Project,
    ProjectArtifact,
    ProjectBudget,
    ProjectNode,
    ProjectRecord,
    ProjectStatus,
)
from aster.contracts.work import WorkDraft, WorkItem


class AdvanceBegunRow(Row):
    """An advance whose turn begins, in the commit that begins it."""

    table: ClassVar[str] = "project_advances"
    key: ClassVar[tuple[str, ...]] = ("advance_id",)

    advance_id: str
    turn_id: str
    started_at: int
    look_at: int
    status: str = "running"


class SuggestedRow(Row):
    """A project was suggested in a task."""

    table: ClassVar[str] = "project_suggestions"
    key: ClassVar[tuple[str, ...]] = ("thread_id",)

    suggested_at: int


class ProjectDraft(Contract):
    title: str
    brief: str = ""
    notes: str = ""
    budget: ProjectBudget = ProjectBudget()


class ProjectEdit(Contract):
    """What is to be another in a project; what is None stays. A `budget` replaces all of the one there is."""

    title: str | None = None
    brief: str | None = None
    notes: str | None = None
    budget: ProjectBudget | None = None


class CreateProject(Contract):
    """Make a project, or have the one of the same title: it is taken up again when it was archived. `most` may be
    there that are not archived."""

    actor: Actor
    project_id: str
    draft: ProjectDraft
    most: int


class EditProject(Contract):
    actor: Actor
    project_id: str
    edit: ProjectEdit
    version: int | None = None


class SetProject(Contract):
    """Let a project stand otherwise. Unless it is active then, it does not go on by itself any more."""

    actor: Actor
    project_id: str
    status: ProjectStatus
    reason: str = ""


class EraseProject(Contract):
    """Delete a project with its items, its artifacts and its record; refused while a turn works for it."""

    actor: Actor
    project_id: str


class SwitchProject(Contract):
    """Let a task work for a project, and for no other."""

    actor: Actor
    project_id: str
    task_id: str


class ExitProject(Contract):
    """Let a task work for no project."""

    actor: Actor
    task_id: str


class AddItems(Contract):
    """Put items on a project's board, or parts of an item (`parent_id`), which waits for them then; `most` open items
    a user may have."""

    actor: Actor
    project_id: str
    drafts: tuple[WorkDraft, ...]
    most: int
    parent_id: str = ""


class AddArtifact(Contract):
    """Keep something that came of a project; the same id keeps it once."""

    actor: Actor
    project_id: str
    artifact_id: str
    kind: ArtifactKind
    name: str
    content: str
    item_id: str = ""


class LogRecord(Contract):
    """Write something down that has happened; the same id writes it once. The newest `keep` of a project are kept."""

    actor: Actor
    project_id: str
    record_id: str
    kind: str
    message: str
    keep: int = 5000


class BeginAdvance(Contract):
    """Take the next item that is ready, for a turn that is to begin; refused when nothing may or can. With `going` the
    project goes on by itself after it. The same id begins it once."""

    actor: Actor
    project_id: str
    advance_id: str
    going: bool


class EndAdvance(Contract):
    """The turn of an advance ends. Only with a `result` is the item completed; without one it goes back to the board,
    and a person has to see to it (`reason`), or has stopped it."""

    actor: Actor
    advance_id: str
    tool_calls: int = 0
    usd: float = 0.0
    result: str | None = None
    stopped: bool = False
    reason: str = ""


ProjectOrder: TypeAlias = (
    CreateProject
    | EditProject
    | SetProject
    | EraseProject
    | SwitchProject
    | ExitProject
    | AddItems
    | AddArtifact
    | LogRecord
    | BeginAdvance
    | EndAdvance
)


class ProjectOutcome(Contract):
    """What a change came to: the project as it is now (None when it is gone), and what was made. `new`: a project was
    made, and not found."""

    project: Project | None = None
    items: tuple[WorkItem, ...] = ()
    artifact: ProjectArtifact | None = None
    advance: Advance | None = None
    new: bool = False


class ProjectDeed(Protocol):
    """A change as a deed of a unit; once that is committed its outcome is known."""

    @property
    def outcome(self) -> ProjectOutcome: ...
    def __call__(self, db: Any, /) -> Sequence[Event]: ...


class ProjectStore(Protocol):
    def deed(self, order: ProjectOrder) -> ProjectDeed:
        """A change for the commit of somebody's unit."""
        ...

    async def do(self, order: ProjectOrder, key: ThreadKey | None = None) -> ProjectOutcome:
        """Make a change now, told on this thread if it exists. Raises `EngineError` when it cannot be made."""
        ...

    async def project(self, user_id: str, project_id: str) -> Project | None: ...
    async def titled(self, user_id: str, title: str) -> Project | None:
        """The one of this title, in whatever case."""
        ...

    async def projects(
        self, user_id: str, *, limit: int, before: int | None = None, status: ProjectStatus | None = None
    ) -> list[Project]:
        """Newest first; archived ones only when they are asked for."""
        ...

    async def active(self, key: ThreadKey) -> Project | None:
        """The project that a task works for."""
        ...

    async def tasks(self, user_id: str, project_id: str) -> list[str]:
        """The tasks that have worked for a project, the newest first."""
        ...

    async def nodes(self, user_id: str, project_id: str) -> list[ProjectNode]:
        """Its items as a tree, parts below what they are parts of."""
        ...

    async def artifacts(
        self,
        user_id: str,
        project_id: str,
        *,
        limit: int,
        before: int | None = None,
        item_ids: Sequence[str] | None = None,
    ) -> list[ProjectArtifact]:
        """Newest first."""
        ...

    async def results(self, user_id: str, project_id: str, limit: int) -> list[ProjectArtifact]:
        """What the newest advances came to."""
        ...

    async def records(
        self, user_id: str, project_id: str, *, limit: int, before: int | None = None, kind: str | None = None
    ) -> list[ProjectRecord]:
        """Newest first."""
        ...

    async def advances(
        self, user_id: str, project_id: str, *, limit: int, before: int | None = None
    ) -> list[Advance]:
        """Newest first."""
        ...

    async def open_advances(self, now: int, limit: int) -> list[Advance]:
        """Those of all users that are to be looked at; what is not open costs nothing."""
        ...

    async def look_later(self, advance: Advance, look_at: int, waits_ms: int = 0) -> bool:
        """Be the one who looks at an advance now, if it is still as it was seen. It waits for a person for so long,
        which counts as no time of its turn."""
        ...

    async def suggestible(self, key: ThreadKey, turns: int) -> bytes | None:
        """The newest plan of a task that has had so many turns, works for no project and was suggested none."""
        ...
