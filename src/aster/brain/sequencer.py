"""Gives every event its place: checks guards, merges deltas, stamps, encodes, in commit order.

It keeps, for each thread it has seen, the newest sequence number and which turn is active; this is a cache of what
the database says and is dropped whenever a commit fails, so that a number is only ever used once. Each time a turn
changes hands its thread's epoch grows; what this process holds is known by that, so whoever lost a turn cannot write.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import msgspec

from aster.brain.records import Frame, ThreadKey, frame
from aster.brain.titles import first_words
from aster.brain.unit import (
    Absent,
    Conflict,
    Hand,
    Idle,
    Left,
    Owned,
    Present,
    Running,
    Titled,
    Unanswered,
    Unit,
    Waiting,
)
from aster.contracts.events import (
    Event,
    Grade,
    HitlRequest,
    HitlResolved,
    Phase,
    TaskLifecycle,
    TextDelta,
    ThinkingDelta,
    ThreadLifecycle,
    ToolProgress,
    UserMessage,
    grade_of,
    type_of,
)
from aster.contracts.model import encode
from aster.infra.clock import iso_ms

_replace = msgspec.structs.replace


@dataclass(slots=True)
class Slot:
    """What the writer knows of one thread."""

    thread_id: int | None = None
    head: int = 0
    status: str = "idle"
    active_turn_id: str | None = None
    last_ms: int = 0
    open_requests: set[str] = field(default_factory=set[str])
    title: str = ""
    owner: str | None = None
    epoch: int = 0

    @property
    def id(self) -> int:
        assert self.thread_id is not None, "a thread gets its row before its first event"
        return self.thread_id


@dataclass(slots=True)
class _Delta:
    """A delta that still grows while its batch is put together."""

    first: TextDelta | ThinkingDelta | ToolProgress
    seq: int
    turn_id: str | None
    texts: list[str]

    def absorbs(self, event: Event, turn_id: str | None) -> bool:
        first = self.first
        if type(event) is not type(first) or turn_id != self.turn_id:
            return False
        if isinstance(event, ToolProgress) and isinstance(first, ToolProgress):
            return event.tool_call_id == first.tool_call_id and event.stream == first.stream
        if isinstance(event, TextDelta | ThinkingDelta) and isinstance(first, TextDelta | ThinkingDelta):
            return event.block_index == first.block_index and event.step == first.step
        return False


@dataclass(slots=True)
class Placed:
    """A thread's share of a batch: frames in order, the record events to project, and the growing delta."""

    key: ThreadKey
    slot: Slot
    frames: list[Frame] = field(default_factory=list[Frame])
    records: list[Event] = field(default_factory=list[Event])
    tail: _Delta | None = None
    handed: bool = False


