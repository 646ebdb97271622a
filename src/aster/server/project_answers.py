"""Projects as a client sees them: what may be asked for, how one stands, and what came of it."""

from typing import Annotated

from pydantic import BaseModel, Field, StrictBool, StrictInt

from aster.brain.projects import ProjectDraft, ProjectEdit
from aster.brain.records import HitlRecord
from aster.contracts.model import decode
from aster.contracts.projects import (
    Advance,
    AdvanceStatus,
    ArtifactKind,
    Project,
    ProjectArtifact,
    ProjectBudget,
    ProjectNode,
    ProjectRecord,
    ProjectStatus,
    Until,
)
from aster.contracts.work import WorkBoard
from aster.infra.clock import iso_ms
from aster.server.bodies import OtherId, TaskId
from aster.server.media import Part, Text
from aster.server.work_answers import ItemPart, WorkItemAnswer
from aster.work.graph.rules import MOST_AT_ONCE
from aster.work.projects.rules import BRIEF_CHARS, CONTENT_CHARS, KIND_CHARS, MESSAGE_CHARS, TITLE_CHARS

Title = Annotated[Text, Field(min_length=1, max_length=TITLE_CHARS)]
Words = Annotated[Text, Field(max_length=BRIEF_CHARS)]


class BudgetPart(Part):
    """How far it may go by itself; what is left out is as the operator has set."""

    steps: StrictInt | None = Field(None, ge=0, description="Items that are begun (PROJECT_STEPS).")
    seconds: float | None = Field(None, ge=0, description="Seconds that its turns run (PROJECT_SECONDS).")
    tool_calls: StrictInt | None = Field(None, ge=0, description="Calls of tools (PROJECT_TOOL_CALLS).")
    usd: float | None = Field(None, ge=0, description="Money; left out, only the budgets of the user hold.")

    def budget(self) -> ProjectBudget:
        return ProjectBudget(steps=self.steps, seconds=self.seconds, tool_calls=self.tool_calls, usd=self.usd)


class ProjectBody(Part):
    title: Title = Field(
        description="What it is called; one of the same title, in whatever case, is the same project."
    )
    brief: Words = Field("", description="What it is about, and what it is to come to.")
    notes: Words = Field("", description="What whoever works on it has to know.")
    budget: BudgetPart | None = None

    def draft(self) -> ProjectDraft:
        budget = ProjectBudget() if self.budget is None else self.budget.budget()
        return ProjectDraft(title=self.title, brief=self.brief, notes=self.notes, budget=budget)


class ProjectEditBody(Part):
    """What is to be another; what is left out stays."""

    title: Title | None = None
    brief: Words | None = None
    notes: Words | None = None
    budget: BudgetPart | None = Field(None, description="The whole budget: what is left out of it has no limit.")
    version: StrictInt | None = Field(None, ge=1, description="Change it only if it is still at this version.")

    def edit(self) -> ProjectEdit:
        budget = None if self.budget is None else self.budget.budget()
        return ProjectEdit(title=self.title, brief=self.brief, notes=self.notes, budget=budget)


class ProjectTaskBody(Part):
    task_id: TaskId = Field(description="The task that is to work for it.")


class ProjectPauseBody(Part):
    now: StrictBool = Field(
        False, description="True: the turn that works on it is stopped, and its item given back."
    )


class ProjectResumeBody(Part):
    answer: Text | None = Field(
        None, min_length=1, max_length=MESSAGE_CHARS, description="To the question that it waits for."
    )


class AdvanceBody(Part):
    until: Until = Field("step", description="One item; or `blocked`: on by itself until something keeps it.")


class ProjectItemsBody(Part):
    items: list[ItemPart] = Field(
        min_length=1, max_length=MOST_AT_ONCE, description="All of them are made, or none."
    )
    parent_id: OtherId | None = Field(
        None, description="The item that they are parts of: it waits for them, and comes after them."
    )


class ProjectArtifactBody(Part):
    kind: ArtifactKind
    content: Text = Field(min_length=1, max_length=CONTENT_CHARS, description="A path, an address, or words.")
    name: Text = Field("", max_length=TITLE_CHARS)
    item_id: OtherId | None = Field(None, description="The item that it came of.")


class ProjectEventBody(Part):
    message: Text = Field(min_length=1, max_length=MESSAGE_CHARS)
    kind: Text = Field("note", min_length=1, max_length=KIND_CHARS)


class BudgetAnswer(BaseModel):
    steps: int | None
    seconds: float | None
    tool_calls: int | None
    usd: float | None

    @classmethod
    def of(cls, found: ProjectBudget) -> "BudgetAnswer":
        return cls(steps=found.steps, seconds=found.seconds, tool_calls=found.tool_calls, usd=found.usd)


class ItemCounts(BaseModel):
    pending: int = 0
    in_progress: int = 0
    completed: int = 0
    ready: int = 0


class AdvanceAnswer(BaseModel):
    """An item that is, or was, worked on in a turn."""

    advance_id: str
    project_id: str
    item_id: str
    task_id: str = Field(description="The task that its turn is in.")
    turn_id: str | None = Field(description="Null until it has begun.")
    status: AdvanceStatus
    reason: str = Field(description="Why nothing came of it.")
    tool_calls: int
    seconds: float
    usd: float
    created_at: str
    started_at: str | None
    ended_at: str | None

    @classmethod
    def of(cls, found: Advance) -> "AdvanceAnswer":
        return cls(
            advance_id=found.advance_id,
            project_id=found.project_id,
            item_id=found.item_id,
            task_id=found.task_id,
            turn_id=found.turn_id or None,
            status=found.status,
            reason=found.reason,
            tool_calls=found.tool_calls,
            seconds=found.ms / 1000,
            usd=found.usd,
            created_at=iso_ms(found.created_at),
            started_at=_iso(found.started_at),
            ended_at=_iso(found.ended_at),
        )


