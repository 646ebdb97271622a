"""Projects: work over many turns, with its items, what came of it, and how far it goes by itself."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, TypedDict, TypeVar

from fastapi import APIRouter, Depends, Path, Query, Response

from aster.brain.records import ThreadKey
from aster.contracts.errors import ErrorCode
from aster.contracts.projects import Project, ProjectStatus
from aster.engine_core.engine import Engine
from aster.engine_core.projects import standing
from aster.engine_core.tasks import existing
from aster.server.bodies import LARGEST, warnings
from aster.server.errors import refusals
from aster.server.project_answers import (
    AdvanceAnswer,
    AdvanceBody,
    AdvancePage,
    ProjectAnswer,
    ProjectArtifactAnswer,
    ProjectArtifactBody,
    ProjectArtifactPage,
    ProjectBody,
    ProjectEditBody,
    ProjectEventAnswer,
    ProjectEventBody,
    ProjectEventPage,
    ProjectItemAnswer,
    ProjectItemsBody,
    ProjectPage,
    ProjectPauseBody,
    ProjectResumeBody,
    ProjectSummary,
    ProjectTaskBody,
    ProjectTree,
)
from aster.server.routes.memory import BODY
from aster.server.visit import KEYED, Serving, Visit, Visiting
from aster.server.work_answers import ItemsAnswer, WorkItemAnswer
from aster.work.projects.desk import ProjectDesk
from aster.work.projects.rules import KIND_CHARS

router = APIRouter(prefix="/projects", tags=["projects"], dependencies=KEYED)

Id = Annotated[str, Path(max_length=128, description="The project's id.")]
Limit = Annotated[int, Query(ge=1, le=200, description="At most so many.")]


class Wanted(TypedDict):
    limit: int
    before: int | None


Before = Annotated[int | None, Query(ge=0, le=LARGEST, description="The `next` of the page before.")]
FOUND = refusals(ErrorCode.INVALID_REQUEST, ErrorCode.NOT_FOUND)
CHANGED = refusals(*BODY, ErrorCode.NOT_FOUND, ErrorCode.WORK_CONFLICT)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class One:
    """The project that a request is about."""

    engine: Engine
    visit: Visit
    project_id: str

    @property
    def desk(self) -> ProjectDesk:
        return self.engine.services.projects.person(self.visit.user_id)

    async def found(self) -> Project:
        return await self.desk.get(self.project_id)

    async def shown(self, project: Project) -> ProjectAnswer:
        return await _shown(self.engine, project)


@dataclass(frozen=True, slots=True)
class Pages:
    """Which page is asked for."""

    limit: int
    before: int | None

    @property
    def wanted(self) -> Wanted:
        """One more than is shown, which tells whether there is a next page."""
        return {"limit": self.limit + 1, "before": self.before}

    def cut(self, found: Sequence[T], place: Callable[[T], int]) -> tuple[Sequence[T], int | None]:
        """What is shown, and where the next page begins."""
        shown = found[: self.limit]
        return shown, place(shown[-1]) if len(found) > self.limit else None


def _one(project_id: Id, engine: Serving, visit: Visiting) -> One:
    return One(engine, visit, project_id)


def _pages(limit: Limit = 50, before: Before = None) -> Pages:
    return Pages(limit, before)


Asked = Annotated[One, Depends(_one)]
Paged = Annotated[Pages, Depends(_pages)]


@router.post(
    "",
    summary="Make a project",
    response_model=ProjectAnswer,
    status_code=201,
    responses={200: {"description": "There is one of this title.", "model": ProjectAnswer}, **refusals(*BODY)},
)
async def create_project(body: ProjectBody, engine: Serving, visit: Visiting, response: Response) -> ProjectAnswer:
    """One of the same title, in whatever case, is not made again: it is answered with 200 as it is, and taken up again
    if it was archived."""
    project, new = await engine.services.projects.person(visit.user_id).create(body.draft())
    response.status_code = 201 if new else 200
    response.headers.update(warnings(body))
    return await _shown(engine, project)


@router.get("", summary="List projects", response_model=ProjectPage, responses=refusals(ErrorCode.INVALID_REQUEST))
async def list_projects(
    engine: Serving,
    visit: Visiting,
    page: Paged,
    status: Annotated[ProjectStatus | None, Query(description="Only those.")] = None,
) -> ProjectPage:
    """Archived ones only when they are asked for."""
    found = await engine.services.projects.person(visit.user_id).projects(**page.wanted, status=status)
    counts = {board.board: board for board in await engine.services.work.boards(visit.user_id)} if found else {}
    shown, following = page.cut(found, lambda one: one.number)
    return ProjectPage(projects=[ProjectSummary.of(one, counts.get(one.board)) for one in shown], next=following)


@router.get("/{project_id}", summary="Show a project", response_model=ProjectAnswer, responses=FOUND)
async def show_project(asked: Asked) -> ProjectAnswer:
    """How it stands, what works on it, and what a person has to answer."""
    return await asked.shown(await asked.found())


@router.patch("/{project_id}", summary="Change a project", response_model=ProjectAnswer, responses=CHANGED)
async def edit_project(body: ProjectEditBody, asked: Asked, response: Response) -> ProjectAnswer:
    """What it is called and about, its notes, and how far it may go."""
    response.headers.update(warnings(body))
    return await asked.shown(await asked.desk.edit(asked.project_id, body.edit(), body.version))


@router.delete(
    "/{project_id}", summary="Archive or delete a project", response_model=ProjectAnswer, responses=CHANGED
)
async def delete_project(
    asked: Asked,
    hard: Annotated[bool, Query(description="Delete it for good, with its items, artifacts and events.")] = False,
) -> ProjectAnswer:
    """It is archived, and can be resumed; with `hard` it is gone, and what is answered is how it stood. Tasks stay."""
    if not hard:
        return await asked.shown(await asked.desk.set(asked.project_id, "ARCHIVED"))
    before = await asked.shown(await asked.found())
    await asked.desk.erase(asked.project_id)
    return before


@router.post(
    "/{project_id}/switch",
    summary="Let a task work for a project",
    response_model=ProjectAnswer,
    responses=refusals(*BODY, ErrorCode.NOT_FOUND, ErrorCode.TASK_NOT_FOUND, ErrorCode.WORK_CONFLICT),
)
async def switch_project(body: ProjectTaskBody, asked: Asked, response: Response) -> ProjectAnswer:
    """From its next turn on, its model is told of the project. A task works for one project at a time."""
    response.headers.update(warnings(body))
    await existing(asked.engine.brain, ThreadKey(asked.visit.user_id, body.task_id))
    return await asked.shown(await asked.desk.switch(asked.project_id, body.task_id))


@router.post(
    "/{project_id}/exit",
    summary="Let a task work for no project",
    response_model=ProjectAnswer,
    responses=refusals(*BODY, ErrorCode.NOT_FOUND),
)
async def exit_project(body: ProjectTaskBody, asked: Asked, response: Response) -> ProjectAnswer:
    """It stays among those that have worked for the project."""
    response.headers.update(warnings(body))
    project = await asked.found()
    active = await asked.engine.brain.projects.active(ThreadKey(asked.visit.user_id, body.task_id))
    if active is not None and active.project_id == project.project_id:
        await asked.desk.exit(body.task_id)
    return await asked.shown(project)


@router.post("/{project_id}/pause", summary="Pause a project", response_model=ProjectAnswer, responses=CHANGED)
async def pause_project(body: ProjectPauseBody, asked: Asked, response: Response) -> ProjectAnswer:
    """Nothing more begins; the turn that works on it goes on to its end, unless you want it stopped `now`."""
    response.headers.update(warnings(body))
    engine, project = asked.engine, await asked.found()
    return await asked.shown(await standing.pause(engine.services, engine.coordinator, project, now=body.now))


@router.post(
    "/{project_id}/resume",
    summary="Let a project go on",
    response_model=ProjectAnswer,
    responses=refusals(*BODY, ErrorCode.NOT_FOUND, ErrorCode.WORK_CONFLICT, ErrorCode.HITL_NOT_PENDING),
)
async def resume_project(body: ProjectResumeBody, asked: Asked, response: Response) -> ProjectAnswer:
    """One that was paused, archived or left to you is active again; one that asks goes on with your `answer`."""
    response.headers.update(warnings(body))
    engine, project = asked.engine, await asked.found()
    by = asked.visit.caller.key or asked.visit.user_id
    return await asked.shown(await standing.resume(engine.services, engine.coordinator, project, body.answer, by))


@router.post(
    "/{project_id}/advance",
    summary="Work on the next item",
    response_model=AdvanceAnswer,
    status_code=202,
    responses=CHANGED,
)
async def advance_project(body: AdvanceBody, asked: Asked, response: Response) -> AdvanceAnswer:
    """The next item that is ready is worked on in a turn of a task of its own. `details.reason` of a refusal: `busy`,
    `nothing_ready`, `budget`, `paused`, `needs_user`, `done` or `archived`."""
    response.headers.update(warnings(body))
    return AdvanceAnswer.of(await asked.desk.advance(asked.project_id, body.until))


@router.get("/{project_id}/advances", summary="What was worked on", response_model=AdvancePage, responses=FOUND)
async def list_advances(asked: Asked, page: Paged) -> AdvancePage:
    """Turn by turn, with what each used."""
    found = await asked.desk.advances(asked.project_id, **page.wanted)
    shown, following = page.cut(found, lambda one: one.number)
    return AdvancePage(advances=[AdvanceAnswer.of(one) for one in shown], next=following)


@router.get("/{project_id}/items", summary="The items of a project", response_model=ProjectTree, responses=FOUND)
async def project_items(asked: Asked) -> ProjectTree:
    """As a tree. They are items of the work graph like any other: change them with `/work/items/{item_id}`."""
    nodes = await asked.desk.nodes(asked.project_id)
    return ProjectTree(items=[ProjectItemAnswer.at(node) for node in nodes])


@router.post(
    "/{project_id}/items",
    summary="Add items to a project",
    response_model=ItemsAnswer,
    status_code=201,
    responses=CHANGED,
)
async def add_project_items(body: ProjectItemsBody, asked: Asked, response: Response) -> ItemsAnswer:
    """Several at once, which may wait for each other by `name`; with a `parent_id` as parts of that item."""
    response.headers.update(warnings(body))
    drafts = [item.draft() for item in body.items]
    made = await asked.desk.add(asked.project_id, drafts, body.parent_id or "")
    return ItemsAnswer(items=[WorkItemAnswer.of(item) for item in made])


@router.get(
    "/{project_id}/artifacts", summary="What came of a project", response_model=ProjectArtifactPage, responses=FOUND
)
async def project_artifacts(asked: Asked, page: Paged) -> ProjectArtifactPage:
    """Results of its items among them."""
    found = await asked.desk.artifacts(asked.project_id, **page.wanted)
    shown, following = page.cut(found, lambda one: one.number)
    return ProjectArtifactPage(artifacts=[ProjectArtifactAnswer.of(one) for one in shown], next=following)


@router.post(
    "/{project_id}/artifacts",
    summary="Keep something of a project",
    response_model=ProjectArtifactAnswer,
    status_code=201,
    responses=CHANGED,
)
async def keep_project_artifact(
    body: ProjectArtifactBody, asked: Asked, response: Response
) -> ProjectArtifactAnswer:
    """A path, an address, words, or what a tool said."""
    response.headers.update(warnings(body))
    kept = await asked.desk.keep(asked.project_id, body.kind, body.content, body.name, body.item_id or "")
    return ProjectArtifactAnswer.of(kept)


@router.get(
    "/{project_id}/events",
    summary="What has happened in a project",
    response_model=ProjectEventPage,
    responses=FOUND,
)
async def project_events(
    asked: Asked,
    page: Paged,
    kind: Annotated[str | None, Query(max_length=KIND_CHARS, description="Only those.")] = None,
) -> ProjectEventPage:
    """Who did what, when."""
    found = await asked.desk.records(asked.project_id, **page.wanted, kind=kind)
    shown, following = page.cut(found, lambda one: one.number)
    return ProjectEventPage(events=[ProjectEventAnswer.of(one) for one in shown], next=following)


@router.post(
    "/{project_id}/events",
    summary="Note something in a project",
    response_model=ProjectEventPage,
    status_code=201,
    responses=CHANGED,
)
async def log_project_event(body: ProjectEventBody, asked: Asked, response: Response) -> ProjectEventPage:
    """It is answered with the newest."""
    response.headers.update(warnings(body))
    await asked.desk.log(asked.project_id, body.message, body.kind)
    newest = await asked.desk.records(asked.project_id, limit=1)
    return ProjectEventPage(events=[ProjectEventAnswer.of(one) for one in newest], next=None)


async def _shown(engine: Engine, project: Project) -> ProjectAnswer:
    user_id, services = project.user_id, engine.services
    boards = {board.board: board for board in await services.work.boards(user_id)}
    tasks = await engine.brain.projects.tasks(user_id, project.project_id)
    asked = await standing.question(services, project)
    return ProjectAnswer.of(project, boards.get(project.board), tasks, asked)
