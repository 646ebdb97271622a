"""Humans: what waits for one, and what one said."""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from aster.contracts.errors import ErrorCode
from aster.server.answers import Pending, PendingList, Resumed
from aster.server.bodies import RespondBody, TaskId, warnings
from aster.server.errors import refusals
from aster.server.visit import KEYED, Serving, Visiting

router = APIRouter(prefix="/hitl", tags=["hitl"], dependencies=KEYED)


@router.post(
    "/respond",
    summary="Answer a request to a human",
    response_model=Resumed,
    responses=refusals(
        ErrorCode.MALFORMED_REQUEST,
        ErrorCode.INVALID_REQUEST,
        ErrorCode.HITL_NOT_PENDING,
        ErrorCode.PERMISSION_DENIED,
        ErrorCode.UNSUPPORTED_MEDIA_TYPE,
        ErrorCode.PAYLOAD_TOO_LARGE,
    ),
)
async def respond(body: RespondBody, engine: Serving, visit: Visiting, response: Response) -> Resumed:
    """Addressed by `request_id`, or by `task_id` to its oldest open request. The first valid answer wins."""
    reply = body.reply(visit.caller.key or visit.user_id, operator=visit.caller.operator)
    status, request_id = await engine.coordinator.answer(visit.user_id, reply)
    response.headers.update(warnings(body))
    return Resumed.model_validate({"status": status, "request_id": request_id})


@router.get(
    "/pending",
    summary="List what waits for a human",
    response_model=PendingList,
    response_model_exclude_none=True,
    responses=refusals(ErrorCode.INVALID_REQUEST),
)
async def pending(
    engine: Serving, visit: Visiting, task_id: Annotated[TaskId | None, Query()] = None
) -> PendingList:
    """Over all tasks, or one."""
    found = await engine.brain.pending_requests(visit.user_id, task_id)
    return PendingList(pending=[Pending.of(record) for record in found])
