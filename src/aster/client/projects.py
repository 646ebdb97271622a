"""Projects over the wire: work over many turns, its items, what came of it, and how far it goes by itself."""

from collections.abc import Sequence
from typing import TypedDict
from urllib.parse import quote

from aster.client.wire import Wire
from aster.client.work import WorkEntries, WorkEntry
from aster.contracts.model import Contract, to_builtins
from aster.contracts.projects import ArtifactKind, ProjectBudget, ProjectStatus, Until
from aster.contracts.work import WorkDraft


class Budget(TypedDict, total=False):
    """How far a project may go by itself."""

    steps: int | None
    seconds: float | None
    tool_calls: int | None
    usd: float | None


class ProjectItems(Contract):
    """How many items stand how."""

    pending: int = 0
    in_progress: int = 0
    completed: int = 0
    ready: int = 0


class AdvanceEntry(Contract):
    """An item that is, or was, worked on in a turn."""

    advance_id: str
    project_id: str
    item_id: str
    task_id: str
    status: str
    created_at: str
    turn_id: str | None = None
    reason: str = ""
    tool_calls: int = 0
    seconds: float = 0.0
    usd: float = 0.0
    started_at: str | None = None
    ended_at: str | None = None


class AskedOfPerson(Contract):
    """What a person has to answer before a project goes on."""

    request_id: str
    question: str
    reason: str
    options: tuple[str, ...] = ()


class ProjectEntry(Contract):
    """A project as it stands; in a list only the first few fields are there."""

    project_id: str
    title: str
    status: ProjectStatus
    created_at: str
    updated_at: str
    reason: str = ""
    going: bool = False
    items: ProjectItems = ProjectItems()
    brief: str = ""
    notes: str = ""
    board: str = ""
    budget: ProjectBudget = ProjectBudget()
    used: ProjectBudget = ProjectBudget()
    tasks: tuple[str, ...] = ()
    advance: AdvanceEntry | None = None
    question: AskedOfPerson | None = None
    version: int = 0


class ProjectList(Contract):
    projects: tuple[ProjectEntry, ...]
    next: int | None = None


class ProjectItem(WorkEntry):
    """An item, and the one it is a part of."""

    parent_id: str | None = None
    depth: int = 0


class ProjectItemTree(Contract):
    items: tuple[ProjectItem, ...]


class Advances(Contract):
    advances: tuple[AdvanceEntry, ...]
    next: int | None = None


class ProjectArtifactEntry(Contract):
    """Something that came of a project."""

    artifact_id: str
    project_id: str
    kind: ArtifactKind
    name: str
    content: str
    created_at: str
    item_id: str | None = None
    task_id: str | None = None
    turn_id: str | None = None


class ProjectArtifacts(Contract):
    artifacts: tuple[ProjectArtifactEntry, ...]
    next: int | None = None


class ProjectEventEntry(Contract):
    """Something that has happened in a project."""

    number: int
    kind: str
    message: str
    by: str
    at: str
    item_id: str | None = None
    task_id: str | None = None
    turn_id: str | None = None


class ProjectEvents(Contract):
    events: tuple[ProjectEventEntry, ...]
    next: int | None = None


