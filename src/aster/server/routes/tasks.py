"""Tasks: list, look into, read the thread of, rename, fork, delete."""

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Response

from aster.brain.fanout import PAGE
from aster.brain.protocol import Brain
from aster.brain.records import Frame, ThreadKey
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.events import EVENT_TYPES, Grade
from aster.contracts.model import encode, to_builtins
from aster.engine_core.replaying import trajectory as trajectories
from aster.server.answers import (
    DeletedTask,
    EventsPage,
    ForkAnswer,
    ListedTask,
    Pending,
    Task,
    TaskDetail,
    TaskPage,
    Turn,
    Waiting,
)
from aster.server.bodies import LARGEST, SUBAGENTS, ForkBody, PathTaskId, RenameBody, TaskId, warnings
from aster.server.errors import refusals
from aster.server.listing import cursor_text, page, read_cursor
from aster.server.visit import KEYED, Serving, Visiting

router = APIRouter(prefix="/tasks", tags=["tasks"], dependencies=KEYED)

MOST_PAGES = 20
"""How far one request looks for events of rare types; `next_after_seq` says where it stopped."""


@router.get("", summary="List tasks", response_model=TaskPage, responses=refusals(ErrorCode.INVALID_REQUEST))
async def tasks(
    engine: Serving,
    visit: Visiting,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
    before: Annotated[str | None, Query(max_length=1024, description="`next` of the page before.")] = None,
    status: Annotated[Literal["idle", "running", "suspended"] | None, Query()] = None,
    search: Annotated[str | None, Query(max_length=256, description="Text in the title or the id.")] = None,
    parent: Annotated[TaskId | None, Query(description="The tasks of this one's sub-agents and replays.")] = None,
) -> TaskPage:
    """Newest change first. The tasks of sub-agents and replays are listed with their `parent` alone."""
    place = read_cursor(before) if before else None
    found, following = await page(
        engine.brain, visit.user_id, limit=limit, before=place, status=status, search=search, parent=parent
    )
    costs = await engine.brain.costs(visit.user_id, [record.task_id for record in found])
    listed = [ListedTask(**Task.of(one).model_dump(), cost_usd=costs.get(one.task_id)) for one in found]
    return TaskPage(tasks=listed, next=cursor_text(following) if following else None)


@router.get(
    "/{task_id}",
    summary="Look into a task",
    response_model=TaskDetail,
    responses=refusals(ErrorCode.TASK_NOT_FOUND, ErrorCode.INVALID_REQUEST),
)
async def task(task_id: PathTaskId, engine: Serving, visit: Visiting) -> TaskDetail:
    """The task with its turns, its open requests to a human and the messages that wait."""
    brain, key = engine.brain, ThreadKey(visit.user_id, task_id)
    record = await brain.thread(key)
    if record is None:
        raise _unknown(task_id)
    costs = await brain.costs(visit.user_id, [task_id])
    return TaskDetail(
        **Task.of(record).model_dump(),
        cost_usd=costs.get(task_id),
        head_seq=await brain.head(key),
        turns=[Turn.of(turn) for turn in await brain.turns(key)],
        pending=[Pending.of(request) for request in await brain.pending_requests(*key)],
        inbox=[Waiting.of(row) for row in await brain.inbox(key)],
    )


@router.get(
    "/{task_id}/events",
    summary="Read a task's events page by page",
    response_model=EventsPage,
    responses=refusals(ErrorCode.TASK_NOT_FOUND, ErrorCode.INVALID_REQUEST),
)
async def events(
    task_id: PathTaskId,
    engine: Serving,
    visit: Visiting,
    after_seq: Annotated[int, Query(ge=0, le=LARGEST)] = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 200,
    types: Annotated[str | None, Query(max_length=2048, description="Only these types, comma-separated.")] = None,
    subagents: Annotated[bool, Query(description=SUBAGENTS)] = True,
) -> Response:
    """The same events as in the stream. Go on with `next_after_seq` until it is `head_seq`."""
    wanted = _wanted(types)
    brain, key = engine.brain, ThreadKey(visit.user_id, task_id)
    if await brain.thread(key) is None:
        raise _unknown(task_id)
    head = await brain.head(key)
    found, seen = await _collect(brain, key, after_seq, limit, wanted, subagents)
    joined = b",".join([item.json for item in found])
    body = b'{"events":[%s],"next_after_seq":%d,"head_seq":%d}' % (joined, seen, max(head, seen))
    return Response(body, media_type="application/json")


