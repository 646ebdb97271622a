"""`/api/chat` and `/chat`: the chat door for clients that read the fields of `/v1`, Ollama's, or both.

A stream begins with a comment before the agent has done anything and ends with `[DONE]` whatever happens in between.
"""

import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import partial
from typing import Any, Final, Literal

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel

from aster.contracts.errors import EngineError, ErrorBody, ErrorCode
from aster.contracts.model import encode
from aster.engine_core.client_tools import unfit
from aster.engine_core.engine import Engine
from aster.infra.clock import now_iso
from aster.infra.logging import bind_now
from aster.server.bodies import OtherId, TaskId, warnings
from aster.server.doors import ghost_refusal
from aster.server.doors.admission import Admitted, Wishes, admit, noted
from aster.server.doors.chat_answer import ChatAnswer, usage_of
from aster.server.doors.chat_completions import DONE, HARD, REFUSALS, wanted
from aster.server.doors.ghost_body import GhostBody, named
from aster.server.doors.models import Chosen, chosen
from aster.server.doors.retries import Delivery, key_of, parameters
from aster.server.doors.stream import KEEP_ALIVE, DoorAnswer, DoorStream, Write, failed, headers_of
from aster.server.doors.turn import Quiet, pieces
from aster.server.errors import refusals
from aster.server.media import Part
from aster.server.visit import KEYED, Serving, Visit, Visiting

log = logging.getLogger("aster.doors")

router = APIRouter(tags=["doors"], dependencies=KEYED)

FIRST: Final = b": processing request...\n\n"


class StopBody(Part):
    """Which answer: by its session, or by its `id`."""

    session_id: TaskId | None = None
    id: OtherId | None = None


class Stopped(BaseModel):
    status: Literal["cancelled"] = "cancelled"
    session_id: str
    id: str


@router.post("/chat", include_in_schema=False, response_class=JSONResponse)
@router.post(
    "/api/chat",
    summary="Answer a conversation, in the fields of `/v1` and of Ollama",
    response_class=JSONResponse,
    responses=refusals(ErrorCode.INVALID_REQUEST, *REFUSALS),
    openapi_extra=parameters(),
)
async def ghost_chat(body: GhostBody, engine: Serving, visit: Visiting, request: Request) -> Response:
    """As `/v1/chat/completions`; with a `session_id` the conversation is that task's, and what it has is not added
    twice. Errors have the shape `{"error": {message, type}}`."""
    body.check()
    who = await chosen(engine, visit.user_id, named(body.model))
    admitted = await admit(engine, visit, body.lines(), _wishes(body, who, key_of(request)))
    bind_now(task_id=admitted.turn.task_id)
    answer = ChatAnswer(f"chatcmpl-{admitted.turn.turn_id}", body.model, whole=not body.stream)
    headers = {**headers_of(admitted.turn), **warnings(body)}
    delivery = Delivery(engine, visit.user_id, admitted.turn, admitted.request)
    if body.stream:
        return DoorStream(engine, _writes(engine, visit, admitted, answer), headers, delivery)
    return DoorAnswer(partial(_whole, engine, visit, admitted, answer), headers, delivery)


@router.post(
    "/api/turn/cancel",
    summary="Stop an answer",
    response_model=Stopped,
    responses=refusals(ErrorCode.INVALID_REQUEST, ErrorCode.NOT_FOUND),
)
async def cancel_answer(body: StopBody, engine: Serving, visit: Visiting) -> Stopped:
    """Returns when the end of its turn is on the thread."""
    task_id, turn_id = body.session_id, (body.id or "").removeprefix("chatcmpl-")
    if task_id is None and not turn_id:
        raise unfit("session_id", "is missing, and so is `id`")
    turn = await engine.brain.turn(visit.user_id, turn_id) if turn_id else None
    if turn_id and (turn is None or turn.ended_at is not None or task_id not in (None, turn.task_id)):
        raise _nothing()
    try:
        done = await engine.coordinator.cancel(visit.user_id, turn.task_id if turn is not None else task_id or "")
    except EngineError as error:
        if error.code in (ErrorCode.TASK_NOT_RUNNING, ErrorCode.TASK_NOT_FOUND):
            raise _nothing() from None
        raise
    return Stopped(session_id=done.task_id, id=f"chatcmpl-{done.turn_id}")


async def followed(engine: Engine, visit: Visit, admitted: Admitted, answer: ChatAnswer) -> None:
    """Let an answer become whole; raises what it ended with."""
    async with aclosing(pieces(engine, admitted.turn)) as said:
        async for new in said:
            answer.take(new)
    assert answer.ended is not None, "a turn that is followed comes to an end"
    if answer.ended.error is not None:
        raise failed(answer.ended.error)
    await noted(engine, visit.user_id, admitted, answer.line, answer.kind)


async def _whole(engine: Engine, visit: Visit, admitted: Admitted, answer: ChatAnswer) -> dict[str, Any]:
    """Both sets of fields. What was used is said when it is known, and left out otherwise."""
    await followed(engine, visit, admitted, answer)
    found = answer.completion()
    turn = await engine.brain.turn(visit.user_id, admitted.turn.turn_id)
    assert answer.ended is not None, "an answer is whole when it is over"
    usage = usage_of(answer.ended.usage)
    if not usage["total_tokens"]:
        del found["usage"]
    elif turn is not None:
        found["ghost_llm_calls"] = turn.model_calls
    message = {"role": "assistant", "content": answer.text}
    ollama = {"message": message, "done": True, "done_reason": answer.finish, "created_at": now_iso()}
    return {**found, **ollama, "session_id": admitted.turn.task_id}


async def _writes(
    engine: Engine, visit: Visit, admitted: Admitted, answer: ChatAnswer
) -> AsyncGenerator[Write, None]:
    yield FIRST, True
    error: ErrorBody | None = None
    chunks = answer.chunk({"role": "assistant", "content": ""})
    try:
        async with aclosing(pieces(engine, admitted.turn)) as said:
            async for new in said:
                chunks += answer.chunks(new)
                if isinstance(new[0], Quiet):
                    chunks += KEEP_ALIVE
                if chunks and answer.ended is None:
                    yield chunks, True
                    chunks = b""
        error = None if answer.ended is None else answer.ended.error
        if error is None:
            await noted(engine, visit.user_id, admitted, answer.line, answer.kind)
    except Exception:  # the boundary of a stream: whatever happens inside, it ends as streams end here
        log.exception("a stream of the chat door failed")
        message = f"Something failed that should not have. The engine's log has it under {visit.request_id}."
        error = ErrorBody(error=ErrorCode.INTERNAL, message=message, retry="now")
    if error is not None:
        chunks += b"event: error\ndata: %s\n\n" % encode(ghost_refusal.described(error, visit.request_id))
        if not answer.text:
            chunks += answer.chunk({"content": f"This could not be answered ({visit.request_id})."})
    yield chunks + answer.chunk({}, "stop" if answer.ended is None else answer.finish) + DONE, False


def _wishes(body: GhostBody, who: Chosen, key: str) -> Wishes:
    tools = body.client_tools()
    return Wishes(
        options=body.options(),
        who=who,
        instructions=body.instructions,
        tools=tools,
        own_tools=not tools or wanted((body.metadata or {}).get("aster_tools")),
        super_thinking=body.reasoning_effort in HARD,
        task_id=body.session_id,
        root=body.user or "",
        key=key,
    )


def _nothing() -> EngineError:
    return EngineError(ErrorCode.TASK_NOT_FOUND, "Nothing is being answered there.")
