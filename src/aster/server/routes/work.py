"""The work graph: what is to be done, what waits for what, and who does it."""

from typing import Annotated

from fastapi import APIRouter, Path, Query, Response

from aster.contracts.errors import ErrorCode
from aster.contracts.work import MAIN_BOARD, WorkEdit, WorkShow
from aster.server.bodies import LARGEST, warnings
from aster.server.errors import refusals
from aster.server.routes.memory import BODY
from aster.server.visit import KEYED, Serving, Visiting
from aster.server.work_answers import (
    Board,
    BoardList,
    Change,
    ClaimBody,
    ClaimedAnswer,
    CompleteBody,
    CompletedAnswer,
    CreateBody,
    EdgesBody,
    EditBody,
    HistoryPage,
    ItemPage,
    ItemsAnswer,
    NextBody,
    ReasonBody,
    ReleaseBody,
    WorkItemAnswer,
)

router = APIRouter(prefix="/work", tags=["work"], dependencies=KEYED)

Id = Annotated[str, Path(max_length=128, description="The item's id.")]
Name = Annotated[str, Query(min_length=1, max_length=64)]
Limit = Annotated[int, Query(ge=1, le=200)]
ASKED = (ErrorCode.INVALID_REQUEST,)
CHANGED = refusals(*BODY, ErrorCode.NOT_FOUND, ErrorCode.WORK_CONFLICT)


@router.get("/boards", summary="List the boards", response_model=BoardList, responses=refusals())
async def work_boards(engine: Serving, visit: Visiting) -> BoardList:
    """Each with how much of what is on it."""
    return BoardList(boards=[Board.of(board) for board in await engine.services.work.boards(visit.user_id)])


@router.post(
    "/items", status_code=201, summary="Put work on a board", response_model=ItemsAnswer, responses=refusals(*BODY)
)
async def add_work(body: CreateBody, engine: Serving, visit: Visiting, response: Response) -> ItemsAnswer:
    """Several at once, which may wait for each other by `name`. A circle, an unknown id or a wrong field refuses all of
    it."""
    desk = engine.services.work.person(visit.user_id, board=body.board)
    made = await desk.create([item.draft() for item in body.items])
    response.headers.update(warnings(body))
    return ItemsAnswer(items=[WorkItemAnswer.of(item) for item in made])


@router.get("/items", summary="List work", response_model=ItemPage, responses=refusals(*ASKED))
async def list_work(
    engine: Serving,
    visit: Visiting,
    board: Name = MAIN_BOARD,
    status: WorkShow | None = None,
    ready: Annotated[bool | None, Query(description="Only what can be claimed, or only what cannot yet.")] = None,
    owner: Annotated[str | None, Query(max_length=256)] = None,
    role: Annotated[str | None, Query(max_length=64)] = None,
    limit: Limit = 50,
    after: Annotated[str | None, Query(max_length=128, description="`next` of the page before.")] = None,
) -> ItemPage:
    """A page of a board; deleted items only when they are asked for."""
    desk = engine.services.work.person(visit.user_id, board=board)
    found = await desk.items(limit=limit + 1, status=status, ready=ready, owner=owner, role=role, after=after)
    more = found[limit - 1].item_id if len(found) > limit else None
    return ItemPage(items=[WorkItemAnswer.of(item) for item in found[:limit]], next=more)


@router.post("/edges", summary="Change what waits for what", response_model=ItemsAnswer, responses=CHANGED)
async def change_edges(body: EdgesBody, engine: Serving, visit: Visiting, response: Response) -> ItemsAnswer:
    """The whole change is looked at before any of it is made. An edge that is there already is no error. What an item
    waits for is settled once it is claimed."""
    desk = engine.services.work.person(visit.user_id)
    changed = await desk.link([one.edge() for one in body.add], [one.edge() for one in body.remove])
    response.headers.update(warnings(body))
    return ItemsAnswer(items=[WorkItemAnswer.of(item) for item in changed])


@router.post("/claim", summary="Take what is next", response_model=ClaimedAnswer, responses=CHANGED)
async def claim_next(body: NextBody, engine: Serving, visit: Visiting, response: Response) -> ClaimedAnswer:
    """The most urgent item that is ready, for one of your roles or for anybody."""
    desk = engine.services.work.person(visit.user_id, owner=body.owner, board=body.board)
    taken = await desk.claim_next(body.roles)
    response.headers.update(warnings(body))
    return ClaimedAnswer(item=None if taken is None else WorkItemAnswer.of(taken))


