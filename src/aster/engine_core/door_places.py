"""Fingerprints of conversations that clients send whole, and the places that a turn leaves under them.

A door's client comes back with its messages and the answer as it saw it. A turn that is answered in one go writes both
places itself, with its opening and with its end, so that they cost no commit of their own; what a door showed
otherwise, the door notes.
"""

import hashlib
from collections import OrderedDict
from collections.abc import Sequence
from typing import Final

from aster.brain.doors import DoorPlace, DoorPlaceRow, PlaceKind
from aster.brain.records import ThreadKey
from aster.contracts.blocks import TextBlock
from aster.contracts.events import Phase
from aster.contracts.messages import Message
from aster.contracts.model import encode
from aster.contracts.turn import TurnState
from aster.infra.clock import now_ms

BETWEEN: Final = "\n\n"
"""What stands between two blocks of text in an answer that is one text."""


class Recent:
    """The places that conversations ended with last, so that going on with one need not look them up. The brain has
    them all; what is here goes with its task."""

    def __init__(self, capacity: int = 10_000) -> None:
        self._capacity = capacity
        self._places: OrderedDict[tuple[str, str], DoorPlace] = OrderedDict()

    def keep(self, user_id: str, place: DoorPlace) -> None:
        self._places[user_id, place.fingerprint] = place
        self._places.move_to_end((user_id, place.fingerprint))
        if len(self._places) > self._capacity:
            self._places.popitem(last=False)

    def find(self, user_id: str, fingerprint: str) -> DoorPlace | None:
        return self._places.get((user_id, fingerprint))

    def forget(self, key: ThreadKey) -> None:
        """A task is gone."""
        gone = [name for name, place in self._places.items() if (name[0], place.task_id) == key]
        for name in gone:
            del self._places[name]


def following(
    before: str, role: str, text: str, *, files: Sequence[str] = (), calls: Sequence[str] = (), call_id: str = ""
) -> str:
    """The fingerprint of a conversation after one more message; the space around a text does not count."""
    said = text.replace("\r\n", "\n").strip()
    return hashlib.blake2b(encode((before, role, said, files, sorted(calls), call_id)), digest_size=16).hexdigest()


def asked(state: TurnState) -> tuple[DoorPlaceRow, ...]:
    """Where a turn is found by the messages it answers."""
    name = state.request.place
    return (_row(name, state, "asked"),) if name else ()


def answered(state: TurnState, messages: Sequence[Message], phase: Phase) -> tuple[DoorPlaceRow, ...]:
    """Where it is found by those and its answer, if that was given in one go."""
    name = state.request.place
    if not name or state.segment or phase is not Phase.COMPLETED:
        return ()
    blocks = (block for message in messages if message.role == "assistant" for block in message.content)
    text = BETWEEN.join(block.text for block in blocks if isinstance(block, TextBlock) and block.text)
    return (_row(following(name, "assistant", text), state, "answered"),)


def _row(fingerprint: str, state: TurnState, kind: PlaceKind) -> DoorPlaceRow:
    return DoorPlaceRow(
        fingerprint=fingerprint,
        turn_id=state.turn_id,
        messages=None,
        kind=kind,
        created_at=now_ms(),
    )
