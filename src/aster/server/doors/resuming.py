"""Answering what a turn waits for: results of the calls its client runs, or what a person says.

The answer, what the client wants otherwise from there on and the place under which it finds the turn again are one
commit, so that a request that comes twice is known at any moment.
"""

from typing import Any, cast

from aster.brain.records import ThreadKey
from aster.contracts.events import HitlRequest
from aster.contracts.events.human import HitlKind
from aster.contracts.model import decode
from aster.contracts.turn import TurnRequest
from aster.engine_core import channel_state
from aster.engine_core.client_tools import check
from aster.engine_core.engine import Engine
from aster.engine_core.orders import HitlReply, OnBusy, Order
from aster.engine_core.wishes import changes
from aster.server.doors.places import Again, Reply, Resume
from aster.server.doors.turn import Following
from aster.server.visit import Visit


async def resume(
    engine: Engine, visit: Visit, way: Resume, wanted: TurnRequest, places: tuple[str, ...]
) -> Following:
    """Hand the results of its calls to the turn that waits for them; what the user says beside them steers it."""
    changed = await _changed(engine, visit, way.task_id, way.turn_id, wanted)
    turn = await _watched(engine, visit, way.task_id, way.turn_id)
    status = ""
    try:
        if way.said:
            order = Order(
                task_id=way.task_id,
                message="\n\n".join(line.text for line in way.said if line.text),
                media=tuple(file for line in way.said for file in line.files),
                on_busy=OnBusy.STEER,
                request_id=visit.request_id,
            )
            (await engine.coordinator.submit(visit.user_id, order)).subscription.close()
        for request_id, line in way.results:
            reply = HitlReply(
                answer=line.text,
                request_id=request_id,
                content_blocks=line.files,
                resolved_by=visit.caller.key or visit.user_id,
                request=changed,
                places=places,
            )
            status, _ = await engine.coordinator.answer(visit.user_id, reply)
            changed, places = None, ()
        if status != "resumed":
            turn.open = await _still_open(engine, visit, way.task_id, way.turn_id)
    except BaseException:
        turn.subscription.close()
        raise
    return turn


async def reply_to(
    engine: Engine, visit: Visit, way: Reply, wanted: TurnRequest, places: tuple[str, ...]
) -> Following:
    """Tell a turn what a person says. What a sub-agent of it asked is answered in that one's thread, and the turn goes
    on as it was."""
    changed = await _changed(engine, visit, way.task_id, way.turn_id, wanted) if way.own else None
    turn = await _watched(engine, visit, way.task_id, way.turn_id)
    reply = HitlReply(
        answer="\n\n".join(line.text for line in way.said),
        request_id=way.request_id,
        resolved_by=visit.caller.key or visit.user_id,
        operator=visit.caller.operator,
        request=changed,
        places=places if way.own else (),
    )
    try:
        status, _ = await engine.coordinator.answer(visit.user_id, reply)
        if status != "resumed":
            turn.open = await _still_open(engine, visit, way.task_id, way.turn_id)
    except BaseException:
        turn.subscription.close()
        raise
    return turn


def follow_again(engine: Engine, visit: Visit, way: Again) -> Following:
    """An answer from its beginning, to whoever asked for it a second time."""
    subscription = engine.brain.subscribe(ThreadKey(visit.user_id, way.task_id), way.after_seq)
    return Following(way.task_id, way.turn_id, subscription, segment=way.segment)


async def _changed(
    engine: Engine, visit: Visit, task_id: str, turn_id: str, wanted: TurnRequest
) -> dict[str, Any] | None:
    check(wanted, engine.connectors.tools(visit.user_id).registry)
    state = await channel_state.load(engine.brain, ThreadKey(visit.user_id, task_id), turn_id)
    return changes(state.request, wanted)


async def _still_open(engine: Engine, visit: Visit, task_id: str, turn_id: str) -> tuple[HitlRequest, ...]:
    """What a turn waits for that an answer did not resume."""
    return tuple(
        HitlRequest(
            request_id=record.request_id,
            kind=cast("HitlKind", record.kind),
            question=record.question,
            tool=record.tool,
            tool_call_id=record.tool_call_id,
            input=decode(record.input, dict[str, Any]) if record.input else None,
            options=tuple(decode(record.options, list[str])) if record.options else (),
        )
        for record in await engine.brain.pending_requests(visit.user_id, task_id)
        if record.turn_id == turn_id
    )


async def _watched(engine: Engine, visit: Visit, task_id: str, turn_id: str) -> Following:
    key = ThreadKey(visit.user_id, task_id)
    record = await engine.brain.turn(visit.user_id, turn_id)
    segment = 0 if record is None else record.segment + 1
    subscription = engine.brain.subscribe(key, await engine.brain.head(key))
    return Following(task_id, turn_id, subscription, segment=segment)
