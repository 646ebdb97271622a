"""Taking a conversation in: the turn that answers it is started, resumed, or told what a person said.

A door hands over lines and wishes and gets a turn to follow. What the client will send back next time is noted here,
before the client can know it, so that the next request finds its place.
"""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple, cast

from aster.brain.doors import DoorPlace, DoorPlaceRow, PlaceKind
from aster.brain.records import ThreadKey
from aster.brain.unit import Conflict, Present
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.events import Event, HitlRequest
from aster.contracts.events.human import HitlKind
from aster.contracts.model import decode
from aster.contracts.tools import ToolDef
from aster.contracts.turn import TurnOptions
from aster.engine_core.client_tools import unfit
from aster.engine_core.engine import Engine
from aster.engine_core.orders import Follows, HitlReply, OnBusy, Order
from aster.infra.clock import now_ms
from aster.infra.ids import new_id
from aster.server.bodies import MEDIA_BLOCKS
from aster.server.doors.lines import MOST_LINES, Line, brought, fingerprints, following
from aster.server.doors.models import Chosen
from aster.server.doors.places import Begin, Reply, Resume, after_turn, anew, way_on
from aster.server.doors.turn import Following
from aster.server.visit import Visit

log = logging.getLogger("aster.doors")

MOST_INSTRUCTIONS: Final = 200_000
_ELSEWHERE: Final = frozenset(
    (ErrorCode.TASK_BUSY, ErrorCode.HITL_REQUIRED, ErrorCode.TOOL_IN_DOUBT, ErrorCode.TASK_NOT_FOUND)
)
"""Why a conversation cannot go on where it is known, and goes on as a task of its own."""


class Wishes(NamedTuple):
    """What a client wants beside an answer. `root` keeps conversations apart that are not the same person's; `after` is
    the turn that the lines come after, for a client that does not send what was before."""

    options: TurnOptions
    who: Chosen = Chosen()
    instructions: str = ""
    tools: tuple[ToolDef, ...] = ()
    own_tools: bool = True
    super_thinking: bool = False
    task_id: str | None = None
    root: str = ""
    echo: dict[str, Any] = {}
    after: str | None = None


class Admitted(NamedTuple):
    """A turn to follow, and the fingerprint of the conversation that it answers; `noting` is to be waited for before
    the client is told anything."""

    turn: Following
    fingerprint: str
    noting: "asyncio.Future[list[Event]]"


async def admit(engine: Engine, visit: Visit, lines: Sequence[Line], wishes: Wishes) -> Admitted:
    """Have a conversation go on."""
    if len(lines) > MOST_LINES:
        raise EngineError(ErrorCode.PAYLOAD_TOO_LARGE, f"Send at most {MOST_LINES} messages.")
    if sum(len(line.files) for line in lines) > MEDIA_BLOCKS:
        raise EngineError(
            ErrorCode.PAYLOAD_TOO_LARGE, f"Send at most {MEDIA_BLOCKS} files in all messages together."
        )
    if len(wishes.instructions) > MOST_INSTRUCTIONS:
        raise unfit("messages", f"has more than {MOST_INSTRUCTIONS} characters of system messages")
    prints = fingerprints(lines, wishes.root)
    known = {id(line): name for line, name in zip(lines, prints, strict=True)}
    if wishes.after is not None:
        way = await after_turn(engine.brain, visit.user_id, wishes.after, lines)
    elif (near := _near(engine, visit.user_id, lines, prints)) is not None and wishes.task_id is None:
        way = Begin(near.task_id, Follows(turn_id=near.turn_id), (), (lines[-1],), ())
    else:
        way = await way_on(engine.brain, visit.user_id, lines, prints, wishes.task_id)
    match way:
        case Resume():
            turn = await _resume(engine, visit, way)
        case Reply():
            turn = await _reply(engine, visit, way)
        case Begin():
            try:
                turn = await begin(engine, visit, way, wishes, known, prints[-1])
            except EngineError as error:
                if error.code not in _ELSEWHERE or way.named or wishes.after is not None:
                    raise
                turn = await begin(engine, visit, anew(lines), wishes, known, prints[-1])
            noting: asyncio.Future[list[Event]] = asyncio.get_running_loop().create_future()
            noting.set_result([])  # it was noted with the turn's opening
            return Admitted(turn, prints[-1], noting)
    rows = [place_row(prints[-1], turn.turn_id, "asked")]
    return Admitted(turn, prints[-1], _put(engine, ThreadKey(visit.user_id, turn.task_id), rows))


