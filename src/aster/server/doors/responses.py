"""`/v1/responses`: a turn's answer as items and events, to be had at once, as it comes, or later by its id.

A response is read from the thread of its turn whenever it is asked for; nothing of it is kept anywhere else.
"""

import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import partial
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import JSONResponse

from aster.brain.records import ThreadKey
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.model import encode
from aster.engine_core.client_tools import unfit
from aster.engine_core.door_places import row
from aster.engine_core.engine import Engine
from aster.infra.logging import bind_now
from aster.server.bodies import LARGEST, warnings
from aster.server.doors.admission import Admitted, Wishes, admit, noted
from aster.server.doors.chat_completions import HARD, PARAMETERS, REFUSALS, TASK_HEADER, named_task, wanted
from aster.server.doors.kept import Kept, found, frame_of, live_from, missing
from aster.server.doors.models import Chosen, chosen
from aster.server.doors.responses_answer import Json, ResponseId, ResponsesAnswer
from aster.server.doors.responses_body import ResponsesBody
from aster.server.doors.retries import Delivery, key_of
from aster.server.doors.stream import KEEP_ALIVE, DoorAnswer, DoorStream, Write, headers_of, opened
from aster.server.doors.turn import Quiet
from aster.server.errors import refusals
from aster.server.visit import KEYED, Serving, Visiting

router = APIRouter(prefix="/v1/responses", tags=["doors"], dependencies=KEYED)

DONE: Final = b"data: [DONE]\n\n"


@router.post(
    "",
    summary="Answer, as items",
    response_class=JSONResponse,
    responses=refusals(*REFUSALS),
    openapi_extra=PARAMETERS,
)
async def create_response(body: ResponsesBody, engine: Serving, visit: Visiting, request: Request) -> Response:
    """Takes a whole conversation, or what comes after `previous_response_id`, and answers with a response.

    With `background` the answer is a response that is still `in_progress`; ask for it by its id. A response that ends
    with calls of the client's tools goes on when their outputs come.
    """
    body.check()
    wishes = _wishes(body, await chosen(engine, visit.user_id, body.model), request)
    admitted = await admit(engine, visit, body.lines(), wishes)
    turn = admitted.turn
    bind_now(task_id=turn.task_id)
    headers = {**headers_of(turn), **warnings(body)}
    name = ResponseId(turn.turn_id, turn.segment)
    frame = frame_of(wishes.instructions, wishes.tools, wishes.options, wishes.echo)
    answer = ResponsesAnswer(name, int(time.time()), frame, whole=not body.stream)
    if body.background and not body.stream:
        turn.subscription.close()
        return JSONResponse(answer.response(), headers=headers)
    delivery = Delivery(engine, visit.user_id, turn, admitted.request)
    if body.stream:
        return DoorStream(engine, _writes(engine, visit.user_id, admitted, answer), headers, delivery)
    return DoorAnswer(partial(_whole, engine, visit.user_id, admitted, answer), headers, delivery)


async def _whole(engine: Engine, user_id: str, admitted: Admitted, answer: ResponsesAnswer) -> Json:
    async with aclosing(opened(engine, admitted)) as said:
        async for pieces in said:
            answer.take(pieces)
    await _noted(engine, user_id, admitted, answer)
    return answer.response()


@router.get(
    "/{response_id}",
    summary="A response, by its id",
    responses=refusals(ErrorCode.NOT_FOUND, ErrorCode.INVALID_REQUEST),
)
async def retrieve_response(
    response_id: str,
    engine: Serving,
    visit: Visiting,
    stream: Annotated[bool, Query(description="Its events instead, up to its end.")] = False,
    starting_after: Annotated[int, Query(ge=-1, le=LARGEST, description="With `stream`: the last one had.")] = -1,
) -> Response:
    """As it is now; with `stream`, every event of it from the beginning, or from after the last one that was had."""
    kept = await found(engine, visit.user_id, response_id)
    if not stream:
        return JSONResponse(kept.answer.response())
    return DoorStream(engine, _again(engine, kept, starting_after), {})


@router.get(
    "/{response_id}/input_items",
    summary="What a response answers",
    responses=refusals(ErrorCode.NOT_FOUND, ErrorCode.INVALID_REQUEST),
)
async def list_input_items(
    response_id: str,
    engine: Serving,
    visit: Visiting,
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
    order: Annotated[Literal["asc", "desc"], Query(description="`desc`: the newest first.")] = "desc",
    after: Annotated[str | None, Query(max_length=256, description="The last item that was had.")] = None,
) -> Json:
    """The messages that came with the request, or the results of calls; what was said before them is not listed."""
    kept = await found(engine, visit.user_id, response_id)
    items = list(kept.given if order == "asc" else reversed(kept.given))
    names = [item["id"] for item in items]
    if after is not None and after not in names:
        raise unfit("after", "names no item of this response")
    start = 0 if after is None else names.index(after) + 1
    page = items[start : start + limit]
    first, last = (page[0]["id"], page[-1]["id"]) if page else (None, None)
    more = start + limit < len(items)
    return {"object": "list", "data": page, "first_id": first, "last_id": last, "has_more": more}


