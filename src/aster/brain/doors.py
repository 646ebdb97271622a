"""Places of conversations that clients send back whole: found by the fingerprint of the messages up to there.

A fingerprint is made by the door that took the messages; the brain only knows where it leads.
"""

from typing import ClassVar, Literal, NamedTuple, TypeAlias

from aster.brain.records import Row

PlaceKind: TypeAlias = Literal["asked", "answered", "called", "waiting", "imported", "deleted"]
"""What the conversation ends with there: a message that a turn took, its answer, calls that the client runs, a
question to a person, or a message that the client brought along. A `deleted` one leads nowhere any more."""


class DoorPlaceRow(Row):
    """After the first `messages` messages of a turn (None: all of them)."""

    table: ClassVar[str] = "door_places"
    key: ClassVar[tuple[str, ...]] = ("user_id", "fingerprint")

    fingerprint: str
    turn_id: str
    messages: int | None
    kind: PlaceKind
    created_at: int


class DoorPlace(NamedTuple):
    """A known place, and the task it is in."""

    fingerprint: str
    task_id: str
    turn_id: str
    messages: int | None
    kind: PlaceKind
