"""Where a conversation that a client sends whole goes on: on which task, after which turn, with what that is new.

The longest known beginning wins. What follows it is new: a message, results of calls, or history nobody here has seen,
which is brought along. Nothing is said twice and nothing is destroyed: an edited history follows an earlier place of
the same task. A task that the client names is continued where it stands, whatever history comes with it.
"""

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from aster.brain.doors import DoorPlace
from aster.brain.protocol import Brain
from aster.brain.records import HitlRecord, ThreadKey
from aster.contracts.blocks import text_of
from aster.contracts.events import HitlRequest, HitlResolved, Phase, ThreadLifecycle, decode_event
from aster.contracts.messages import Message
from aster.contracts.model import decode
from aster.engine_core.client_tools import KIND, unfit
from aster.engine_core.orders import Follows
from aster.infra.ids import new_id
from aster.server.doors.lines import Line

_ON_THE_WAY = frozenset({"running", "suspended"})


class Begin(NamedTuple):
    """A turn of its own: after `follows` (None: the newest turn), with `history` brought along, for what `said` says,
    beginning with what was `made` of it already. `instead`: a turn that the client no longer waits for ends first;
    `named`: the client chose the task."""

    task_id: str
    follows: Follows | None
    history: tuple[Line, ...]
    said: tuple[Line, ...]
    made: tuple[Line, ...]
    instead: bool = False
    named: bool = False


class Resume(NamedTuple):
    """A turn waits for these results of calls that its client runs; `said` is what came with them."""

    task_id: str
    turn_id: str
    results: tuple[tuple[str, Line], ...]
    said: tuple[Line, ...] = ()


class Reply(NamedTuple):
    """A turn waits for a person, and this is what the person says; `own`: it asks itself, not one of its sub-agents."""

    task_id: str
    turn_id: str
    request_id: str
    said: tuple[Line, ...]
    own: bool = True


class Again(NamedTuple):
    """This was asked before, and the answer is that of a turn's `segment`, which begins after `after_seq`."""

    task_id: str
    turn_id: str
    segment: int
    after_seq: int


Way: TypeAlias = Begin | Resume | Reply | Again


async def way_on(
    brain: Brain, user_id: str, lines: Sequence[Line], prints: list[str], task_id: str | None, since: int
) -> Way:
    """Where the conversation goes on; `since` is when this process began."""
    lines = tuple(lines)
    found = await brain.door_places(user_id, prints) if prints else []
    known = {place.fingerprint: place for place in found}
    last = known.get(prints[-1]) if prints else None
    again = None if last is None else await _interrupted(brain, user_id, last, lines, since)
    if again is not None and task_id in (None, again.task_id):
        return again
    if task_id is not None:
        known = {name: place for name, place in known.items() if place.task_id == task_id}
        return await _named(brain, ThreadKey(user_id, task_id), lines, [known.get(name) for name in prints])
    for count in range(len(lines), 0, -1):
        place = known.get(prints[count - 1])
        way = None if place is None else await _from(brain, user_id, place, lines[count:])
        if way is not None:
            return way
    return anew(lines)


async def after_turn(brain: Brain, user_id: str, turn_id: str, lines: Sequence[Line]) -> Way:
    """How it goes on after a turn that the client names, with these lines alone."""
    turn = await brain.turn(user_id, turn_id)
    if turn is None:
        raise unfit("previous_response_id", "names no response that is kept here")
    key, rest = ThreadKey(user_id, turn.task_id), tuple(lines)
    if rest and rest[0].role == "tool":
        resumed = await _resumed(brain, key, turn_id, rest)
        if resumed is None:
            raise unfit("input", "has results of calls that the response before does not wait for")
        return resumed
    if turn.status == "suspended" and _speaks(rest):
        open_request = await _open(brain, key, turn_id)
        if open_request is not None:
            return _told(key, turn_id, open_request, rest)
    way = _begun(turn.task_id, Follows(turn_id=turn_id), rest)
    return way._replace(instead=turn.status in _ON_THE_WAY)


