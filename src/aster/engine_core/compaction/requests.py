"""Compaction on request of a person: at once for a task that rests, before the next model call for one that runs.

For a task that rests it is a commit like any other, guarded so that no turn begins meanwhile with the old view.
"""

import msgspec

from aster.brain.records import ThreadKey, ThreadRecord
from aster.brain.unit import Conflict, Guard, Idle, Running, Waiting
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.events import CompactionEvent, CompactionRequested, HookRan
from aster.contracts.llm import LLMResponse, ModelRequest
from aster.contracts.messages import Message
from aster.engine_core import errands
from aster.engine_core.boundary import Boundary
from aster.engine_core.compaction import job as jobs
from aster.engine_core.compaction.gauge import Gauge
from aster.engine_core.compaction.job import DEEPEST, Job
from aster.engine_core.compaction.orchestrator import batch_chars, observe, record
from aster.engine_core.context.layers import instructions
from aster.engine_core.context.tokens import request_tokens, window_of
from aster.engine_core.fold import apply
from aster.engine_core.history import Place
from aster.engine_core.hooks.points import minded
from aster.engine_core.hooks.settings import HookEvent
from aster.engine_core.live import LiveTurns
from aster.engine_core.services import Services
from aster.herald.profiles import output_limit

_TRIES = 3


async def compact(
    services: Services, live: LiveTurns, key: ThreadKey, thread: ThreadRecord, focus: str
) -> CompactionEvent | None:
    """Compact a task; None when its turn will do it as soon as it can."""
    focus = services.secrets.clean(focus, "person").strip()
    wanted = CompactionRequested(by="person", focus=focus or None)
    for _ in range(_TRIES):
        running = live.get(key)
        try:
            if running is not None and running.turn is not None:
                apply(running.turn.state, wanted)
                await _leave(services, key, running.turn_id, wanted, Running(running.turn_id))
                return None
            if thread.status == "suspended" and thread.active_turn_id is not None:
                await _leave(services, key, thread.active_turn_id, wanted, Waiting(thread.active_turn_id))
                return None
            if thread.status == "idle" and running is None:
                return await _at_rest(services, key, thread, focus)
        except Conflict:
            if running is not None:
                await running.gone.wait()
        thread = await services.brain.thread(key) or thread
    raise EngineError(
        ErrorCode.TASK_BUSY, "A turn of this task begins or ends just now. Try again.", {"task_id": key.task_id}
    )


async def _leave(
    services: Services, key: ThreadKey, turn_id: str, wanted: CompactionRequested, guard: Guard
) -> None:
    await services.brain.append(key, turn_id, [wanted], guard=guard)


async def _at_rest(services: Services, key: ThreadKey, thread: ThreadRecord, focus: str) -> CompactionEvent:
    tip = thread.tip_turn_id
    messages = await services.history.load(key, Place(tip))
    if tip is None or not messages:
        raise EngineError(
            ErrorCode.INVALID_REQUEST, "Nothing was said in this task yet; there is nothing to compact."
        )
    ran: list[HookRan] = []
    job = _job(services, key, tuple(messages), focus, ran)
    try:
        made = await jobs.done(job, services)
    except EngineError:
        if ran:
            await services.brain.append(key, None, ran)
        raise
    assert made is not None, "on request it is done or has failed"
    covers = (await services.brain.way_back(key, tip, None)).turns[0].message_count
    event, rows = record(job, made, tip, covers)
    event = msgspec.structs.replace(event, of_turn_id=tip)
    await services.brain.append(key, None, [*ran, event], rows=rows, guard=Idle())
    services.history.forget(key)
    observe(services, event)
    return event


def _job(services: Services, key: ThreadKey, messages: tuple[Message, ...], focus: str, ran: list[HookRan]) -> Job:
    settings = services.settings
    request = services.herald.assigned(
        ModelRequest(
            model="",
            system=instructions(services.herald.endpoint, settings),
            messages=(),
            tools=services.connectors.tools(key.user_id).registry.definitions,
            max_tokens=settings.max_tokens,
        )
    )
    window, frame = window_of(request.model, settings), request_tokens(request)
    usable = window - min(output_limit(request.model, settings.max_tokens, None), window // 2)
    full = Gauge(frame, usable, window, 1.0)

    async def ask(asked: ModelRequest) -> LLMResponse:
        return await errands.run(services, key, asked)

    async def consent() -> list[str]:
        wishes = [focus] if focus else []
        if HookEvent.PRE_COMPACT not in services.hooks:
            return wishes
        payload = {"user_id": key.user_id, "task_id": key.task_id, "trigger": "requested", "focus": focus or None}
        heard = await services.hooks.ask(HookEvent.PRE_COMPACT, payload)
        ran.extend(heard.ran)
        return [*wishes, *minded(heard)]

    return Job(
        messages=messages,
        active=frozenset(),
        boundary=Boundary.of(messages[0].id or ""),
        trigger="requested",
        level=DEEPEST,
        frame=frame,
        target=full.target(frame),
        batch_chars=batch_chars(full),
        ratio=full.ratio,
        consent=consent,
        ask=ask,
    )
