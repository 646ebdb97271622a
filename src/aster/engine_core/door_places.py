"""Fingerprints of conversations that clients send whole, and the places that a turn leaves under them.

A door's client comes back with its messages and the answer as it saw it. A turn that is answered in one go writes both
places itself, with its opening and with its end, so that they cost no commit of their own; what a door showed
otherwise, the door notes.
"""

import hashlib
from asyncio import Lock
from collections import OrderedDict
from collections.abc import Sequence
from typing import Final, NamedTuple
from weakref import WeakValueDictionary

from aster.brain.doors import DoorPlace, DoorPlaceRow, PlaceKind
from aster.brain.records import Row, ThreadKey
from aster.contracts.blocks import TextBlock
from aster.contracts.events import Phase
from aster.contracts.messages import Message
from aster.contracts.model import encode
from aster.contracts.turn import TurnState
from aster.engine_core.orders import HitlReply
from aster.infra.clock import now_ms

BETWEEN: Final = "\n\n"
"""What stands between two blocks of text in an answer that is one text."""


class Unheard(NamedTuple):
    """An answer that its client left before the end: of a turn's `segment`, which begins after `after_seq`."""

    task_id: str
    turn_id: str
    segment: int
    after_seq: int


class Attempts:
    """What this process knows of requests that may come a second time: whose client is gone, which only the process
    knows that the client was connected to, and which are just being taken in. The brain has what became of them."""

    def __init__(self, capacity: int = 10_000) -> None:
        self._capacity = capacity
        self._unheard: OrderedDict[tuple[str, str], Unheard] = OrderedDict()
        self._locks: WeakValueDictionary[tuple[str, str], Lock] = WeakValueDictionary()

    def one(self, user_id: str, key: str) -> Lock:
        """To be held while a request with a key is taken in, so that a second one finds the turn of the first."""
        lock = self._locks.get((user_id, key))
        if lock is None:
            lock = self._locks[user_id, key] = Lock()
        return lock

    def leave(self, user_id: str, request: str, answer: Unheard) -> None:
        """The client of an answer to this request is gone."""
        self._unheard[user_id, request] = answer
        if len(self._unheard) > self._capacity:
            self._unheard.popitem(last=False)

    def unheard(self, user_id: str, request: str) -> Unheard | None:
        return self._unheard.get((user_id, request))

    def heard(self, user_id: str, request: str) -> None:
        """An answer has been given, or nobody will ask for it again."""
        self._unheard.pop((user_id, request), None)


class Recent:
    """The places that conversations ended with last, so that going on with one need not look them up. The brain has
    them all; what is here goes with its task."""

    def __init__(self, capacity: int = 10_000) -> None:
        self.attempts = Attempts()
        self._capacity = capacity
        self._places: OrderedDict[tuple[str, str], DoorPlace] = OrderedDict()
        self._of: dict[ThreadKey, set[tuple[str, str]]] = {}

    def keep(self, user_id: str, place: DoorPlace) -> None:
        name = user_id, place.fingerprint
        self._drop(name)
        self._places[name] = place
        self._of.setdefault(ThreadKey(user_id, place.task_id), set()).add(name)
        if len(self._places) > self._capacity:
            self._drop(next(iter(self._places)))

    def find(self, user_id: str, fingerprint: str) -> DoorPlace | None:
        return self._places.get((user_id, fingerprint))

    def forget(self, key: ThreadKey) -> None:
        """A task is gone, or goes on elsewhere."""
        for name in self._of.pop(key, ()):
            del self._places[name]

    def clear(self) -> None:
        self._places.clear()
        self._of.clear()

    def _drop(self, name: tuple[str, str]) -> None:
        place = self._places.pop(name, None)
        if place is None:
            return
        key = ThreadKey(name[0], place.task_id)
        self._of[key].discard(name)
        if not self._of[key]:
            del self._of[key]


def following(
    before: str, role: str, text: str, *, files: Sequence[str] = (), calls: Sequence[str] = (), call_id: str = ""
) -> str:
    """The fingerprint of a conversation after one more message, with its `calls` in order of their ids; the space
    around a text does not count."""
    said = text.replace("\r\n", "\n").strip()
    return hashlib.blake2b(encode((before, role, said, files, calls, call_id)), digest_size=16).hexdigest()


def asked(state: TurnState) -> tuple[DoorPlaceRow, ...]:
    """Where a turn is found by the messages it answers."""
    name = state.request.place
    return (row(name, state.turn_id, "asked"),) if name else ()


def replied(reply: HitlReply, turn_id: str) -> list[Row]:
    """Where a turn is found by the messages that answered what it waited for."""
    return [row(name, turn_id, "asked") for name in reply.places]


def answered(state: TurnState, messages: Sequence[Message], phase: Phase) -> tuple[DoorPlaceRow, ...]:
    """Where it is found by those and its answer, if that was given in one go."""
    name = state.request.place
    if not name or state.segment or phase is not Phase.COMPLETED:
        return ()
    blocks = (block for message in messages if message.role == "assistant" for block in message.content)
    text = BETWEEN.join(block.text for block in blocks if isinstance(block, TextBlock) and block.text)
    return (row(following(name, "assistant", text), state.turn_id, "answered"),)


def row(fingerprint: str, turn_id: str, kind: PlaceKind, messages: int | None = None) -> DoorPlaceRow:
    return DoorPlaceRow(fingerprint=fingerprint, turn_id=turn_id, messages=messages, kind=kind, created_at=now_ms())
