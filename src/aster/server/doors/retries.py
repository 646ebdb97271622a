"""Requests that come twice: a client whose connection broke sends the same again, and its turn must not run twice.

With an `Idempotency-Key` this is exact: the key gives the turn its id, and no two turns have one id. Without, a request
is taken for a second one only where the first cannot have been heard by anybody: its client left before the end.
"""

import hashlib
from base64 import b32hexencode
from collections.abc import Sequence
from typing import Any, Final

from fastapi import Request

from aster.brain.doors import DoorPlace
from aster.brain.records import ThreadKey, TurnRecord
from aster.contracts.errors import EngineError
from aster.contracts.events import ThreadLifecycle, decode_event
from aster.contracts.turn import TurnStatus
from aster.engine_core.client_tools import unfit
from aster.engine_core.door_places import Unheard
from aster.engine_core.engine import Engine
from aster.infra.clock import now_ms
from aster.server.doors.lines import Line
from aster.server.doors.places import Again, given
from aster.server.doors.turn import Following

HEADER: Final = "Idempotency-Key"
STILL_MS: Final = 10_000
"""How long after its end an answer that nobody heard is given to whoever asks the same."""
_MOST_CHARS: Final = 255


def parameters(*more: dict[str, Any]) -> dict[str, Any]:
    """The headers of a door, for its reference."""
    about = "The same for every attempt of one request: a second one gets the answer of the first."
    key = {"name": HEADER, "in": "header", "required": False, "schema": {"type": "string"}, "description": about}
    return {"parameters": [key, *more]}


def key_of(request: Request) -> str:
    """The key that a client sends; empty without one."""
    key = request.headers.get(HEADER, "")
    if len(key) > _MOST_CHARS or not key.isprintable():
        raise unfit(HEADER, f"has to be printable text of up to {_MOST_CHARS} characters")
    return key


def place_of(user_id: str, key: str) -> str:
    """Where an answer to something that a turn waited for is found by its key."""
    return f"key {_digest(user_id, key, 0)}"


async def keyed(engine: Engine, user_id: str, key: str, fingerprint: str, lines: Sequence[Line]) -> Again | str:
    """What this key was used for before, or the id that its turn is to have. A turn that failed has no answer to give
    again: the next attempt has a turn of its own."""
    attempt = 0
    while True:
        turn_id = f"turn-{_digest(user_id, key, attempt)}"
        turn = await engine.brain.turn(user_id, turn_id)
        if turn is None:
            break
        if turn.status != TurnStatus.ERRORED:
            await _check_same(engine, ThreadKey(user_id, turn.task_id), turn_id, fingerprint)
            return Again(turn.task_id, turn_id, 0, turn.first_seq - 1)
        attempt += 1
    for place in await engine.brain.door_places(user_id, [place_of(user_id, key)]):
        if lines[-1].role == "user":
            return await _newest(engine, user_id, place) or turn_id
        results = {line.call_id for line in lines if line.role == "tool"}
        again = await given(engine.brain, ThreadKey(user_id, place.task_id), place.turn_id, results)
        if again is None:
            raise _reused()
        return again
    return turn_id


async def unheard(engine: Engine, user_id: str, request: str) -> Again | None:
    """The answer to the same request that was cut off, while it is being given or has just been."""
    left = engine.places.attempts.unheard(user_id, request)
    if left is None:
        return None
    turn = await engine.brain.turn(user_id, left.turn_id)
    if turn is None or turn.segment != left.segment or _over(turn):
        engine.places.attempts.heard(user_id, request)
        return None
    return Again(*left)


def _over(turn: TurnRecord) -> bool:
    """Whether nobody waits for the answer of a turn any more: it has none, was stopped, or ended a while ago."""
    if turn.status in (TurnStatus.ERRORED, TurnStatus.CANCELLED):
        return True
    return turn.ended_at is not None and now_ms() - turn.ended_at > STILL_MS


class Delivery:
    """One answer on its way to one client: whether it got there is known when the connection ends."""

    def __init__(self, engine: Engine, user_id: str, turn: Following, request: str) -> None:
        self._attempts = engine.places.attempts
        self._subscription = turn.subscription
        self._user_id = user_id
        self._request = request
        self._answer = Unheard(turn.task_id, turn.turn_id, turn.segment, turn.subscription.seq)

    def over(self, *, heard: bool) -> None:
        self._subscription.close()
        if heard:
            self._attempts.heard(self._user_id, self._request)
        else:
            self._attempts.leave(self._user_id, self._request, self._answer)


async def _check_same(engine: Engine, key: ThreadKey, turn_id: str, fingerprint: str) -> None:
    for _, data in await engine.brain.records(key, turn_id, 0):
        event = decode_event(data)
        if isinstance(event, ThreadLifecycle) and event.request is not None:
            if event.request.get("place") != fingerprint:
                raise _reused()
            return


def _reused() -> EngineError:
    return unfit(HEADER, "was used for another request; every request has to have its own")


async def _newest(engine: Engine, user_id: str, place: DoorPlace) -> Again | None:
    """The newest segment of a turn."""
    begun = [0]
    for _, data in await engine.brain.records(ThreadKey(user_id, place.task_id), place.turn_id, 0):
        event = decode_event(data)
        if isinstance(event, ThreadLifecycle) and event.segment >= len(begun):
            begun.append(event.seq)
    return Again(place.task_id, place.turn_id, len(begun) - 1, begun[-1] - 1) if len(begun) > 1 else None


def _digest(user_id: str, key: str, attempt: int) -> str:
    """In the characters of other ids, and long enough that nobody finds two with the same."""
    text = f"{user_id}\0{key}\0{attempt}".encode("utf-8", "replace")
    return b32hexencode(hashlib.blake2b(text, digest_size=20, person=b"aster-attempts").digest()).decode().lower()
