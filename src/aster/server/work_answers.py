"""The work graph as a client sees it: what may be asked for, items with what they wait for, and their history."""

from typing import Annotated, Any

from pydantic import BaseModel, Field

from aster.contracts.work import (
    MAIN_BOARD,
    WorkAction,
    WorkBoard,
    WorkChange,
    WorkDraft,
    WorkEdge,
    WorkItem,
    WorkStatus,
)
from aster.infra.clock import iso_ms
from aster.server.bodies import OtherId
from aster.server.media import Part, Text
from aster.work.graph.rules import MOST_AT_ONCE, OWNER_CHARS, PRIORITIES, REASON_CHARS, SUBJECT_CHARS, TEXT_CHARS

Priority = Annotated[int, Field(ge=PRIORITIES[0], le=PRIORITIES[1])]
Ids = Annotated[list[OtherId], Field(max_length=100)]
Owner = Annotated[Text, Field(min_length=1, max_length=OWNER_CHARS)]
Reason = Annotated[Text, Field(max_length=REASON_CHARS)]


class ItemPart(Part):
    """An item that is to be made."""

    subject: Text = Field(min_length=1, max_length=SUBJECT_CHARS, description="What is to be done, in one line.")
    description: Text = Field("", max_length=TEXT_CHARS, description="All that whoever does it has to know.")
    name: Text = Field("", max_length=64, description="What the others of this request know it by.")
    blocked_by: Ids = Field(
        default_factory=list[str], description="What it waits for: names of this request, or ids of items."
    )
    role: Text | None = Field(None, max_length=64, description="Who may take it by itself; left out, anybody.")
    priority: Priority = Field(0, description="The higher, the sooner it is taken.")

    def draft(self) -> WorkDraft:
        return WorkDraft(
            subject=self.subject,
            description=self.description,
            name=self.name,
            blocked_by=tuple(self.blocked_by),
            role=self.role,
            priority=self.priority,
        )


class CreateBody(Part):
    items: list[ItemPart] = Field(
        min_length=1, max_length=MOST_AT_ONCE, description="All of them are made, or none."
    )
    board: OtherId = Field(MAIN_BOARD, description="The board they go on; one that is new is made.")


class EdgePart(Part):
    item_id: OtherId
    blocked_by: OtherId

    def edge(self) -> WorkEdge:
        return WorkEdge(item_id=self.item_id, needs=self.blocked_by)


class EdgesBody(Part):
    """A change of what items wait for, made whole or not at all."""

    add: list[EdgePart] = Field(default_factory=list[EdgePart], max_length=MOST_AT_ONCE)
    remove: list[EdgePart] = Field(default_factory=list[EdgePart], max_length=MOST_AT_ONCE)


class EditBody(Part):
    """What is to be another; what is left out stays."""

    subject: Text | None = Field(None, min_length=1, max_length=SUBJECT_CHARS)
    description: Text | None = Field(None, max_length=TEXT_CHARS)
    role: Text | None = Field(None, max_length=64, description="An empty text is nobody in particular.")
    priority: Priority | None = None
    add_blocked_by: Ids = Field(default_factory=list[str])
    remove_blocked_by: Ids = Field(default_factory=list[str])
    version: int | None = Field(None, ge=1, description="Change it only if it is still at this version.")


class ClaimBody(Part):
    owner: Owner | None = Field(None, description="Who has it then; left out, you.")


class NextBody(ClaimBody):
    board: OtherId = MAIN_BOARD
    roles: list[OtherId] = Field(
        default_factory=list[str],
        max_length=20,
        description="Items for these roles too; without, only for anybody.",
    )


class ReleaseBody(Part):
    owner: Owner | None = Field(None, description="Who has it; left out, you.")
    override: bool = Field(False, description="Do it although somebody else has it; the history tells.")
    reason: Reason | None = None