@router.delete(
    "/{response_id}",
    summary="Forget a response's id",
    responses=refusals(ErrorCode.NOT_FOUND, ErrorCode.INVALID_REQUEST),
)
async def delete_response(response_id: str, engine: Serving, visit: Visiting) -> Json:
    """The id leads nowhere any more. The task stays, with all that was said in it; `DELETE /tasks/{id}` ends that."""
    kept = await found(engine, visit.user_id, response_id)
    gone = row(f"response {response_id}", kept.answer.id.turn_id, "deleted")
    await engine.brain.append(ThreadKey(visit.user_id, kept.task_id), None, (), rows=[gone])
    return {"id": response_id, "object": "response", "deleted": True}


@router.post(
    "/{response_id}/cancel",
    summary="Stop a response that is not finished",
    responses=refusals(ErrorCode.NOT_FOUND, ErrorCode.INVALID_REQUEST),
)
async def cancel_response(response_id: str, engine: Serving, visit: Visiting) -> Json:
    """Returns the response as it was left; one that had ended is not changed."""
    kept = await found(engine, visit.user_id, response_id)
    if kept.answer.ended is None:
        try:
            await engine.coordinator.cancel(visit.user_id, kept.task_id)
        except EngineError as error:
            if error.code is not ErrorCode.TASK_NOT_RUNNING:
                raise
        kept = await found(engine, visit.user_id, response_id)
    return kept.answer.response()


async def _writes(
    engine: Engine, user_id: str, admitted: Admitted, answer: ResponsesAnswer
) -> AsyncGenerator[Write, None]:
    frames = b"".join(map(_frame, answer.begin()))
    async with aclosing(opened(engine, admitted)) as said:
        async for pieces in said:
            frames += b"".join([_frame(event) for piece in pieces for event in answer.events(piece)])
            if isinstance(pieces[0], Quiet):
                frames += KEEP_ALIVE
            if frames and answer.ended is None:
                yield frames, True
                frames = b""
    await _noted(engine, user_id, admitted, answer)
    yield frames + DONE, False


async def _again(engine: Engine, kept: Kept, after: int) -> AsyncGenerator[Write, None]:
    """The events of a response from the beginning, those after one that was had; then as they come."""
    answer = kept.answer
    fresh = ResponsesAnswer(answer.id, answer.created_at, answer.frame)
    frames = b"".join([_frame(event) for event in fresh.begin() if event["sequence_number"] > after])
    async with aclosing(live_from(engine, kept)) as said:
        async for pieces in said:
            events = [event for piece in pieces for event in fresh.events(piece)]
            frames += b"".join([_frame(event) for event in events if event["sequence_number"] > after])
            if isinstance(pieces[0], Quiet):
                frames += KEEP_ALIVE
            if frames and fresh.ended is None:
                yield frames, True
                frames = b""
    yield frames + DONE, False


async def _noted(engine: Engine, user_id: str, admitted: Admitted, answer: ResponsesAnswer) -> None:
    assert answer.ended is not None, "a turn that is followed comes to an end"
    if answer.ended.error is None:
        await noted(engine, user_id, admitted, answer.line, answer.kind, at_once=answer.at_once)


def _frame(event: Json) -> bytes:
    return b"event: %s\ndata: %s\n\n" % (event["type"].encode(), encode(event))


def _wishes(body: ResponsesBody, who: Chosen, request: Request) -> Wishes:
    metadata: dict[str, Any] = body.metadata or {}
    task = request.headers.get(TASK_HEADER)
    tools = body.client_tools()
    after = None
    if body.previous_response_id is not None:
        before = ResponseId.read(body.previous_response_id)
        if before is None:
            raise missing(body.previous_response_id, "previous_response_id")
        after = before.turn_id
        if task is not None:
            raise unfit("previous_response_id", "names a task already; leave the other out")
    effort = body.reasoning.effort if body.reasoning is not None else None
    return Wishes(
        options=body.options(),
        who=who,
        instructions=body.said,
        tools=tools,
        own_tools=not tools or wanted(metadata.get("aster_tools")),
        super_thinking=effort in HARD,
        task_id=None if after is not None else named_task(task, metadata),
        root=body.safety_identifier or body.user or "",
        echo=_echo(body),
        after=after,
        key=key_of(request),
    )


def _echo(body: ResponsesBody) -> dict[str, Any]:
    """What a response says again of its request, where that is not in the turn anyway."""
    given = {
        "model": body.model,
        "previous_response_id": body.previous_response_id,
        "instructions": body.instructions,
        "background": body.background,
        "metadata": body.metadata,
        "user": body.user,
        "safety_identifier": body.safety_identifier,
        "prompt_cache_key": body.prompt_cache_key,
        "max_tool_calls": body.max_tool_calls,
        "truncation": body.truncation,
        "reasoning": None if body.reasoning is None else body.reasoning.model_dump(include={"effort", "summary"}),
        "format": None if body.text is None or body.text.format is None else body.text.format.told,
    }
    return {name: value for name, value in given.items() if value is not None}