class ProjectQuestion(BaseModel):
    """What a person is asked before it goes on: `POST /hitl/respond`, or `resume` with an `answer`."""

    request_id: str
    question: str
    options: list[str]
    reason: str

    @classmethod
    def of(cls, found: HitlRecord) -> "ProjectQuestion":
        options = decode(found.options, list[str]) if found.options else []
        return cls(
            request_id=found.request_id, question=found.question, options=options, reason=found.reason or found.kind
        )


class ProjectAnswer(BaseModel):
    """A project as it stands."""

    project_id: str
    title: str
    brief: str
    notes: str
    status: ProjectStatus
    reason: str = Field(description="Why it does not go on; empty when nothing keeps it.")
    board: str = Field(description="Its board of the work graph: `GET /work/items?board=…`.")
    going: bool = Field(description="It goes on with the next item by itself.")
    budget: BudgetAnswer = Field(description="Null is no limit.")
    used: BudgetAnswer
    items: ItemCounts
    tasks: list[str] = Field(description="The tasks that have worked for it, the newest first.")
    advance: AdvanceAnswer | None = Field(description="What is being worked on.")
    question: ProjectQuestion | None = Field(description="What a person has to answer before it goes on.")
    version: int
    created_at: str
    updated_at: str

    @classmethod
    def of(
        cls, found: Project, counts: WorkBoard | None, tasks: list[str], question: HitlRecord | None
    ) -> "ProjectAnswer":
        board = counts or WorkBoard(board=found.board)
        return cls(
            project_id=found.project_id,
            title=found.title,
            brief=found.brief,
            notes=found.notes,
            status=found.status,
            reason=found.reason,
            board=found.board,
            going=found.going,
            budget=BudgetAnswer.of(found.budget),
            used=BudgetAnswer.of(found.used),
            items=ItemCounts(
                pending=board.pending, in_progress=board.in_progress, completed=board.completed, ready=board.ready
            ),
            tasks=tasks,
            advance=None if found.advance is None else AdvanceAnswer.of(found.advance),
            question=None if question is None else ProjectQuestion.of(question),
            version=found.version,
            created_at=iso_ms(found.created_at),
            updated_at=iso_ms(found.updated_at),
        )


class ProjectSummary(BaseModel):
    """A project in a list."""

    project_id: str
    title: str
    status: ProjectStatus
    reason: str
    going: bool
    items: ItemCounts
    created_at: str
    updated_at: str

    @classmethod
    def of(cls, found: Project, counts: WorkBoard | None) -> "ProjectSummary":
        board = counts or WorkBoard(board=found.board)
        return cls(
            project_id=found.project_id,
            title=found.title,
            status=found.status,
            reason=found.reason,
            going=found.going,
            items=ItemCounts(
                pending=board.pending, in_progress=board.in_progress, completed=board.completed, ready=board.ready
            ),
            created_at=iso_ms(found.created_at),
            updated_at=iso_ms(found.updated_at),
        )


class ProjectPage(BaseModel):
    projects: list[ProjectSummary] = Field(description="Newest first.")
    next: int | None = Field(description="Give it as `before` to go on; null at the end.")


class ProjectItemAnswer(WorkItemAnswer):
    parent_id: str | None = Field(description="The item that it is a part of.")
    depth: int

    @classmethod
    def at(cls, node: ProjectNode) -> "ProjectItemAnswer":
        item = WorkItemAnswer.of(node.item).model_dump()
        return cls.model_validate({**item, "parent_id": node.parent_id or None, "depth": node.depth})


class ProjectTree(BaseModel):
    items: list[ProjectItemAnswer] = Field(description="Parts stand below what they are parts of.")


class AdvancePage(BaseModel):
    advances: list[AdvanceAnswer] = Field(description="Newest first.")
    next: int | None = Field(description="Give it as `before` to go on; null at the end.")


class ProjectArtifactAnswer(BaseModel):
    artifact_id: str
    project_id: str
    kind: ArtifactKind
    name: str
    content: str
    item_id: str | None
    task_id: str | None
    turn_id: str | None
    created_at: str

    @classmethod
    def of(cls, found: ProjectArtifact) -> "ProjectArtifactAnswer":
        return cls(
            artifact_id=found.artifact_id,
            project_id=found.project_id,
            kind=found.kind,
            name=found.name,
            content=found.content,
            item_id=found.item_id or None,
            task_id=found.task_id or None,
            turn_id=found.turn_id or None,
            created_at=iso_ms(found.created_at),
        )


class ProjectArtifactPage(BaseModel):
    artifacts: list[ProjectArtifactAnswer] = Field(description="Newest first.")
    next: int | None = Field(description="Give it as `before` to go on; null at the end.")


class ProjectEventAnswer(BaseModel):
    number: int
    kind: str
    message: str
    by: str = Field(description="A user, a task whose agent did it, the project itself, or `engine`.")
    item_id: str | None
    task_id: str | None
    turn_id: str | None
    at: str

    @classmethod
    def of(cls, found: ProjectRecord) -> "ProjectEventAnswer":
        return cls(
            number=found.number,
            kind=found.kind,
            message=found.message,
            by=found.by,
            item_id=found.item_id or None,
            task_id=found.task_id or None,
            turn_id=found.turn_id or None,
            at=iso_ms(found.at),
        )


class ProjectEventPage(BaseModel):
    events: list[ProjectEventAnswer] = Field(description="Newest first.")
    next: int | None = Field(description="Give it as `before` to go on; null at the end.")


def _iso(ms: int | None) -> str | None:
    return None if ms is None else iso_ms(ms)