class CompleteBody(Part):
    owner: Owner | None = Field(None, description="Who has it; left out, you.")
    override: bool = Field(False, description="Do it although somebody else has it, or nobody; the history tells.")
    result: Text | None = Field(None, max_length=TEXT_CHARS, description="What came of it.")


class ReasonBody(Part):
    reason: Reason | None = None


class WorkItemAnswer(BaseModel):
    """A piece of work."""

    item_id: str
    board: str
    subject: str
    description: str
    status: WorkStatus
    ready: bool = Field(description="Whether it can be claimed: nobody has it, and nothing it waits for is undone.")
    owner: str | None
    role: str | None
    priority: int
    worktree: str | None
    result: str | None
    version: int
    blocked_by: list[str]
    waiting_for: list[str] = Field(description="Those of `blocked_by` that are not completed, or are gone.")
    task_id: str | None = Field(description="The task on whose thread it was made.")
    owner_task_id: str | None = Field(description="The task of its owner, if that is an agent.")
    created_at: str
    updated_at: str
    claimed_at: str | None
    completed_at: str | None

    @classmethod
    def of(cls, item: WorkItem) -> "WorkItemAnswer":
        return cls(
            item_id=item.item_id,
            board=item.board,
            subject=item.subject,
            description=item.description,
            status=item.status,
            ready=item.ready,
            owner=item.owner,
            role=item.role,
            priority=item.priority,
            worktree=item.worktree,
            result=item.result,
            version=item.version,
            blocked_by=list(item.blocked_by),
            waiting_for=list(item.waiting_for),
            task_id=item.task_id or None,
            owner_task_id=item.owner_task_id or None,
            created_at=iso_ms(item.created_at),
            updated_at=iso_ms(item.updated_at),
            claimed_at=None if item.claimed_at is None else iso_ms(item.claimed_at),
            completed_at=None if item.completed_at is None else iso_ms(item.completed_at),
        )


class ItemsAnswer(BaseModel):
    items: list[WorkItemAnswer]


class ItemPage(BaseModel):
    items: list[WorkItemAnswer] = Field(description="The most urgent first, then the oldest.")
    next: str | None = Field(description="Send it as `after` for the next page; null on the last.")


class CompletedAnswer(BaseModel):
    item: WorkItemAnswer
    unblocked: list[WorkItemAnswer] = Field(description="What became ready by it, and nothing else.")


class ClaimedAnswer(BaseModel):
    item: WorkItemAnswer | None = Field(description="What was taken; null when nothing is ready.")


class Change(BaseModel):
    """A change of an item."""

    number: int
    change_id: str
    action: WorkAction
    by: str = Field(description="A user, a task whose agent did it, a name it works under, or `engine`.")
    person: bool
    overrode: bool = Field(description="A person did what was the owner's to do.")
    at: str
    version: int
    task_id: str | None = Field(description="The task whose thread tells of it, and the place there.")
    turn_id: str | None
    seq: int | None
    detail: dict[str, Any]

    @classmethod
    def of(cls, change: WorkChange) -> "Change":
        return cls(
            number=change.number,
            change_id=change.change_id,
            action=change.action,
            by=change.by,
            person=change.person,
            overrode=change.overrode,
            at=iso_ms(change.at),
            version=change.version,
            task_id=change.task_id or None,
            turn_id=change.turn_id or None,
            seq=change.seq or None,
            detail=change.detail,
        )


class HistoryPage(BaseModel):
    changes: list[Change] = Field(description="Newest first.")
    next: int | None = Field(description="Send it as `before` for the next page; null on the last.")


class Board(BaseModel):
    board: str
    pending: int
    in_progress: int
    completed: int
    ready: int

    @classmethod
    def of(cls, board: WorkBoard) -> "Board":
        return cls(
            board=board.board,
            pending=board.pending,
            in_progress=board.in_progress,
            completed=board.completed,
            ready=board.ready,
        )


class BoardList(BaseModel):
    boards: list[Board]
