"""Runtime tasks: the commands and agents that work behind turns, over all tasks of a user."""

from typing import Annotated, Any, Final

from fastapi import APIRouter, Header, Path, Query, Response

from aster.brain.runtime import RuntimeKind, RuntimeShow
from aster.contracts.errors import ErrorCode
from aster.engine_core.engine import Engine
from aster.engine_core.runtime.desk import Following, RuntimeDesk
from aster.server.bodies import LARGEST, TaskId
from aster.server.errors import refusals
from aster.server.runtime_answers import RuntimeOutput, RuntimePage, RuntimeTaskAnswer, name_of, place_of
from aster.server.runtime_stream import RuntimeStream
from aster.server.sse import MEDIA_TYPE
from aster.server.visit import KEYED, Serving, Visit, Visiting

router = APIRouter(prefix="/runtime", tags=["work"], dependencies=KEYED)

PAGE_CHARS: Final = 30_000
MOST_CHARS: Final = 200_000
Id = Annotated[str, Path(max_length=256, description="The task's id: `bg_…` of a command, the task of an agent.")]
Offset = Annotated[int, Query(ge=0, le=LARGEST, description="From this character on.")]
FOUND = (ErrorCode.INVALID_REQUEST, ErrorCode.NOT_FOUND)
_STREAMED: Final[dict[str, Any]] = {
    "description": "Server-sent events. `runtime_output` has what was said (`id`, `offset`, `next_offset`, `text`), and"
    " its own `id` is `next_offset`; `runtime_status` has the task at the beginning and when it stalls or goes on;"
    " `runtime_end` has it at its end, and the stream is over. `heartbeat` and `reconnect` are those of other streams.",
    "content": {MEDIA_TYPE: {"schema": {"type": "string"}}},
}


def _desk(engine: Engine, visit: Visit) -> RuntimeDesk:
    return RuntimeDesk(engine.services, visit.user_id)


@router.get(
    "", summary="List runtime tasks", response_model=RuntimePage, responses=refusals(ErrorCode.INVALID_REQUEST)
)
async def list_runtime(
    engine: Serving,
    visit: Visiting,
    status: Annotated[RuntimeShow | None, Query(description="`active` is what has not ended.")] = None,
    task_id: Annotated[TaskId | None, Query(description="Only those that work for this task.")] = None,
    kind: RuntimeKind | None = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    after: Annotated[str | None, Query(max_length=300, description="`next` of the page before.")] = None,
) -> RuntimePage:
    """The newest first, over all your tasks; those that have ended too."""
    place = None if after is None else place_of(after)
    found = await _desk(engine, visit).tasks(
        limit=limit + 1, status=status, task_id=task_id, kind=kind, after=place
    )
    more = name_of(found[limit - 1]) if len(found) > limit else None
    return RuntimePage(tasks=[RuntimeTaskAnswer.of(record) for record in found[:limit]], next=more)


@router.get(
    "/{runtime_id}", summary="Show a runtime task", response_model=RuntimeTaskAnswer, responses=refusals(*FOUND)
)
async def show_runtime(runtime_id: Id, engine: Serving, visit: Visiting) -> RuntimeTaskAnswer:
    """As it stands now, on whichever replica it runs."""
    return RuntimeTaskAnswer.of(await _desk(engine, visit).task(runtime_id))


@router.get(
    "/{runtime_id}/output",
    summary="Read what a runtime task has said",
    response_model=RuntimeOutput,
    responses=refusals(*FOUND),
)
async def runtime_output(
    runtime_id: Id,
    engine: Serving,
    visit: Visiting,
    offset: Offset = 0,
    limit: Annotated[int, Query(ge=1, le=MOST_CHARS, description="At most so many characters.")] = PAGE_CHARS,
) -> RuntimeOutput:
    """A page of it, while it runs and afterwards. Of an agent it is its last words; what it does meanwhile is on the
    thread of its own task."""
    return RuntimeOutput.of(await _desk(engine, visit).output(runtime_id, offset, limit), offset)


@router.get(
    "/{runtime_id}/stream",
    summary="Follow what a runtime task says",
    status_code=200,
    response_class=RuntimeStream,
    responses={**refusals(*FOUND), 200: _STREAMED},
)
async def follow_runtime(
    runtime_id: Id,
    engine: Serving,
    visit: Visiting,
    offset: Offset = 0,
    last_event_id: Annotated[
        int | None, Header(ge=0, le=LARGEST, description="As browsers send it; wins over `offset`.")
    ] = None,
) -> Response:
    """Everything from a character on, then what comes, until it has ended. Come back with the `id` of the last
    frame."""
    desk = _desk(engine, visit)
    position = offset if last_event_id is None else last_event_id
    return RuntimeStream(engine, Following(desk, await desk.task(runtime_id), position, PAGE_CHARS))


@router.post(
    "/{runtime_id}/kill", summary="End a runtime task", response_model=RuntimeTaskAnswer, responses=refusals(*FOUND)
)
async def kill_runtime(runtime_id: Id, engine: Serving, visit: Visiting) -> RuntimeTaskAnswer:
    """With everything it has started. Answers when it has ended, or after ten seconds as it stands then; one that has
    ended already stays as it ended."""
    return RuntimeTaskAnswer.of(await _desk(engine, visit).kill(runtime_id))