class ProjectsClient:
    """The part of a client that is about projects."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    async def create(
        self, title: str, *, brief: str = "", notes: str = "", budget: Budget | None = None
    ) -> ProjectEntry:
        """Make a project, or have the one of the same title."""
        body = {"title": title, "brief": brief, "notes": notes, "budget": budget}
        return await self._wire.ask(ProjectEntry, "POST", "/projects", body=body)

    async def list(
        self, *, status: ProjectStatus | None = None, limit: int = 50, before: int | None = None
    ) -> ProjectList:
        """One page, newest first; archived ones only when they are asked for."""
        params = {"status": status, "limit": limit, "before": before}
        return await self._wire.ask(ProjectList, "GET", "/projects", params=params)

    async def get(self, project_id: str) -> ProjectEntry:
        return await self._wire.ask(ProjectEntry, "GET", _path(project_id))

    async def edit(
        self,
        project_id: str,
        *,
        title: str | None = None,
        brief: str | None = None,
        notes: str | None = None,
        budget: Budget | None = None,
        version: int | None = None,
    ) -> ProjectEntry:
        """Change it; what is None stays. With `version` only if it is still that."""
        body = {"title": title, "brief": brief, "notes": notes, "budget": budget, "version": version}
        return await self._wire.ask(ProjectEntry, "PATCH", _path(project_id), body=body)

    async def delete(self, project_id: str, *, hard: bool = False) -> ProjectEntry:
        """Archive it; with `hard` delete it for good."""
        params = {"hard": str(hard).lower()}
        return await self._wire.ask(ProjectEntry, "DELETE", _path(project_id), params=params)

    async def switch(self, project_id: str, task_id: str) -> ProjectEntry:
        """Let a task work for it."""
        return await self._wire.ask(ProjectEntry, "POST", _path(project_id, "switch"), body={"task_id": task_id})

    async def exit(self, project_id: str, task_id: str) -> ProjectEntry:
        """Let a task work for it no longer."""
        return await self._wire.ask(ProjectEntry, "POST", _path(project_id, "exit"), body={"task_id": task_id})

    async def pause(self, project_id: str, *, now: bool = False) -> ProjectEntry:
        """Let nothing more begin; with `now` stop what works on it too."""
        return await self._wire.ask(ProjectEntry, "POST", _path(project_id, "pause"), body={"now": now})

    async def resume(self, project_id: str, *, answer: str | None = None) -> ProjectEntry:
        """Let it go on, with the answer to what it asks."""
        return await self._wire.ask(ProjectEntry, "POST", _path(project_id, "resume"), body={"answer": answer})

    async def advance(self, project_id: str, *, until: Until = "step") -> AdvanceEntry:
        """Have the next item worked on; with `blocked` on by itself until something keeps it."""
        return await self._wire.ask(AdvanceEntry, "POST", _path(project_id, "advance"), body={"until": until})

    async def advances(self, project_id: str, *, limit: int = 50, before: int | None = None) -> Advances:
        params = {"limit": limit, "before": before}
        return await self._wire.ask(Advances, "GET", _path(project_id, "advances"), params=params)

    async def items(self, project_id: str) -> tuple[ProjectItem, ...]:
        """Its items as a tree, parts below what they are parts of."""
        return (await self._wire.ask(ProjectItemTree, "GET", _path(project_id, "items"))).items

    async def add(
        self, project_id: str, drafts: Sequence[WorkDraft], *, parent_id: str | None = None
    ) -> tuple[WorkEntry, ...]:
        """Add items, all or none; with a `parent_id` as parts of that one."""
        body = {"items": to_builtins(drafts), "parent_id": parent_id}
        return (await self._wire.ask(WorkEntries, "POST", _path(project_id, "items"), body=body)).items

    async def artifacts(self, project_id: str, *, limit: int = 50, before: int | None = None) -> ProjectArtifacts:
        """What came of it, newest first."""
        params = {"limit": limit, "before": before}
        return await self._wire.ask(ProjectArtifacts, "GET", _path(project_id, "artifacts"), params=params)

    async def keep(
        self, project_id: str, kind: ArtifactKind, content: str, *, name: str = "", item_id: str | None = None
    ) -> ProjectArtifactEntry:
        """Keep something that came of it."""
        body = {"kind": kind, "content": content, "name": name, "item_id": item_id}
        return await self._wire.ask(ProjectArtifactEntry, "POST", _path(project_id, "artifacts"), body=body)

    async def events(
        self, project_id: str, *, kind: str | None = None, limit: int = 50, before: int | None = None
    ) -> ProjectEvents:
        """What has happened, newest first."""
        params = {"kind": kind, "limit": limit, "before": before}
        return await self._wire.ask(ProjectEvents, "GET", _path(project_id, "events"), params=params)

    async def log(self, project_id: str, message: str, *, kind: str = "note") -> ProjectEventEntry:
        """Note something."""
        body = {"message": message, "kind": kind}
        found = await self._wire.ask(ProjectEvents, "POST", _path(project_id, "events"), body=body)
        return found.events[0]


def _path(project_id: str, *more: str) -> str:
    return "/".join(("/projects", quote(project_id, safe=""), *more))
