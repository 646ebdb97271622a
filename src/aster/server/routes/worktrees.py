"""Worktrees: the directories of their own that items of the work graph are done in. Only people remove one."""

from typing import Annotated

from fastapi import APIRouter, Path, Query, Response
from pydantic import BaseModel, Field

from aster.brain.records import ThreadKey
from aster.contracts.errors import ErrorCode
from aster.contracts.worktrees import Worktree, WorktreeStatus
from aster.infra.clock import iso_ms
from aster.server.bodies import OtherId, TaskId, warnings
from aster.server.errors import refusals
from aster.server.media import Part, Text
from aster.server.routes.memory import BODY
from aster.server.visit import KEYED, Serving, Visiting
from aster.work.worktrees.making import Wanted

router = APIRouter(prefix="/worktrees", tags=["work"], dependencies=KEYED)

Id = Annotated[str, Path(max_length=128, description="The worktree's id.")]
ASKED = (ErrorCode.INVALID_REQUEST,)
CHANGED = refusals(*BODY, ErrorCode.NOT_FOUND, ErrorCode.WORKTREE_CONFLICT, ErrorCode.SANDBOX_UNAVAILABLE)


class WorktreeBody(Part):
    name: Text = Field(
        min_length=1, max_length=64, description="Its directory's name; its branch is `wt/` and that."
    )
    item_id: OtherId = Field(
        description="The item that is to be done there: pending, nobody's, and without a worktree."
    )
    repository: Text = Field(".", min_length=1, max_length=4096, description="The repository, in the workspace.")
    base: Text | None = Field(None, max_length=200, description="What it begins at; left out, what is checked out.")
    task_id: TaskId | None = Field(
        None, description="The task in whose workspace the repository lies, where each task has its own."
    )


class RemoveBody(Part):
    discard: bool = Field(False, description="Also when that loses what no commit has.")


class WorktreeAnswer(BaseModel):
    """A worktree."""

    worktree_id: str
    name: str
    branch: str = Field(description="The branch that is checked out there; it outlives the worktree.")
    repository: str
    path: str
    base: str | None = Field(description="The commit it began at.")
    status: WorktreeStatus
    item_id: str
    in_use: bool = Field(description="Whether a turn works there now.")
    problem: str | None = Field(description="Why nothing can be done there, when it was looked at.")
    reason: str | None = Field(description="What became of it, if it failed or was removed.")
    created_by: str
    person: bool = Field(description="Whether a person had it made.")
    created_at: str
    updated_at: str

    @classmethod
    def of(cls, tree: Worktree, problem: str | None = None) -> "WorktreeAnswer":
        return cls(
            worktree_id=tree.worktree_id,
            name=tree.name,
            branch=tree.branch,
            repository=tree.repository,
            path=tree.path,
            base=tree.base,
            status=tree.status,
            item_id=tree.item_id,
            in_use=tree.in_use,
            problem=problem,
            reason=tree.reason,
            created_by=tree.created_by,
            person=tree.person,
            created_at=iso_ms(tree.created_at),
            updated_at=iso_ms(tree.updated_at),
        )


class WorktreePage(BaseModel):
    worktrees: list[WorktreeAnswer] = Field(description="The newest first.")
    next: str | None = Field(description="Send it as `after` for the next page; null on the last.")


@router.post("", status_code=201, summary="Make a worktree", response_model=WorktreeAnswer, responses=CHANGED)
async def make_worktree(body: WorktreeBody, engine: Serving, visit: Visiting, response: Response) -> WorktreeAnswer:
    """Everything is looked at first; the item is bound once git has made it. What goes wrong half-way is told, and left
    where it is."""
    wanted = Wanted(
        name=body.name,
        item_id=body.item_id,
        home=ThreadKey(visit.user_id, body.task_id or ""),
        repository=body.repository,
        base=body.base,
    )
    made = await engine.services.worktrees.make(visit.user_id, wanted)
    response.headers.update(warnings(body))
    return WorktreeAnswer.of(made)


@router.get("", summary="List worktrees", response_model=WorktreePage, responses=refusals(*ASKED))
async def list_worktrees(
    engine: Serving,
    visit: Visiting,
    status: WorktreeStatus | None = None,
    item_id: Annotated[str | None, Query(max_length=128)] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    after: Annotated[str | None, Query(max_length=128, description="`next` of the page before.")] = None,
) -> WorktreePage:
    """As they are on record; show one to have it held against the disk."""
    found = await engine.services.worktrees.trees(
        visit.user_id, limit=limit + 1, status=status, item_id=item_id, after=after
    )
    more = found[limit - 1].worktree_id if len(found) > limit else None
    return WorktreePage(worktrees=[WorktreeAnswer.of(one) for one in found[:limit]], next=more)


@router.get(
    "/{worktree_id}",
    summary="Show a worktree",
    response_model=WorktreeAnswer,
    responses=refusals(*ASKED, ErrorCode.NOT_FOUND),
)
async def show_worktree(worktree_id: Id, engine: Serving, visit: Visiting) -> WorktreeAnswer:
    """As it is on record, and what is wrong with it on the disk."""
    trees = engine.services.worktrees
    found = await trees.get(visit.user_id, worktree_id)
    return WorktreeAnswer.of(found, await trees.looked_at(visit.user_id, found))


@router.post("/{worktree_id}/keep", summary="Keep a worktree", response_model=WorktreeAnswer, responses=CHANGED)
async def keep_worktree(worktree_id: Id, engine: Serving, visit: Visiting) -> WorktreeAnswer:
    """It is marked as one that is to stay; you may change your mind."""
    return WorktreeAnswer.of(await engine.services.worktrees.keep(visit.user_id, worktree_id))


@router.post("/{worktree_id}/remove", summary="Remove a worktree", response_model=WorktreeAnswer, responses=CHANGED)
async def remove_worktree(
    worktree_id: Id, body: RemoveBody, engine: Serving, visit: Visiting, response: Response
) -> WorktreeAnswer:
    """Refused while its item is unfinished, a turn or a command in the background uses it, or it has anything that no
    commit has. Its branch stays, and its item is not completed by it."""
    gone = await engine.services.worktrees.remove(visit.user_id, worktree_id, discard=body.discard)
    response.headers.update(warnings(body))
    return WorktreeAnswer.of(gone)
