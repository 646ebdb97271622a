"""Running turns: post a message and follow it, come back to a stream, stop a turn."""

from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Header, Query, Response

from aster.brain.fanout import PAGE
from aster.brain.records import Frame, ThreadKey, ThreadRecord
from aster.contracts.errors import EngineError, ErrorCode
from aster.engine_core.engine import Engine
from aster.infra.ids import derived_id
from aster.infra.logging import bind_now
from aster.server.answers import CancelAnswer
from aster.server.bodies import LARGEST, SUBAGENTS, CancelBody, ExecuteBody, TaskId, warnings
from aster.server.errors import refusals
from aster.server.listing import changed_since
from aster.server.reference import STREAMED
from aster.server.sse import Ending, EventStream, MessageEnd, PagedStream, TurnEnd, ending_of, header_text, own
from aster.server.visit import KEYED, Serving, Visiting

router = APIRouter(tags=["execute"], dependencies=KEYED)

IdempotencyKey = Annotated[
    str | None,
    Header(
        max_length=200,
        description="A name of your own for this message. Sent again with the same one, because you cannot know"
        " whether it arrived, it does not begin a second turn: `TASK_BUSY` is the answer, and the thread has it.",
    ),
]


@router.post(
    "/execute",
    summary="Run one turn on a task and stream it",
    status_code=200,
    response_class=EventStream,
    responses={
        **refusals(
            ErrorCode.MALFORMED_REQUEST,
            ErrorCode.INVALID_REQUEST,
            ErrorCode.NOT_FOUND,
            ErrorCode.BUDGET_EXCEEDED,
            ErrorCode.TASK_BUSY,
            ErrorCode.HITL_REQUIRED,
            ErrorCode.TOOL_IN_DOUBT,
            ErrorCode.PAYLOAD_TOO_LARGE,
            ErrorCode.UNSUPPORTED_MEDIA_TYPE,
            ErrorCode.SLOTS_EXHAUSTED,
            ErrorCode.DRAINING,
            ErrorCode.STORAGE_UNAVAILABLE,
        ),
        200: STREAMED,
    },
)
async def execute(
    body: ExecuteBody, engine: Serving, visit: Visiting, idempotency_key: IdempotencyKey = None
) -> Response:
    """Takes a message and streams every event of the turn that answers it.

    The stream closes after the `thread_lifecycle` that ends the turn; while a human is asked it stays open. The
    turn goes on when the client leaves; `GET /execute/replay` comes back to it.
    """
    bind_now(task_id=body.task_id)
    turn_id = derived_id("turn", visit.user_id, body.task_id, idempotency_key) if idempotency_key else None
    ticket = await engine.coordinator.submit(visit.user_id, body.order(visit.request_id, turn_id))
    headers = {
        "X-Task-ID": header_text(ticket.task_id),
        "X-Turn-ID": ticket.turn_id,
        "X-Message-ID": ticket.message_id,
        **warnings(body),
    }
    return EventStream(
        engine, ticket.task_id, ticket.subscription, ending_of(ticket), headers, subagents=body.subagents
    )


@router.get(
    "/execute/replay",
    summary="Read a stream again, from any place, then follow it",
    status_code=200,
    response_class=EventStream,
    responses={**refusals(ErrorCode.TASK_NOT_FOUND, ErrorCode.INVALID_REQUEST), 200: STREAMED},
)
async def replay(
    engine: Serving,
    visit: Visiting,
    task_id: Annotated[TaskId | None, Query()] = None,
    after_seq: Annotated[int, Query(ge=0, le=LARGEST, description="Everything after this event.")] = 0,
    after: Annotated[
        int | None, Query(ge=0, le=LARGEST, description="Everything after this time (milliseconds since 1970).")
    ] = None,
    last_event_id: Annotated[
        int | None, Header(ge=0, le=LARGEST, description="As browsers send it; wins over `after_seq`.")
    ] = None,
    subagents: Annotated[bool, Query(description=SUBAGENTS)] = True,
) -> Response:
    """Sends what came after a place, then goes on live until the turn that runs has ended; at once if none runs.

    Without `task_id`, `after` alone gives the events of all tasks since that time, task by task, and ends.
    """
    if task_id is None:
        if after is None:
            raise _unfit("task_id", "is missing (only `after` can do without)")
        return PagedStream(_filtered(_everything_since(engine, visit.user_id, after), subagents))
    bind_now(task_id=task_id)
    key = ThreadKey(visit.user_id, task_id)
    since = last_event_id if last_event_id is not None else after_seq
    if after is not None and not since:
        since = await engine.brain.seq_at(key, after)
    return await _resumed(engine, key, since, subagents)


