"""What a task's model calls were shown: listed, one whole, two compared."""

from typing import Annotated

from fastapi import APIRouter, Path, Query

from aster.brain.records import ThreadKey
from aster.contracts.errors import ErrorCode
from aster.engine_core.context import reading
from aster.engine_core.tasks import existing
from aster.server.bodies import LARGEST, PathTaskId
from aster.server.context_answers import ContextCall, ContextCallDetail, ContextDiff, ContextPage
from aster.server.errors import refusals
from aster.server.visit import KEYED, Serving, Visiting

router = APIRouter(prefix="/tasks/{task_id}/context", tags=["tasks"], dependencies=KEYED)

_REFUSALS = refusals(ErrorCode.TASK_NOT_FOUND, ErrorCode.NOT_FOUND, ErrorCode.INVALID_REQUEST)
_Call = Annotated[int | None, Query(ge=1, le=LARGEST)]


@router.get("", summary="List what model calls were shown", response_model=ContextPage, responses=_REFUSALS)
async def context(
    task_id: PathTaskId,
    engine: Serving,
    visit: Visiting,
    before: Annotated[int | None, Query(ge=1, le=LARGEST, description="`next` of the page before.")] = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
) -> ContextPage:
    """Every model call of the task with the size of its prompt, newest first."""
    key = ThreadKey(visit.user_id, task_id)
    await existing(engine.brain, key)
    found = await reading.calls(engine.brain, key, before, limit + 1)
    shown = found[:limit]
    return ContextPage(
        calls=[ContextCall.of(manifest) for manifest in shown], next=shown[-1].seq if len(found) > limit else None
    )


@router.get("/diff", summary="Compare two prompts", response_model=ContextDiff, responses=_REFUSALS)
async def diff(
    task_id: PathTaskId,
    engine: Serving,
    visit: Visiting,
    earlier: Annotated[_Call, Query(alias="from", description="A call; left out, the one before `to`.")] = None,
    later: Annotated[_Call, Query(alias="to", description="A call; left out, the newest.")] = None,
) -> ContextDiff:
    """Which blocks changed between two model calls, and the first that moved: what follows it was not in the
    provider's cache any more."""
    key = ThreadKey(visit.user_id, task_id)
    await existing(engine.brain, key)
    return ContextDiff.of(await reading.compared(engine.brain, key, earlier, later))


@router.get("/{call}", summary="Show what a model call saw", response_model=ContextCallDetail, responses=_REFUSALS)
async def call(
    task_id: PathTaskId, call: Annotated[int, Path(ge=1, le=LARGEST)], engine: Serving, visit: Visiting
) -> ContextCallDetail:
    """Every block of one prompt, in order, with its source, its hash and its tokens."""
    key = ThreadKey(visit.user_id, task_id)
    await existing(engine.brain, key)
    return ContextCallDetail.of(await reading.call(engine.brain, key, call))