async def _collect(
    brain: Brain, key: ThreadKey, after_seq: int, limit: int, wanted: frozenset[str] | None, subagents: bool
) -> tuple[list[Frame], int]:
    """Events of the wanted types after a seq, and how far was looked."""
    if wanted is None and subagents:
        found = await brain.frames(key, after_seq, limit)
        return found, found[-1].seq if found else after_seq
    found: list[Frame] = []
    for _ in range(MOST_PAGES):
        frames = await brain.frames(key, after_seq, PAGE)
        for item in frames:
            after_seq = item.seq
            if (wanted is None or item.type in wanted) and (subagents or item.grade != Grade.SHOWN):
                found.append(item)
                if len(found) == limit:
                    return found, after_seq
        if len(frames) < PAGE:
            break
    return found, after_seq


def _wanted(types: str | None) -> frozenset[str] | None:
    if not types:
        return None
    wanted = frozenset(part.strip() for part in types.split(",") if part.strip())
    unknown = sorted(wanted - EVENT_TYPES.keys())
    if unknown:
        problem = f"has no such event type as {', '.join(unknown)[:200]}"
        raise EngineError(
            ErrorCode.INVALID_REQUEST, f"`types` {problem}.", {"fields": [{"field": "types", "problem": problem}]}
        )
    return wanted


@router.post(
    "/{task_id}/fork",
    summary="Fork a task at an event",
    status_code=201,
    response_model=ForkAnswer,
    responses=refusals(
        ErrorCode.MALFORMED_REQUEST,
        ErrorCode.INVALID_REQUEST,
        ErrorCode.TASK_NOT_FOUND,
        ErrorCode.TASK_EXISTS,
        ErrorCode.DRAINING,
        ErrorCode.STORAGE_UNAVAILABLE,
        ErrorCode.UNSUPPORTED_MEDIA_TYPE,
    ),
)
async def fork(
    task_id: PathTaskId, body: ForkBody, engine: Serving, visit: Visiting, response: Response
) -> ForkAnswer:
    """A new task that begins where this one stood at `seq`. This one is not touched."""
    made = await engine.tasks.fork(visit.user_id, task_id, body.seq, body.task_id)
    response.headers.update(warnings(body))
    return ForkAnswer.model_validate(to_builtins(made))


@router.patch(
    "/{task_id}",
    summary="Rename a task",
    response_model=Task,
    responses=refusals(
        ErrorCode.MALFORMED_REQUEST,
        ErrorCode.INVALID_REQUEST,
        ErrorCode.TASK_NOT_FOUND,
        ErrorCode.UNSUPPORTED_MEDIA_TYPE,
    ),
)
async def rename(
    task_id: PathTaskId, body: RenameBody, engine: Serving, visit: Visiting, response: Response
) -> Task:
    """Gives the task another title; until then it has the first words said in it."""
    renamed = await engine.tasks.rename(visit.user_id, task_id, body.title)
    response.headers.update(warnings(body))
    return Task.of(renamed)


@router.delete(
    "/{task_id}",
    summary="Delete a task",
    response_model=DeletedTask,
    responses=refusals(ErrorCode.TASK_NOT_FOUND, ErrorCode.TASK_BUSY, ErrorCode.INVALID_REQUEST),
)
async def delete(task_id: PathTaskId, engine: Serving, visit: Visiting) -> DeletedTask:
    """Takes the task, its thread and everything derived from it away for good."""
    await engine.tasks.delete(visit.user_id, task_id)
    return DeletedTask(task_id=task_id)


@router.get(
    "/{task_id}/turns/{turn_id}/trajectory",
    summary="Read the record of an ended turn",
    responses={
        **refusals(ErrorCode.NOT_FOUND, ErrorCode.TASK_NOT_FOUND, ErrorCode.INVALID_REQUEST),
        200: {
            "description": "The turn as one JSON object: messages, model and tool calls, what it was shown (by seq), "
            "verdicts, memory, cost, feedback.",
            "content": {"application/json": {"schema": {"type": "object"}}},
        },
    },
)
async def trajectory(task_id: PathTaskId, turn_id: str, engine: Serving, visit: Visiting) -> Response:
    """Written when a turn ends; a turn that still runs has none. What people say of it is in it from then on."""
    key = ThreadKey(visit.user_id, task_id)
    if await engine.brain.thread(key) is None:
        raise _unknown(task_id)
    found = await trajectories.read(engine.brain, key, turn_id)
    if found is None:
        raise EngineError(
            ErrorCode.NOT_FOUND,
            "There is no trajectory of that turn. It is written when the turn ends.",
            {"task_id": task_id, "turn_id": turn_id},
        )
    return Response(encode(found), media_type="application/json")


def _unknown(task_id: str) -> EngineError:
    return EngineError(ErrorCode.TASK_NOT_FOUND, f"There is no task {task_id!r}.", {"task_id": task_id})
