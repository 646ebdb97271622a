"""Projects: work that takes many turns, with what came of it, what has happened, and how far it may go by itself.

What is to be done is on the project's own board of the work graph; here is only what is beside it.
"""

from typing import Final, Literal, TypeAlias

from aster.contracts.model import Contract
from aster.contracts.work import WorkItem

BOARDS: Final = "project/"
"""How the board of a project begins; the rest is its id."""

ProjectStatus: TypeAlias = Literal["ACTIVE", "PAUSED", "NEEDS_USER", "DONE", "ARCHIVED"]
AdvanceStatus: TypeAlias = Literal["due", "running", "done", "failed", "stopped"]
ArtifactKind: TypeAlias = Literal["file", "url", "note", "tool_call"]
Until: TypeAlias = Literal["step", "blocked"]
"""How far it goes: one item, or on by itself until something keeps it."""
ProjectAction: TypeAlias = Literal[
    "created",
    "updated",
    "switched",
    "exited",
    "archived",
    "paused",
    "resumed",
    "items_added",
    "artifact_added",
    "advance_started",
    "advance_done",
    "advance_failed",
    "advance_stopped",
    "needs_user",
    "blocked",
    "done",
    "suggested",
]


class ProjectBudget(Contract):
    """How far a project may go by itself, or how far it has: items begun, seconds of turns, calls of tools, money.
    None is no limit."""

    steps: int | None = None
    seconds: float | None = None
    tool_calls: int | None = None
    usd: float | None = None


class Advance(Contract):
    """One item of a project that is worked on in one turn. A turn that has begun is followed until its end, which is
    written down in the commit that ends it."""

    advance_id: str
    project_id: str
    user_id: str
    item_id: str
    task_id: str
    status: AdvanceStatus
    look_at: int
    created_at: int
    number: int = 0
    turn_id: str = ""
    reason: str = ""
    tool_calls: int = 0
    ms: int = 0
    usd: float = 0.0
    started_at: int | None = None
    ended_at: int | None = None


class Project(Contract):
    """A project as it stands. `going`: it goes on with the next item by itself. `reason` is why it does not go on.
    While the turn of its open advance waits for a person it is `NEEDS_USER`, whatever is on record."""

    project_id: str
    user_id: str
    title: str
    brief: str
    notes: str
    status: ProjectStatus
    reason: str
    going: bool
    budget: ProjectBudget
    used: ProjectBudget
    version: int
    created_at: int
    updated_at: int
    number: int = 0
    advance: Advance | None = None

    @property
    def board(self) -> str:
        return f"{BOARDS}{self.project_id}"


class ProjectArtifact(Contract):
    """Something that came of a project."""

    artifact_id: str
    project_id: str
    kind: ArtifactKind
    name: str
    content: str
    created_at: int
    number: int = 0
    item_id: str = ""
    task_id: str = ""
    turn_id: str = ""


class ProjectRecord(Contract):
    """Something that has happened in a project, in the order of `number`."""

    number: int
    project_id: str
    kind: str
    message: str
    by: str
    at: int
    item_id: str = ""
    task_id: str = ""
    turn_id: str = ""


class ProjectNode(Contract):
    """An item of a project's board, and the one it is a part of."""

    item: WorkItem
    parent_id: str = ""
    depth: int = 0


class AdvanceOf(Contract):
    """What a turn is for that works on an item of a project, and what it may still use."""

    project_id: str
    advance_id: str
    item_id: str
    tool_calls: int | None = None
    usd: float | None = None
