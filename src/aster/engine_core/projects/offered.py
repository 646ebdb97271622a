"""Projects as a model may have them in a turn: those of the person it works for, with the authority of that turn and no
more. What begins turns by itself is for turns that a person has asked for."""

from collections.abc import Sequence

from aster.brain.projects import ProjectDraft, ProjectEdit
from aster.brain.work import Actor
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.projects import (
    Advance,
    ArtifactKind,
    Project,
    ProjectArtifact,
    ProjectNode,
    ProjectRecord,
    ProjectStatus,
    Until,
)
from aster.contracts.work import WorkDraft, WorkEdit, WorkItem
from aster.engine_core.projects import briefing
from aster.engine_core.services import Services
from aster.engine_core.turn import Turn
from aster.utility_directory.project_room import ProjectRoom

_NOT_BY_ITSELF = (
    "A turn that began by itself, and a sub-agent, only work for a project: a person decides what becomes of it."
)


class Offered:
    def __init__(self, services: Services, turn: Turn, actor: Actor) -> None:
        self._services = services
        self._turn = turn
        self._desk = services.projects.agent(actor, turn.change)
        self._work = services.work.agent(actor, turn.change)

    async def find(self, name: str | None) -> Project:
        if name is None:
            active = await self._services.brain.projects.active(self._turn.key)
            if active is None:
                message = "This task works for no project. Name one, or switch to one first."
                raise EngineError(ErrorCode.INVALID_REQUEST, message)
            return active
        found = await self._desk.titled(name)
        return await self._desk.get(name) if found is None else found

    async def brief(self, project: Project) -> str:
        return await briefing.brief(self._services, project)

    async def create(self, title: str, brief: str, notes: str) -> tuple[Project, bool]:
        self._asked_for()
        return await self._desk.create(ProjectDraft(title=title, brief=brief, notes=notes))

    async def edit(self, project: Project, title: str | None, brief: str | None, notes: str | None) -> Project:
        return await self._desk.edit(project.project_id, ProjectEdit(title=title, brief=brief, notes=notes))

    async def set(self, project: Project, status: ProjectStatus) -> Project:
        self._asked_for()
        return await self._desk.set(project.project_id, status)

    async def projects(self, limit: int) -> Sequence[Project]:
        return await self._desk.projects(limit=limit)

    async def switch(self, project: Project) -> Project:
        self._asked_for()
        return await self._desk.switch(project.project_id, self._turn.key.task_id)

    async def exit(self) -> Project | None:
        self._asked_for()
        return await self._desk.exit(self._turn.key.task_id)

    async def add(self, project: Project, drafts: Sequence[WorkDraft], parent_id: str) -> Sequence[WorkItem]:
        return await self._desk.add(project.project_id, drafts, parent_id)

    async def change(self, item_id: str, edit: WorkEdit, *, delete: bool) -> WorkItem:
        return await self._work.discard(item_id) if delete else await self._work.edit(item_id, edit)

    async def nodes(self, project: Project) -> Sequence[ProjectNode]:
        return await self._desk.nodes(project.project_id)

    async def keep(
        self, project: Project, kind: ArtifactKind, content: str, name: str, item_id: str
    ) -> ProjectArtifact:
        return await self._desk.keep(project.project_id, kind, content, name, item_id)

    async def log(self, project: Project, message: str) -> None:
        await self._desk.log(project.project_id, message)

    async def records(self, project: Project, limit: int) -> Sequence[ProjectRecord]:
        return await self._desk.records(project.project_id, limit=limit)

    async def advance(self, project: Project, until: Until) -> Advance:
        self._asked_for()
        return await self._desk.advance(project.project_id, until)

    def _asked_for(self) -> None:
        request = self._turn.state.request
        if request.woken or request.parent is not None:
            raise EngineError(ErrorCode.PERMISSION_DENIED, _NOT_BY_ITSELF)


def offered(services: Services, turn: Turn, actor: Actor) -> ProjectRoom:
    return Offered(services, turn, actor)