def anew(lines: Sequence[Line]) -> Begin:
    """A task of its own, with all of the history brought along."""
    return _begun(new_id("task"), None, lines)


async def _from(brain: Brain, user_id: str, place: DoorPlace, rest: tuple[Line, ...]) -> Way | None:
    """How it goes on from a known place; None when what comes after does not fit there."""
    whole = Follows(turn_id=place.turn_id, messages=place.messages)
    if place.kind in ("answered", "imported"):
        spoken = any(line.role == "user" for line in rest)
        return _begun(place.task_id, whole, rest) if spoken else None
    if place.kind == "deleted" or not rest:
        return None
    turn = await brain.turn(user_id, place.turn_id)
    if turn is None:
        return None
    going = turn.status in _ON_THE_WAY
    key = ThreadKey(user_id, place.task_id)
    if place.kind == "called" and rest[0].role == "tool":
        return await _resumed(brain, key, place.turn_id, rest) if going else None
    if place.kind == "waiting" and turn.status == "suspended" and _speaks(rest):
        open_request = await _open(brain, key, place.turn_id)
        if open_request is not None:
            return _told(key, place.turn_id, open_request, rest)
    if place.kind == "asked" and rest[0].role == "assistant":
        if rest[0].calls:
            return None
        if not going and not await _stub(brain, key, place.turn_id, rest[0]):
            spoken = any(line.role == "user" for line in rest)
            return _begun(place.task_id, Follows(turn_id=place.turn_id, messages=1), rest) if spoken else None
        rest = rest[1:]
    if not _speaks(rest):
        return None
    return Begin(place.task_id, whole, (), rest, (), instead=going)


async def _named(brain: Brain, key: ThreadKey, lines: tuple[Line, ...], places: list[DoorPlace | None]) -> Way:
    """How a task goes on that the client chose: where it stands, with what it does not have yet."""
    thread = await brain.thread(key)
    if thread is None:
        return _begun(key.task_id, None, lines)._replace(named=True)
    tail, active = _tail(lines), thread.active_turn_id
    if tail and tail[0].role == "tool":
        resumed = None if active is None else await _resumed(brain, key, active, tail)
        if resumed is None:
            raise unfit("messages", "has results of tool calls that the task does not wait for")
        return resumed
    if thread.status == "suspended" and thread.active_turn_id is not None:
        open_request = await _open(brain, key, thread.active_turn_id)
        if open_request is not None and _speaks(tail):
            return _told(key, thread.active_turn_id, open_request, tail)
    had = max((at + 1 for at, place in enumerate(places[:-1]) if place is not None), default=0)
    way = _begun(key.task_id, None, lines[had:])
    latest = places[had - 1] if had else None
    left = latest is not None and latest.kind in ("asked", "called") and latest.turn_id == thread.active_turn_id
    return way._replace(history=(), instead=left, named=True)


async def _resumed(brain: Brain, key: ThreadKey, turn_id: str, rest: tuple[Line, ...]) -> Resume | Again | None:
    """How a turn goes on with results: it waits for them, or had them before and has gone on already."""
    waiting = {
        request.tool_call_id: request.request_id
        for request in await brain.pending_requests(key.user_id, key.task_id)
        if request.kind == KIND and request.turn_id == turn_id
    }
    answers = {line.call_id: line for line in rest if line.role == "tool"}
    after = tuple(line for line in rest if line.role != "tool")
    if any(line.role != "user" for line in after):
        return None
    if not any(call_id in answers for call_id in waiting):
        return await given(brain, key, turn_id, set(answers))
    missing = [call_id for call_id in waiting if call_id not in answers]
    if missing:
        raise unfit("messages", f"has no result for the tool call {missing[0]!r}")
    results = tuple((request_id, answers[call_id]) for call_id, request_id in waiting.items() if call_id)
    return Resume(key.task_id, turn_id, results, after)


