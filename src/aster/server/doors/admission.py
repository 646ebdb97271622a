"""Taking a conversation in: the turn that answers it is started, resumed, or told what a person said.

A door hands over lines and wishes and gets a turn to follow. What the client will send back next time is noted here,
before the client can know it, so that the next request finds its place.
"""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from aster.brain.doors import DoorPlace, DoorPlaceRow, PlaceKind
from aster.brain.records import ThreadKey
from aster.brain.unit import Conflict, Present
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.events import Event
from aster.contracts.tools import ToolDef
from aster.contracts.turn import TurnOptions, TurnRequest
from aster.engine_core.client_tools import unfit
from aster.engine_core.door_places import row
from aster.engine_core.engine import Engine
from aster.engine_core.orders import Follows, OnBusy, Order
from aster.infra.ids import new_id
from aster.server.bodies import MEDIA_BLOCKS
from aster.server.doors.lines import MOST_LINES, Line, brought, fingerprints, following
from aster.server.doors.models import Chosen
from aster.server.doors.places import Again, Begin, Reply, Resume, Way, after_turn, anew, way_on
from aster.server.doors.resuming import follow_again, reply_to, resume
from aster.server.doors.retries import keyed, place_of, unheard
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
    the turn that the lines come after, for a client that does not send what was before; `key` is the same for every
    attempt of one request."""

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
    key: str = ""

    @property
    def request(self) -> TurnRequest:
        """What of them may change while a turn waits."""
        return TurnRequest(
            model=self.who.model,
            super_thinking=self.super_thinking,
            instructions=self.instructions,
            tools=self.tools,
            own_tools=self.own_tools,
            options=self.options,
        )


class Admitted(NamedTuple):
    """A turn to follow, and the fingerprint of the conversation that it answers; `request` is what another attempt of
    the same request has in common with this one."""

    turn: Following
    fingerprint: str
    request: str


class Naming(NamedTuple):
    """Where a turn is to be found, and which id it is to have."""

    place: str
    turn_id: str | None


async def admit(engine: Engine, visit: Visit, lines: Sequence[Line], wishes: Wishes) -> Admitted:
    """Have a conversation go on."""
    if len(lines) > MOST_LINES:
        raise EngineError(ErrorCode.PAYLOAD_TOO_LARGE, f"Send at most {MOST_LINES} messages.")
    if sum(len(line.files) for line in lines if not line.plain) > MEDIA_BLOCKS:
        raise EngineError(
            ErrorCode.PAYLOAD_TOO_LARGE, f"Send at most {MEDIA_BLOCKS} files in all messages together."
        )
    if len(wishes.instructions) > MOST_INSTRUCTIONS:
        raise unfit("messages", f"has more than {MOST_INSTRUCTIONS} characters of system messages")
    prints = fingerprints(lines, wishes.root)
    if not prints:
        raise unfit("messages", "has nothing that a user says")
    request = f"{prints[-1]} {wishes.after or wishes.task_id or ''}"
    if not wishes.key:
        again = await unheard(engine, visit.user_id, request)
        return Admitted(await _taken_in(engine, visit, lines, wishes, prints, again), prints[-1], request)
    async with engine.places.attempts.one(visit.user_id, wishes.key):
        named = await keyed(engine, visit.user_id, wishes.key, prints[-1], lines)
        return Admitted(await _taken_in(engine, visit, lines, wishes, prints, named), prints[-1], request)


async def _taken_in(
    engine: Engine,
    visit: Visit,
    lines: Sequence[Line],
    wishes: Wishes,
    prints: list[str],
    named: Again | str | None,
) -> Following:
    """The turn that answers: one that did so before, or a new one, with this id if it is to have one."""
    if isinstance(named, Again):
        return follow_again(engine, visit, named)
    way = await _way(engine, visit, lines, wishes, prints)
    places = (prints[-1], place_of(visit.user_id, wishes.key)) if wishes.key else (prints[-1],)
    match way:
        case Resume():
            return await resume(engine, visit, way, wishes.request, places)
        case Reply():
            turn = await reply_to(engine, visit, way, wishes.request, places)
            if not way.own:
                rows = [row(name, turn.turn_id, "asked") for name in places]
                _put(engine, ThreadKey(visit.user_id, turn.task_id), rows)
            return turn
        case Again():
            return follow_again(engine, visit, way)
        case Begin():
            known = {id(line): name for line, name in zip(lines, prints, strict=True)}
            try:
                return await begin(engine, visit, way, wishes, known, Naming(prints[-1], named))
            except EngineError as error:
                if error.code not in _ELSEWHERE or way.named or wishes.after is not None:
                    raise
                return await _elsewhere(engine, visit, lines, wishes, known, Naming(prints[-1], named))


async def _elsewhere(
    engine: Engine,
    visit: Visit,
    lines: Sequence[Line],
    wishes: Wishes,
    known: Mapping[int, str],
    naming: Naming,
) -> Following:
    """Begin as a task of its own; unless what is in the way is the same request, taken by another process."""
    if wishes.key:
        again = await keyed(engine, visit.user_id, wishes.key, naming.place, lines)
        if isinstance(again, Again):
            return follow_again(engine, visit, again)
    return await begin(engine, visit, anew(lines), wishes, known, naming)


async def _way(engine: Engine, visit: Visit, lines: Sequence[Line], wishes: Wishes, prints: list[str]) -> Way:
    if wishes.after is not None:
        return await after_turn(engine.brain, visit.user_id, wishes.after, lines)
    near = _near(engine, visit.user_id, lines, prints)
    if near is not None and wishes.task_id is None:
        return Begin(near.task_id, Follows(turn_id=near.turn_id), (), (lines[-1],), ())
    since = engine.started_at_ms
    return await way_on(engine.brain, visit.user_id, lines, prints, wishes.task_id, since)


def _near(engine: Engine, user_id: str, lines: Sequence[Line], prints: Sequence[str]) -> DoorPlace | None:
    """Where the answer was given that the client says one more thing to, if that was lately; as most requests do."""
    if len(lines) < 2 or lines[-1].role != "user":
        return None
    place = engine.places.find(user_id, prints[-2])
    return place if place is not None and place.kind == "answered" else None


async def begin(
    engine: Engine, visit: Visit, way: Begin, wishes: Wishes, prints: Mapping[int, str], naming: Naming
) -> Following:
    """Start a turn; `prints` are the fingerprints of lines, by the identity of each."""
    history, made = brought(way.history), brought(way.made)
    import_id = new_id("turn") if history.messages else None
    if way.instead and naming.turn_id is not None:  # a message that waits in the inbox would get another id
        await engine.coordinator.stop(ThreadKey(visit.user_id, way.task_id), "interrupted")
        way = way._replace(instead=False)
    order = Order(
        task_id=way.task_id,
        turn_id=naming.turn_id,
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
        place=naming.place,
    )
    ticket = await engine.coordinator.submit(visit.user_id, order)
    turn = Following(ticket.task_id, ticket.turn_id, ticket.subscription, ticket.message_id)
    if import_id is not None:
        rows = [
            row(prints[id(line)], import_id, "imported", end)
            for line, end in zip(way.history, history.ends, strict=True)
            if end
        ]
        _put(engine, ThreadKey(visit.user_id, way.task_id), rows)
    return turn


async def noted(
    engine: Engine, user_id: str, admitted: Admitted, answer: Line, kind: PlaceKind, *, at_once: bool = False
) -> None:
    """Remember the conversation as the client will send it back, before it learns how the answer ends. A turn that
    was completed with an answer given at once has done so itself."""
    turn, name = admitted.turn, following(admitted.fingerprint, answer)
    engine.places.keep(user_id, DoorPlace(name, turn.task_id, turn.turn_id, None, kind))
    if at_once and kind == "answered" and not turn.segment:
        return
    rows = [row(name, turn.turn_id, kind)]
    try:
        await engine.brain.append(ThreadKey(user_id, turn.task_id), None, (), rows=rows, guard=Present())
    except Conflict:
        log.info("the task of an answer is gone already")


def _put(engine: Engine, key: ThreadKey, rows: Sequence[DoorPlaceRow]) -> None:
    """Written before anything that is appended later, and so before the client can come back."""
    engine.brain.append(key, None, (), rows=rows, guard=Present()).add_done_callback(_checked)


def _checked(done: "asyncio.Future[list[Event]]") -> None:
    if not done.cancelled() and done.exception() is not None:
        log.warning("a place could not be noted: %s", done.exception())