def _near(engine: Engine, user_id: str, lines: Sequence[Line], prints: Sequence[str]) -> DoorPlace | None:
    """Where the answer was given that the client says one more thing to, if that was lately; as most requests do."""
    if len(lines) < 2 or lines[-1].role != "user":
        return None
    place = engine.places.find(user_id, prints[-2])
    return place if place is not None and place.kind == "answered" else None


async def begin(
    engine: Engine, visit: Visit, way: Begin, wishes: Wishes, prints: Mapping[int, str], place: str
) -> Following:
    """Start a turn to be found under `place`; `prints` are the fingerprints of lines, by the identity of each."""
    history, made = brought(way.history), brought(way.made)
    import_id = new_id("turn") if history.messages else None
    order = Order(
        task_id=way.task_id,
        message="\n\n".join(line.text for line in way.said if line.text),
        media=tuple(file for line in way.said for file in line.files),
        on_busy=OnBusy.INTERRUPT if way.instead else OnBusy.REJECT,
        request_id=visit.request_id,
        model=wishes.who.model,
        agent=wishes.who.agent,
        direct=bool(wishes.tools) or wishes.options.output_schema is not None,
        super_thinking=wishes.super_thinking,
        unattended=True,
        follows=way.follows,
        brought=history.messages,
        brought_turn_id=import_id,
        made=made.messages,
        instructions=wishes.instructions,
        tools=wishes.tools,
        own_tools=wishes.own_tools,
        options=wishes.options,
        echo=wishes.echo,
        place=place,
    )
    ticket = await engine.coordinator.submit(visit.user_id, order)
    turn = Following(ticket.task_id, ticket.turn_id, ticket.subscription, ticket.message_id)
    if import_id is not None:
        rows = [
            place_row(prints[id(line)], import_id, "imported", end)
            for line, end in zip(way.history, history.ends, strict=True)
            if end
        ]
        _put(engine, ThreadKey(visit.user_id, way.task_id), rows)
    return turn


async def _resume(engine: Engine, visit: Visit, way: Resume) -> Following:
    """Hand the results of its calls to the turn that waits for them; what the user says beside them steers it."""
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
            )
            status, _ = await engine.coordinator.answer(visit.user_id, reply)
        if status != "resumed":
            turn.open = await _still_open(engine, visit, way.task_id, way.turn_id)
    except BaseException:
        turn.subscription.close()
        raise
    return turn


async def _reply(engine: Engine, visit: Visit, way: Reply) -> Following:
    turn = await _watched(engine, visit, way.task_id, way.turn_id)
    reply = HitlReply(
        answer="\n\n".join(line.text for line in way.said),
        request_id=way.request_id,
        resolved_by=visit.caller.key or visit.user_id,
        operator=visit.caller.operator,
    )
    try:
        status, _ = await engine.coordinator.answer(visit.user_id, reply)
        if status != "resumed":
            turn.open = await _still_open(engine, visit, way.task_id, way.turn_id)
    except BaseException:
        turn.subscription.close()
        raise
    return turn


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


async def noted(
    engine: Engine, user_id: str, admitted: Admitted, answer: Line, kind: PlaceKind, *, at_once: bool = False
) -> None:
    """Remember the conversation as the client will send it back, before it learns how the answer ends. A turn that
    was completed with an answer given at once has done so itself."""
    turn, name = admitted.turn, following(admitted.fingerprint, answer)
    engine.places.keep(user_id, DoorPlace(name, turn.task_id, turn.turn_id, None, kind))
    if at_once and kind == "answered" and not turn.segment:
        return
    row = place_row(name, turn.turn_id, kind)
    try:
        await engine.brain.append(ThreadKey(user_id, turn.task_id), None, (), rows=[row], guard=Present())
    except Conflict:
        log.info("the task of an answer is gone already")


def place_row(fingerprint: str, turn_id: str, kind: PlaceKind, messages: int | None = None) -> DoorPlaceRow:
    return DoorPlaceRow(fingerprint=fingerprint, turn_id=turn_id, messages=messages, kind=kind, created_at=now_ms())


def _put(engine: Engine, key: ThreadKey, rows: Sequence[DoorPlaceRow]) -> "asyncio.Future[list[Event]]":
    done = engine.brain.append(key, None, (), rows=rows, guard=Present())
    done.add_done_callback(_checked)
    return done


def _checked(done: "asyncio.Future[list[Event]]") -> None:
    if not done.cancelled() and done.exception() is not None:
        log.warning("a place could not be noted: %s", done.exception())