async def _resumed(engine: Engine, key: ThreadKey, since: int, subagents: bool) -> Response:
    thread = await engine.brain.thread(key)
    if thread is None:
        raise EngineError(ErrorCode.TASK_NOT_FOUND, f"There is no task {key.task_id!r}.", {"task_id": key.task_id})
    head = await engine.brain.head(key)
    if since > head:
        raise _unfit("after_seq", f"is beyond {head}, the newest event of the task")
    headers = {"X-Task-ID": header_text(key.task_id)}
    ending = await _ending(engine, key, thread)
    if ending is None:
        return PagedStream(_filtered(_pages(engine, key, since), subagents), headers)
    subscription = engine.brain.subscribe(key, since)
    return EventStream(engine, key.task_id, subscription, ending, headers, subagents=subagents)


async def _ending(engine: Engine, key: ThreadKey, thread: ThreadRecord) -> Ending | None:
    """The end of the turn that runs, or that a waiting message is about to start."""
    if thread.active_turn_id is not None:
        return TurnEnd(thread.active_turn_id)
    waiting = await engine.brain.inbox(key)
    return MessageEnd(waiting[0].message_id) if waiting else None


async def _pages(engine: Engine, key: ThreadKey, seq: int) -> AsyncIterator[list[Frame]]:
    while frames := await engine.brain.frames(key, seq, PAGE):
        seq = frames[-1].seq
        yield frames


async def _filtered(pages: AsyncIterator[list[Frame]], subagents: bool) -> AsyncIterator[list[Frame]]:
    async for frames in pages:
        yield frames if subagents else own(frames)


async def _everything_since(engine: Engine, user_id: str, after_ms: int) -> AsyncIterator[list[Frame]]:
    async for task_id in changed_since(engine.brain, user_id, after_ms):
        key = ThreadKey(user_id, task_id)
        async for frames in _pages(engine, key, await engine.brain.seq_at(key, after_ms)):
            yield frames


def _unfit(field: str, problem: str) -> EngineError:
    return EngineError(
        ErrorCode.INVALID_REQUEST, f"`{field}` {problem}.", {"fields": [{"field": field, "problem": problem}]}
    )


@router.post(
    "/execute/cancel",
    summary="Stop the turn of a task",
    response_model=CancelAnswer,
    responses=refusals(
        ErrorCode.MALFORMED_REQUEST,
        ErrorCode.INVALID_REQUEST,
        ErrorCode.TASK_NOT_FOUND,
        ErrorCode.TASK_NOT_RUNNING,
        ErrorCode.UNSUPPORTED_MEDIA_TYPE,
    ),
)
async def cancel(body: CancelBody, engine: Serving, visit: Visiting, response: Response) -> CancelAnswer:
    """Returns when the end of the turn is on the thread. What the model had said by then is kept."""
    bind_now(task_id=body.task_id)
    done = await engine.coordinator.cancel(visit.user_id, body.task_id, body.clear_inbox)
    response.headers.update(warnings(body))
    return CancelAnswer(
        task_id=done.task_id, turn_id=done.turn_id, status="cancelled", dropped_messages=done.dropped_messages
    )
