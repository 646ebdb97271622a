"""A user's projects as somebody has them: a person over HTTP, or a model in its turn.

Who that is, and how a change gets onto a thread, is settled when the desk is made; what is asked of it is held against
the rules and becomes one order, which is made whole or not at all.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from aster.brain.projects import (
    AddArtifact,
    AddItems,
    BeginAdvance,
    CreateProject,
    EditProject,
    EraseProject,
    ExitProject,
    LogRecord,
    ProjectDraft,
    ProjectEdit,
    ProjectOrder,
    ProjectOutcome,
    ProjectStore,
    SetProject,
    SwitchProject,
)
from aster.brain.work import Actor
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.projects import (
    Advance,
    ArtifactKind,
    Project,
    ProjectArtifact,
    ProjectBudget,
    ProjectNode,
    ProjectRecord,
    ProjectStatus,
    Until,
)
from aster.contracts.work import WorkDraft, WorkItem
from aster.infra.ids import derived_id, new_id
from aster.infra.settings import Settings
from aster.work.graph import rules as work_rules
from aster.work.projects import rules

Do: TypeAlias = Callable[[ProjectOrder, str], Awaitable[ProjectOutcome]]
"""Makes a change; with the id of the task whose thread is to tell of it, if that is not the maker's own."""


@dataclass(frozen=True, slots=True)
class ProjectDesk:
    """`clean` takes secrets out; `begun` is told that an advance waits for its turn."""

    store: ProjectStore
    settings: Settings
    actor: Actor
    do: Do
    clean: Callable[[str], str]
    begun: Callable[[], None]

    async def create(self, draft: ProjectDraft) -> tuple[Project, bool]:
        """Make a project, or find the one of that title; says whether it was made."""
        usual = self._usual(draft.budget)
        kept = rules.draft(
            ProjectDraft(title=draft.title, brief=draft.brief, notes=draft.notes, budget=usual), self.clean
        )
        most = self.settings.projects_per_user
        order = CreateProject(actor=self.actor, project_id=self._id("project"), draft=kept, most=most)
        outcome = await self.do(order, "")
        return _whole(outcome), outcome.new

    async def edit(self, project_id: str, edit: ProjectEdit, version: int | None = None) -> Project:
        kept = rules.edit(edit, self.clean)
        order = EditProject(actor=self.actor, project_id=project_id, edit=kept, version=version)
        return _whole(await self.do(order, ""))

    async def set(self, project_id: str, status: ProjectStatus, reason: str = "") -> Project:
        order = SetProject(actor=self.actor, project_id=project_id, status=status, reason=reason)
        return _whole(await self.do(order, ""))

    async def erase(self, project_id: str) -> None:
        """Delete it for good, with its items, artifacts and record."""
        await self.do(EraseProject(actor=self.actor, project_id=project_id), "")

    async def switch(self, project_id: str, task_id: str) -> Project:
        order = SwitchProject(actor=self.actor, project_id=project_id, task_id=task_id)
        return _whole(await self.do(order, task_id))

    async def exit(self, task_id: str) -> Project | None:
        """Let a task work for no project; the one it worked for."""
        return (await self.do(ExitProject(actor=self.actor, task_id=task_id), task_id)).project

    async def add(self, project_id: str, drafts: Sequence[WorkDraft], parent_id: str = "") -> tuple[WorkItem, ...]:
        """Put items on its board, all or none; with a `parent_id` as parts of that item, which waits for them."""
        made = work_rules.drafts(drafts, self.clean)
        order = AddItems(
            actor=self.actor,
            project_id=project_id,
            drafts=made,
            most=self.settings.work_items_max,
            parent_id=parent_id,
        )
        return (await self.do(order, "")).items

    async def keep(
        self, project_id: str, kind: ArtifactKind, content: str, name: str = "", item_id: str = ""
    ) -> ProjectArtifact:
        """Keep something that came of it."""
        order = AddArtifact(
            actor=self.actor,
            project_id=project_id,
            artifact_id=self._id("artifact"),
            kind=kind,
            name=rules.words("name", name, rules.TITLE_CHARS, self.clean),
            content=rules.content(content, self.clean),
            item_id=item_id,
        )
        kept = (await self.do(order, "")).artifact
        assert kept is not None
        return kept

    async def log(self, project_id: str, message: str, kind: str = "note") -> None:
        order = LogRecord(
            actor=self.actor,
            project_id=project_id,
            record_id=self._id("record"),
            kind=rules.kind(kind),
            message=rules.message(message, self.clean),
        )
        await self.do(order, "")

    async def advance(self, project_id: str, until: Until = "step") -> Advance:
        """Take the next item that is ready for a turn, which begins right after."""
        order = BeginAdvance(
            actor=self.actor,
            project_id=project_id,
            advance_id=self._id("advance"),
            going=until == "blocked",
        )
        made = (await self.do(order, "")).advance
        assert made is not None
        self.begun()
        return made

    async def get(self, project_id: str) -> Project:
        found = await self.store.project(self.actor.user_id, project_id)
        if found is None:
            raise EngineError(ErrorCode.NOT_FOUND, f"There is no project {project_id[:64]!r}.")
        return found

    async def titled(self, title: str) -> Project | None:
        return await self.store.titled(self.actor.user_id, title)

    async def projects(
        self, *, limit: int, before: int | None = None, status: ProjectStatus | None = None
    ) -> list[Project]:
        return await self.store.projects(self.actor.user_id, limit=limit, before=before, status=status)

    async def nodes(self, project_id: str) -> list[ProjectNode]:
        await self.get(project_id)
        return await self.store.nodes(self.actor.user_id, project_id)

    async def artifacts(self, project_id: str, *, limit: int, before: int | None = None) -> list[ProjectArtifact]:
        await self.get(project_id)
        return await self.store.artifacts(self.actor.user_id, project_id, limit=limit, before=before)

    async def records(
        self, project_id: str, *, limit: int, before: int | None = None, kind: str | None = None
    ) -> list[ProjectRecord]:
        await self.get(project_id)
        return await self.store.records(self.actor.user_id, project_id, limit=limit, before=before, kind=kind)

    async def advances(self, project_id: str, *, limit: int, before: int | None = None) -> list[Advance]:
        await self.get(project_id)
        return await self.store.advances(self.actor.user_id, project_id, limit=limit, before=before)

    def _id(self, prefix: str) -> str:
        """The one id of a tool's call, however often it is made; else a fresh one."""
        return derived_id(prefix, self.actor.call_key) if self.actor.call_key else new_id(prefix)

    def _usual(self, given: ProjectBudget) -> ProjectBudget:
        """With the operator's limits where none are said."""
        settings = self.settings
        return ProjectBudget(
            steps=settings.project_steps if given.steps is None else given.steps,
            seconds=settings.project_seconds if given.seconds is None else given.seconds,
            tool_calls=settings.project_tool_calls if given.tool_calls is None else given.tool_calls,
            usd=given.usd,
        )


def _whole(outcome: ProjectOutcome) -> Project:
    assert outcome.project is not None
    return outcome.project
