"""Compacting a task on request: at once when it rests, before its next model call when a turn runs or waits."""

from fastapi import APIRouter, Response
from fastapi.responses import JSONResponse

from aster.contracts.errors import ErrorCode
from aster.server.answers import CompactAnswer
from aster.server.bodies import CompactBody, PathTaskId, warnings
from aster.server.errors import refusals
from aster.server.visit import KEYED, Serving, Visiting

router = APIRouter(prefix="/tasks/{task_id}", tags=["tasks"], dependencies=KEYED)


@router.post(
    "/compact",
    summary="Compact a task",
    response_model=CompactAnswer,
    responses={
        **refusals(
            ErrorCode.MALFORMED_REQUEST,
            ErrorCode.INVALID_REQUEST,
            ErrorCode.TASK_NOT_FOUND,
            ErrorCode.TASK_BUSY,
            ErrorCode.PERMISSION_DENIED,
            ErrorCode.UNSUPPORTED_MEDIA_TYPE,
        ),
        202: {"model": CompactAnswer, "description": "The turn that runs or waits will do it."},
    },
)
async def compact(task_id: PathTaskId, body: CompactBody, engine: Serving, visit: Visiting) -> Response:
    """The model is shown a summary of what was said so far. The thread stays as it is, and can be read and forked
    anywhere; the model can search the whole transcript."""
    event = await engine.tasks.compact(visit.user_id, task_id, body.focus or "")
    answer = CompactAnswer.of(task_id, event)
    return JSONResponse(answer.model_dump(), 202 if event is None else 200, headers=warnings(body))
