"""A unit: what is committed together or not at all, and the condition under which it may be.

Guards are checked by the writer in commit order, so they are compare-and-set: of two callers with the same
guard one wins and the other gets `Conflict`. A deed goes further: it looks at rows, changes them, and says what is to
be told of it on the thread, all in the commit of its unit.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any, TypeAlias

from aster.brain.records import Row, ThreadKey
from aster.contracts.events import Event


@dataclass(frozen=True, slots=True)
class Idle:
    """The thread has no turn that runs or waits (a thread that does not exist yet is idle), and none has begun since
    the epoch at which it was looked at, if that is given."""

    since: int | None = None


@dataclass(frozen=True, slots=True)
class Absent:
    """The thread does not exist yet."""


@dataclass(frozen=True, slots=True)
class Owned:
    """This turn is the thread's active one and runs, and nobody has taken it from this process; otherwise whoever
    writes has lost it."""

    turn_id: str


@dataclass(frozen=True, slots=True)
class Running:
    """This turn is the thread's active one and runs, wherever."""

    turn_id: str


@dataclass(frozen=True, slots=True)
class Left:
    """This turn is the thread's active one and runs, and nobody has taken it since this epoch."""

    turn_id: str
    epoch: int


@dataclass(frozen=True, slots=True)
class Waiting:
    """This turn is the thread's active one and is suspended."""

    turn_id: str


@dataclass(frozen=True, slots=True)
class Unanswered:
    """This request to a person is still open."""

    request_id: str


@dataclass(frozen=True, slots=True)
class Present:
    """The thread exists."""


@dataclass(frozen=True, slots=True)
class Titled:
    """The thread exists and is still called this."""

    title: str


Guard: TypeAlias = Idle | Absent | Owned | Running | Left | Waiting | Unanswered | Present | Titled


Deed: TypeAlias = Callable[[Any], Sequence[Event]]
"""Called by the writer with its connection, alone in a transaction: compares and sets, and returns the events that
tell of it, which stand before the others of its unit. When it raises `EngineError`, nothing of the unit is written and
whoever waits for it gets that. It may be called again when the commit did not go through. An event that names another
task is told on the thread of that one, if there is such a thread; the unit names those threads (`beside`)."""


class Conflict(Exception):
    """A guard did not hold; nothing of the unit was written."""

    def __init__(self, guard: Guard, status: str, active_turn_id: str | None) -> None:
        super().__init__(f"{guard} does not hold: the thread is {status}")
        self.guard = guard
        self.status = status
        self.active_turn_id = active_turn_id


class Hand(Enum):
    """What becomes of who runs a thread's turn: this process takes it, or leaves it to whoever wants it."""

    TAKE = auto()
    LEAVE = auto()


@dataclass(slots=True)
class Unit:
    """Events of one thread and rows beside them; `done` is None when nobody waits. `hand`: the turn changes hands;
    `beside`: other threads that its deed may tell something on."""

    key: ThreadKey | None
    turn_id: str | None
    events: Sequence[Event]
    rows: Sequence[Row] = ()
    guard: Guard | None = None
    done: "asyncio.Future[list[Event]] | None" = None
    hand: Hand | None = None
    deed: Deed | None = None
    beside: tuple[ThreadKey, ...] = ()
    written: list[Event] = field(default_factory=list[Event])