class Sequencer:
    """Owned by the writer; not safe for use from two threads."""

    def __init__(
        self,
        replica: str,
        load: Callable[[ThreadKey], Slot],
        create: Callable[[ThreadKey], int],
        capacity: int = 20_000,
    ) -> None:
        self._replica = replica
        self._held: dict[ThreadKey, int] = {}
        self._handed: dict[ThreadKey, int | None] = {}
        self._load = load
        self._create = create
        self._capacity = capacity
        self._slots: OrderedDict[ThreadKey, Slot] = OrderedDict()

    def forget(self, key: ThreadKey | None = None) -> None:
        """Drop what is cached: after a failed commit, or when a thread was deleted."""
        if key is None:
            self._slots.clear()
            self._handed.clear()
        else:
            self._slots.pop(key, None)

    def committed(self) -> None:
        """What was placed is written: which turns this process has now is so from here on."""
        for key, epoch in self._handed.items():
            if epoch is None:
                self._held.pop(key, None)
            else:
                self._held[key] = epoch
        self._handed.clear()

    def recommitted(self, threads: Iterable[Placed]) -> None:
        """The same, of a commit that was only learnt of after what was placed had been given up."""
        for placed in threads:
            slot = placed.slot
            self._handed[placed.key] = slot.epoch if slot.owner == self._replica else None
        self.committed()

    def held(self, key: ThreadKey) -> int | None:
        """Since when this process has a thread's turn, by what is written; may be asked from any thread."""
        return self._held.get(key)

    def _epoch(self, key: ThreadKey) -> int | None:
        """Since when this process has a thread's turn."""
        return self._handed[key] if key in self._handed else self._held.get(key)

    def slot(self, key: ThreadKey) -> Slot:
        slot = self._slots.get(key)
        if slot is None:
            slot = self._slots[key] = self._load(key)
            while len(self._slots) > self._capacity:
                self._slots.popitem(last=False)
        else:
            self._slots.move_to_end(key)
        return slot

    def admit(self, unit: Unit) -> None:
        """Raise `Conflict` unless the unit's guard holds now."""
        if unit.key is not None:
            check(unit, self.slot(unit.key), self._epoch(unit.key))

    def place(self, unit: Unit, batch: dict[ThreadKey, Placed], now: int) -> None:
        """Put a unit's events at the end of its thread, or raise `Conflict` and leave everything as it was."""
        if unit.key is None:
            return
        placed = batch.get(unit.key)
        if placed is None:
            placed = Placed(unit.key, self.slot(unit.key))
        check(unit, placed.slot, self._epoch(unit.key))
        if placed.slot.thread_id is None:
            placed.slot.thread_id = self._create(unit.key)
        batch[unit.key] = placed
        for event in unit.events:
            self._place_event(placed, unit, event, now)
        if unit.hand is not None:
            self._hand(placed, self._replica if unit.hand is Hand.TAKE else None)

    def _hand(self, placed: Placed, owner: str | None) -> None:
        """The thread's turn is this owner's from now on."""
        slot = placed.slot
        slot.owner, slot.epoch = owner, slot.epoch + 1
        placed.handed = True
        self._handed[placed.key] = None if owner is None else slot.epoch

    def _place_event(self, placed: Placed, unit: Unit, event: Event, now: int) -> None:
        slot, turn_id = placed.slot, event.turn_id or unit.turn_id
        tail = placed.tail
        if tail is not None:
            if tail.absorbs(event, turn_id):
                tail.texts.append(event.text)  # type: ignore[attr-defined]
                return
            close(placed, now)
        slot.head += 1
        slot.last_ms = max(slot.last_ms, now)
        if isinstance(event, TextDelta | ThinkingDelta | ToolProgress):
            placed.tail = _Delta(event, slot.head, turn_id, [event.text])
            return
        stamped = _replace(
            event, task_id=placed.key.task_id, turn_id=turn_id, seq=slot.head, timestamp=iso_ms(slot.last_ms)
        )
        grade = grade_of(stamped)
        placed.frames.append(frame(slot.head, type_of(stamped), turn_id, grade, encode(stamped)))
        if grade not in (Grade.DELTA, Grade.SHOWN):
            placed.records.append(stamped)
            advance(slot, stamped)
            self._follow(placed, stamped)
        if unit.done is not None:
            unit.written.append(stamped)

    def _follow(self, placed: Placed, event: Event) -> None:
        """Whoever begins a segment has it; when it ends nobody does."""
        if not isinstance(event, ThreadLifecycle) or event.depth:
            return
        if event.phase in (Phase.STARTED, Phase.RESUMED):
            self._hand(placed, self._replica)
        else:
            placed.slot.owner = None
            self._handed[placed.key] = None


def close(placed: Placed, now: int) -> None:
    """Finish the growing delta of a batch: from here on it is an event like any other."""
    tail = placed.tail
    if tail is None:
        return
    placed.tail = None
    stamped = _replace(
        tail.first,
        text="".join(tail.texts),
        task_id=placed.key.task_id,
        turn_id=tail.turn_id,
        seq=tail.seq,
        timestamp=iso_ms(placed.slot.last_ms),
    )
    placed.frames.append(frame(tail.seq, type_of(stamped), tail.turn_id, grade_of(stamped), encode(stamped)))


def check(unit: Unit, slot: Slot, held: int | None) -> None:
    """Raise `Conflict` unless the unit's guard holds now; `held` is the epoch since which this process has the turn."""
    guard = unit.guard
    match guard:
        case None:
            return
        case Idle(since):
            holds = slot.status == "idle" and since in (None, slot.epoch)
        case Absent():
            holds = slot.thread_id is None
        case Owned(turn_id):
            holds = slot.status == "running" and slot.active_turn_id == turn_id and slot.epoch == held
        case Running(turn_id):
            holds = slot.status == "running" and slot.active_turn_id == turn_id
        case Left(turn_id, epoch):
            holds = slot.status == "running" and slot.active_turn_id == turn_id and slot.epoch == epoch
        case Waiting(turn_id):
            holds = slot.status == "suspended" and slot.active_turn_id == turn_id
        case Unanswered(request_id):
            holds = request_id in slot.open_requests
        case Present():
            holds = slot.thread_id is not None
        case Titled(title):
            holds = slot.thread_id is not None and slot.title == title
    if not holds:
        raise Conflict(guard, slot.status, slot.active_turn_id)


def advance(slot: Slot, event: Event) -> None:
    """Keep the cached state of a thread in step with what is being committed; what is shown of a sub-agent is only
    shown."""
    if event.depth:
        return
    match event:
        case ThreadLifecycle(phase=Phase.STARTED | Phase.RESUMED):
            slot.status, slot.active_turn_id = "running", event.turn_id
        case ThreadLifecycle(phase=Phase.SUSPENDED):
            slot.status = "suspended"
        case ThreadLifecycle():
            slot.status, slot.active_turn_id = "idle", None
            slot.open_requests.clear()
        case HitlRequest():
            slot.open_requests.add(event.request_id)
        case HitlResolved():
            slot.open_requests.discard(event.request_id)
        case UserMessage() if not slot.title:
            slot.title = first_words(event.content)
        case TaskLifecycle(phase="renamed" | "forked"):
            slot.title = event.title or ""
        case _:
            pass
