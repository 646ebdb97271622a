"""`/v1/chat/completions`: a conversation in, the answer of a turn out, whole or as it is written."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import partial
from typing import Any, Final

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse
from pydantic import TypeAdapter, ValidationError

from aster.contracts.errors import CODES, ErrorCode
from aster.contracts.model import encode
from aster.engine_core.client_tools import unfit
from aster.engine_core.engine import Engine
from aster.infra.logging import bind_now
from aster.server.bodies import TaskId, warnings
from aster.server.doors import refusal
from aster.server.doors.admission import Admitted, Wishes, admit, noted
from aster.server.doors.chat_answer import ChatAnswer
from aster.server.doors.chat_body import ChatBody
from aster.server.doors.models import Chosen, chosen
from aster.server.doors.retries import Delivery, key_of, parameters
from aster.server.doors.stream import KEEP_ALIVE, DoorAnswer, DoorStream, Write, failed, headers_of, opened
from aster.server.doors.turn import Quiet
from aster.server.errors import refusals
from aster.server.visit import KEYED, Serving, Visiting

router = APIRouter(tags=["doors"], dependencies=KEYED)

DONE: Final = b"data: [DONE]\n\n"
HARD: Final = frozenset({"high", "xhigh", "max"})

REFUSALS: Final = (
    ErrorCode.MALFORMED_REQUEST,
    ErrorCode.INVALID_REQUEST,
    ErrorCode.NOT_FOUND,
    ErrorCode.BUDGET_EXCEEDED,
    ErrorCode.TASK_BUSY,
    ErrorCode.PAYLOAD_TOO_LARGE,
    ErrorCode.UNSUPPORTED_MEDIA_TYPE,
    ErrorCode.LLM_RATE_LIMITED,
    ErrorCode.LLM_PROVIDER_ERROR,
    ErrorCode.SLOTS_EXHAUSTED,
    ErrorCode.DRAINING,
)
TASK_HEADER: Final = "X-Aster-Task"
PARAMETERS: Final = parameters(
    {
        "name": TASK_HEADER,
        "in": "header",
        "required": False,
        "schema": {"type": "string"},
        "description": "The task to go on with; usually found by itself.",
    }
)
_task_id: TypeAdapter[str] = TypeAdapter(TaskId)


@router.post(
    "/v1/chat/completions",
    summary="Answer a conversation that the client keeps",
    response_class=JSONResponse,
    responses=refusals(*REFUSALS),
    openapi_extra=PARAMETERS,
)
async def chat_completions(body: ChatBody, engine: Serving, visit: Visiting, request: Request) -> Response:
    """The whole conversation comes along each time; the engine finds its task again, or begins one.

    A call of one of the client's `tools` ends the answer with `tool_calls`; the turn goes on when their results come.
    Errors have the shape `{"error": {message, type, param, code}}`.
    """
    body.check()
    who = await chosen(engine, visit.user_id, body.model)
    admitted = await admit(engine, visit, body.lines(), _wishes(body, who, request))
    bind_now(task_id=admitted.turn.task_id)
    stream = bool(body.stream)
    answer = ChatAnswer(f"chatcmpl-{admitted.turn.turn_id}", body.model, whole=not stream)
    headers = {**headers_of(admitted.turn), **warnings(body)}
    delivery = Delivery(engine, visit.user_id, admitted.turn, admitted.request)
    if stream:
        usage = body.stream_options is not None and bool(body.stream_options.include_usage)
        writes = _writes(engine, visit.user_id, admitted, answer, usage=usage)
        return DoorStream(engine, writes, headers, delivery)
    return DoorAnswer(partial(_whole, engine, visit.user_id, admitted, answer), headers, delivery)


async def _whole(engine: Engine, user_id: str, admitted: Admitted, answer: ChatAnswer) -> dict[str, Any]:
    async with aclosing(opened(engine, admitted)) as said:
        async for pieces in said:
            answer.take(pieces)
    assert answer.ended is not None, "a turn that is followed comes to an end"
    if answer.ended.error is not None:
        raise failed(answer.ended.error)
    await noted(engine, user_id, admitted, answer.line, answer.kind, at_once=answer.at_once)
    return answer.completion()


async def _writes(
    engine: Engine,
    user_id: str,
    admitted: Admitted,
    answer: ChatAnswer,
    *,
    usage: bool,
) -> AsyncGenerator[Write, None]:
    chunks = answer.chunk({"role": "assistant", "content": ""})
    async with aclosing(opened(engine, admitted)) as said:
        async for pieces in said:
            chunks += answer.chunks(pieces)
            if isinstance(pieces[0], Quiet):
                chunks += KEEP_ALIVE
            if chunks and answer.ended is None:
                yield chunks, True
                chunks = b""
    assert answer.ended is not None, "a turn that is followed comes to an end"
    error = answer.ended.error
    if error is not None:
        refused = b"data: %s\n\n" % encode({"error": refusal.described(error, CODES[error.error].status)})
        yield chunks + refused + DONE, False
        return
    await noted(engine, user_id, admitted, answer.line, answer.kind, at_once=answer.at_once)
    last = answer.chunk({}, answer.finish)
    yield chunks + last + (answer.usage_chunk() if usage else b"") + DONE, False


def _wishes(body: ChatBody, who: Chosen, request: Request) -> Wishes:
    metadata: dict[str, Any] = body.metadata or {}
    tools = body.client_tools()
    return Wishes(
        options=body.options(),
        who=who,
        instructions=body.instructions,
        tools=tools,
        own_tools=not tools or wanted(metadata.get("aster_tools")),
        super_thinking=body.reasoning_effort in HARD,
        task_id=named_task(request.headers.get(TASK_HEADER), metadata),
        root=body.safety_identifier or body.user or "",
        key=key_of(request),
    )


def wanted(flag: object) -> bool:
    """A yes in `metadata`, where every value may have to be text."""
    return flag is True or flag == "true"


def named_task(header: str | None, metadata: dict[str, Any]) -> str | None:
    """The task that a client names, in a header or in `metadata`."""
    given = header or metadata.get("task_id")
    if given is None:
        return None
    try:
        return _task_id.validate_python(given)
    except ValidationError:
        raise unfit("metadata.task_id", "has to be printable text of up to 256 characters") from None
