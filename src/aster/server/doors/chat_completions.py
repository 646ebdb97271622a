"""`/v1/chat/completions`: a conversation in, the answer of a turn out, whole or as it is written."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Annotated, Any, Final

from fastapi import APIRouter, Header, Response
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
from aster.server.doors.stream import KEEP_ALIVE, DoorStream, failed, headers_of, opened
from aster.server.doors.turn import Piece, Quiet
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
_task_id: TypeAdapter[str] = TypeAdapter(TaskId)


@router.post(
    "/v1/chat/completions",
    summary="Answer a conversation that the client keeps",
    response_class=JSONResponse,
    responses=refusals(*REFUSALS),
)
async def chat_completions(
    body: ChatBody,
    engine: Serving,
    visit: Visiting,
    x_aster_task: Annotated[
        str | None, Header(description="The task to go on with; usually found by itself.")
    ] = None,
) -> Response:
    """The whole conversation comes along each time; the engine finds its task again, or begins one.

    A call of one of the client's `tools` ends the answer with `tool_calls`; the turn goes on when their results come.
    Errors have the shape `{"error": {message, type, param, code}}`.
    """
    body.check()
    who = await chosen(engine, visit.user_id, body.model)
    admitted = await admit(engine, visit, body.lines(), _wishes(body, who, x_aster_task))
    bind_now(task_id=admitted.turn.task_id)
    stream = bool(body.stream)
    answer = ChatAnswer(f"chatcmpl-{admitted.turn.turn_id}", body.model, whole=not stream)
    headers = {**headers_of(admitted.turn), **warnings(body)}
    said = await opened(engine, admitted)
    if stream:
        usage = body.stream_options is not None and bool(body.stream_options.include_usage)
        frames = _frames(engine, visit.user_id, admitted, answer, said, usage=usage)
        return DoorStream(engine, frames, headers)
    async with aclosing(said):
        async for piece in said:
            for _ in answer.deltas(piece):
                pass
    assert answer.ended is not None, "a turn that is followed comes to an end"
    if answer.ended.error is not None:
        raise failed(answer.ended.error)
    await noted(engine, visit.user_id, admitted, answer.line, answer.kind, at_once=answer.at_once)
    return JSONResponse(answer.completion(), headers=headers)


async def _frames(
    engine: Engine,
    user_id: str,
    admitted: Admitted,
    answer: ChatAnswer,
    said: AsyncGenerator[Piece, None],
    *,
    usage: bool,
) -> AsyncGenerator[bytes, None]:
    async with aclosing(said):
        yield answer.chunk({"role": "assistant", "content": ""})
        async for piece in said:
            if isinstance(piece, Quiet):
                yield KEEP_ALIVE
            for delta in answer.deltas(piece):
                yield answer.chunk(delta)
    assert answer.ended is not None, "a turn that is followed comes to an end"
    error = answer.ended.error
    if error is not None:
        yield b"data: %s\n\n" % encode({"error": refusal.described(error, CODES[error.error].status)}) + DONE
        return
    await noted(engine, user_id, admitted, answer.line, answer.kind, at_once=answer.at_once)
    last = answer.chunk({}, answer.finish)
    yield last + (answer.usage_chunk() if usage else b"") + DONE


def _wishes(body: ChatBody, who: Chosen, task: str | None) -> Wishes:
    metadata: dict[str, Any] = body.metadata or {}
    tools = body.client_tools()
    return Wishes(
        options=body.options(),
        who=who,
        instructions=body.instructions,
        tools=tools,
        own_tools=not tools or wanted(metadata.get("aster_tools")),
        super_thinking=body.reasoning_effort in HARD,
        task_id=named_task(task, metadata),
        root=body.safety_identifier or body.user or "",
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