@router.get(
    "/items/{item_id}",
    summary="Show an item",
    response_model=WorkItemAnswer,
    responses=refusals(*ASKED, ErrorCode.NOT_FOUND),
)
async def show_work(item_id: Id, engine: Serving, visit: Visiting) -> WorkItemAnswer:
    """All it says, what it waits for, and who has it."""
    return WorkItemAnswer.of(await engine.services.work.person(visit.user_id).item(item_id))


@router.patch("/items/{item_id}", summary="Change an item", response_model=WorkItemAnswer, responses=CHANGED)
async def edit_work(
    item_id: Id, body: EditBody, engine: Serving, visit: Visiting, response: Response
) -> WorkItemAnswer:
    """What it says and what it waits for, all of it or nothing."""
    changed = await engine.services.work.person(visit.user_id).edit(
        item_id,
        WorkEdit(
            subject=body.subject,
            description=body.description,
            role=body.role,
            priority=body.priority,
        ),
        add=body.add_blocked_by,
        remove=body.remove_blocked_by,
        version=body.version,
    )
    response.headers.update(warnings(body))
    return WorkItemAnswer.of(changed)


@router.delete(
    "/items/{item_id}", summary="Take an item off its board", response_model=WorkItemAnswer, responses=CHANGED
)
async def delete_work(
    item_id: Id,
    engine: Serving,
    visit: Visiting,
    override: Annotated[bool, Query(description="Also when somebody has it, or it is completed.")] = False,
) -> WorkItemAnswer:
    """It stays readable, and its id is never used again. What waits for it goes on waiting until that is changed."""
    return WorkItemAnswer.of(await engine.services.work.person(visit.user_id).discard(item_id, override=override))


@router.post("/items/{item_id}/claim", summary="Claim an item", response_model=WorkItemAnswer, responses=CHANGED)
async def claim_work(
    item_id: Id, body: ClaimBody, engine: Serving, visit: Visiting, response: Response
) -> WorkItemAnswer:
    """Of all who ask at once one gets it. `details.reason` of a refusal: `already_claimed`, `already_resolved`,
    `blocked` or `busy_owner`."""
    taken = await engine.services.work.person(visit.user_id, owner=body.owner).claim(item_id)
    response.headers.update(warnings(body))
    return WorkItemAnswer.of(taken)


@router.post(
    "/items/{item_id}/complete", summary="Complete an item", response_model=CompletedAnswer, responses=CHANGED
)
async def complete_work(
    item_id: Id, body: CompleteBody, engine: Serving, visit: Visiting, response: Response
) -> CompletedAnswer:
    """For its owner; for you also when it is somebody else's, with `override`."""
    desk = engine.services.work.person(visit.user_id, owner=body.owner)
    done, unblocked = await desk.complete(item_id, body.result, override=body.override)
    response.headers.update(warnings(body))
    return CompletedAnswer(item=WorkItemAnswer.of(done), unblocked=[WorkItemAnswer.of(one) for one in unblocked])


@router.post(
    "/items/{item_id}/release", summary="Give an item back", response_model=WorkItemAnswer, responses=CHANGED
)
async def release_work(
    item_id: Id, body: ReleaseBody, engine: Serving, visit: Visiting, response: Response
) -> WorkItemAnswer:
    """It is pending again, and nobody's."""
    desk = engine.services.work.person(visit.user_id, owner=body.owner)
    back = await desk.release(item_id, body.reason, override=body.override)
    response.headers.update(warnings(body))
    return WorkItemAnswer.of(back)


@router.post(
    "/items/{item_id}/reopen", summary="Put an item back", response_model=WorkItemAnswer, responses=CHANGED
)
async def reopen_work(
    item_id: Id, body: ReasonBody, engine: Serving, visit: Visiting, response: Response
) -> WorkItemAnswer:
    """One that was completed or deleted is pending again; what waits for it waits again."""
    back = await engine.services.work.person(visit.user_id).reopen(item_id, body.reason)
    response.headers.update(warnings(body))
    return WorkItemAnswer.of(back)


@router.get(
    "/items/{item_id}/history",
    summary="Show what an item has been through",
    response_model=HistoryPage,
    responses=refusals(*ASKED, ErrorCode.NOT_FOUND),
)
async def work_history(
    item_id: Id,
    engine: Serving,
    visit: Visiting,
    limit: Limit = 50,
    before: Annotated[int | None, Query(ge=1, le=LARGEST, description="`next` of the page before.")] = None,
) -> HistoryPage:
    """Who changed what, when, and where on which thread it is told."""
    desk = engine.services.work.person(visit.user_id)
    found = await desk.history(item_id, limit=limit + 1, before=before)
    more = found[limit - 1].number if len(found) > limit else None
    return HistoryPage(changes=[Change.of(one) for one in found[:limit]], next=more)
