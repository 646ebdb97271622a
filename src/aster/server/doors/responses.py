"""`/v1/responses`: a turn's answer as items and events, to be had at once, as it comes, or later by its id.

A response is read from the thread of its turn whenever it is asked for; nothing of it is kept anywhere else.
"""

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Annotated, Any, Final

from fastapi import APIRouter, Header, Query, Response
from fastapi.responses import JSONResponse

from aster.brain.doors import DoorPlaceRow
from aster.brain.records import ThreadKey
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.model import encode
from aster.engine_core.client_tools import unfit
from aster.engine_core.engine import Engine
from aster.infra.logging import bind_now
from aster.server.bodies import LARGEST, warnings
from aster.server.doors.admission import Admitted, Wishes, admit, noted, place_row
from aster.server.doors.chat_completions import HARD, REFUSALS, named_task, wanted
from aster.server.doors.kept import Kept, found, frame_of, live_from, missing
from aster.server.doors.models import Chosen, chosen
from aster.server.doors.responses_answer import Json, ResponseId, ResponsesAnswer
from aster.server.doors.responses_body import ResponsesBody
from aster.server.doors.stream import KEEP_ALIVE, DoorStream, headers_of, opened
from aster.server.doors.turn import Piece, Quiet
from aster.server.errors import refusals
from aster.server.visit import KEYED, Serving, Visiting

router = APIRouter(prefix="/v1/responses", tags=["doors"], dependencies=KEYED)

DONE: Final = b"data: [DONE]\n\n"


@router.post("", summary="Answer, as items", response_class=JSONResponse, responses=refusals(*REFUSALS))
async def create_response(
    body: ResponsesBody,
    engine: Serving,
    visit: Visiting,
    x_aster_task: Annotated[
        str | None, Header(description="The task to go on with; usually found by itself.")
    ] = None,
) -> Response:
    """Takes a whole conversation, or what comes after `previous_response_id`, and answers with a response.

    With `background` the answer is a response that is still `in_progress`; ask for it by its id. A response that ends
    with calls of the client's tools goes on when their outputs come.
    """
    body.check()
    wishes = _wishes(body, await chosen(engine, visit.user_id, body.model), x_aster_task)
    admitted = await admit(engine, visit, body.lines(), wishes)
    turn = admitted.turn
    bind_now(task_id=turn.task_id)
    headers = {**headers_of(turn), **warnings(body)}
    name = ResponseId(turn.turn_id, turn.segment)
    frame = frame_of(wishes.instructions, wishes.tools, wishes.options, wishes.echo)
    answer = ResponsesAnswer(name, int(time.time()), frame, whole=not body.stream)
    if body.background and not body.stream:
        turn.subscription.close()
        await asyncio.wait([admitted.noting])
        return JSONResponse(answer.response(), headers=headers)
    said = await opened(engine, admitted)
    if body.stream:
        return DoorStream(engine, _frames(engine, visit.user_id, admitted, answer, said), headers)
    async with aclosing(said):
        async for piece in said:
            for _ in answer.events(piece):
                pass
    await _noted(engine, visit.user_id, admitted, answer)
    return JSONResponse(answer.response(), headers=headers)


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


@router.delete(
    "/{response_id}",
    summary="Forget a response's id",
    responses=refusals(ErrorCode.NOT_FOUND, ErrorCode.INVALID_REQUEST),
)
async def delete_response(response_id: str, engine: Serving, visit: Visiting) -> Json:
    """The id leads nowhere any more. The task stays, with all that was said in it; `DELETE /tasks/{id}` ends that."""
    kept = await found(engine, visit.user_id, response_id)
    row: DoorPlaceRow = place_row(f"response {response_id}", kept.answer.id.turn_id, "deleted")
    await engine.brain.append(ThreadKey(visit.user_id, kept.task_id), None, (), rows=[row])
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


async def _frames(
    engine: Engine, user_id: str, admitted: Admitted, answer: ResponsesAnswer, said: AsyncGenerator[Piece, None]
) -> AsyncGenerator[bytes, None]:
    async with aclosing(said):
        yield b"".join(map(_frame, answer.begin()))
        async for piece in said:
            if isinstance(piece, Quiet):
                yield KEEP_ALIVE
            frames = b"".join(map(_frame, answer.events(piece)))
            if answer.ended is not None:
                await _noted(engine, user_id, admitted, answer)
            if frames:
                yield frames
    yield DONE


async def _again(engine: Engine, kept: Kept, after: int) -> AsyncGenerator[bytes, None]:
    """The events of a response from the beginning, those after one that was had; then as they come."""
    answer = kept.answer
    fresh = ResponsesAnswer(answer.id, answer.created_at, answer.frame)
    for event in fresh.begin():
        if event["sequence_number"] > after:
            yield _frame(event)
    async with aclosing(live_from(engine, kept)) as said:
        async for piece in said:
            if isinstance(piece, Quiet):
                yield KEEP_ALIVE
            frames = [_frame(event) for event in fresh.events(piece) if event["sequence_number"] > after]
            if frames:
                yield b"".join(frames)
    yield DONE


async def _noted(engine: Engine, user_id: str, admitted: Admitted, answer: ResponsesAnswer) -> None:
    assert answer.ended is not None, "a turn that is followed comes to an end"
    if answer.ended.error is None:
        await noted(engine, user_id, admitted, answer.line, answer.kind, at_once=answer.at_once)


def _frame(event: Json) -> bytes:
    return b"event: %s\ndata: %s\n\n" % (event["type"].encode(), encode(event))


def _wishes(body: ResponsesBody, who: Chosen, task: str | None) -> Wishes:
    metadata: dict[str, Any] = body.metadata or {}
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
        "format": None
        if body.text is None or body.text.format is None
        else body.text.format.model_dump(by_alias=True, exclude_none=True),
    }
    return {name: value for name, value in given.items() if value is not None}