async def given(brain: Brain, key: ThreadKey, turn_id: str, call_ids: set[str]) -> Again | None:
    """What a turn went on with when it had got the results of these calls."""
    asked: set[str] = set()
    given, last, rests = False, 0, 0
    for _, data in await brain.records(key, turn_id, 0):
        event = decode_event(data)
        last = event.seq
        match event:
            case HitlRequest(request_id=request_id, tool_call_id=call_id, kind=kind):
                asked |= {request_id} if kind == KIND and call_id in call_ids else set()
            case HitlResolved(request_id=request_id):
                given = given or request_id in asked
            case ThreadLifecycle(phase=Phase.RESUMED, segment=segment) if given:
                return Again(key.task_id, turn_id, segment, last - 1)
            case ThreadLifecycle(phase=Phase.SUSPENDED):
                rests += 1
            case _:
                pass
    return Again(key.task_id, turn_id, rests, last) if given else None


async def _interrupted(
    brain: Brain, user_id: str, place: DoorPlace, lines: Sequence[Line], since: int
) -> Again | None:
    """The turn that was asked this before, if this process took it over from one that ended: nobody can be listening to
    it, so whoever asks is its client. Of a turn that began here it is known whether its client left."""
    turn = await brain.turn(user_id, place.turn_id) if place.kind == "asked" else None
    if turn is None or turn.status != "running" or turn.segment or turn.started_at >= since:
        return None
    begun = await brain.records(ThreadKey(user_id, place.task_id), turn.turn_id, 0)
    started = decode_event(begun[0][1]) if begun else None
    follows = isinstance(started, ThreadLifecycle) and started.follows_turn_id is not None
    mine = turn.owner is None or turn.owner == brain.replica
    if not mine or follows == all(line.role == "user" for line in lines):
        return None  # what was said in the middle of a conversation is not the beginning of another
    return Again(place.task_id, turn.turn_id, 0, turn.first_seq - 1)


def _told(key: ThreadKey, turn_id: str, request: HitlRecord, said: tuple[Line, ...]) -> Reply:
    return Reply(key.task_id, turn_id, request.request_id, said, own=request.turn_id == turn_id)


async def _open(brain: Brain, key: ThreadKey, turn_id: str) -> HitlRecord | None:
    pending = await brain.pending_requests(key.user_id, key.task_id)
    return next((request for request in pending if _is_of(request, key, turn_id) and request.kind != KIND), None)


def _is_of(request: HitlRecord, key: ThreadKey, turn_id: str) -> bool:
    """Whether a turn asks, or one of the sub-agents that work for its task."""
    return request.turn_id == turn_id or request.task_id != key.task_id


async def _stub(brain: Brain, key: ThreadKey, turn_id: str, line: Line) -> bool:
    """Whether a line is what the client saw of an answer before it left: the beginning of it."""
    turns = (await brain.way_back(key, turn_id, None)).turns
    messages = decode(turns[0].messages, list[Message]) if turns else []
    whole = "\n\n".join(text_of(m.content).strip() for m in messages if m.role == "assistant")
    return whole.startswith(line.text.strip())


def _speaks(rest: Sequence[Line]) -> bool:
    return bool(rest) and all(line.role == "user" for line in rest)


def _tail(lines: tuple[Line, ...]) -> tuple[Line, ...]:
    """What comes after the last thing the assistant said."""
    last = max((at for at, line in enumerate(lines) if line.role == "assistant"), default=-1)
    return lines[last + 1 :]


def _begun(task_id: str, follows: Follows | None, rest: Sequence[Line]) -> Begin:
    """Lines apart: history, the newest that a person says, and the calls made since, each with its results."""
    lines = [line for line in rest if not line.empty]
    end = len(lines)
    while end and lines[end - 1].role != "user":
        end -= 1
    start = end
    while start and lines[start - 1].role == "user":
        start -= 1
    made = tuple(lines[end:])
    if start == end:
        raise unfit("messages", "has nothing that a user says")
    if made and made[-1].role != "tool":
        raise unfit("messages", "has to end with what a user says or with the results of tool calls")
    return Begin(task_id, follows, tuple(lines[:start]), tuple(lines[start:end]), made)
