"""What a storage must be able to do for schedules: each time that is due is a row before anything is done about it, and
every change of a row is made by whoever saw it as it was.

What becomes of a time is told on the thread of its task in the commit that says so.
"""

from collections.abc import Collection, Sequence
from typing import ClassVar, NamedTuple, Protocol

from aster.brain.records import Row, ThreadKey
from aster.contracts.schedules import Occurrence, OccurrenceStatus, Schedule, ScheduleSpec, ScheduleStatus


class DeliveredRow(Row):
    """A time whose turn begins, in the commit that begins it."""

    table: ClassVar[str] = "schedule_occurrences"
    key: ClassVar[tuple[str, ...]] = ("schedule_id", "due_at")

    schedule_id: str
    due_at: int
    task_id: str
    turn_id: str
    after_turn_id: str | None
    delivered_at: int
    look_at: int
    status: str = "delivered"
    reason: str = ""


class Due(NamedTuple):
    """What there is to do at a moment: schedules that are due, times that wait for something, and the ids of schedules
    that cannot be read."""

    schedules: list[Schedule]
    occurrences: list[Occurrence]
    broken: list[tuple[str, str]]


class Firing(NamedTuple):
    """What a schedule being due comes to: the times that were, when it is due next, and whether it has ended. `seen` is
    what a watch saw."""

    occurrences: Sequence[Occurrence] = ()
    next_at: int | None = None
    ended: bool = False
    seen: bool = False
    problem: str = ""


class ScheduleStore(Protocol):
    async def create(self, schedule: Schedule, most: int) -> bool:
        """Keep a new one, once; False when the user has so many already that are active or paused."""
        ...

    async def schedule(self, user_id: str, schedule_id: str) -> Schedule | None: ...
    async def schedules(
        self,
        user_id: str,
        *,
        limit: int,
        before: int | None = None,
        status: ScheduleStatus | None = None,
        task_id: str | None = None,
    ) -> list[Schedule]:
        """Newest first; `before` is the number of the last one seen."""
        ...

    async def occurrences(
        self,
        user_id: str,
        schedule_id: str,
        *,
        limit: int,
        before: int | None = None,
        status: OccurrenceStatus | None = None,
    ) -> list[Occurrence]:
        """Newest first; `before` is the time of the last one seen."""
        ...

    async def due(self, now: int, limit: int) -> Due:
        """What there is to do now, of all users; what is not due costs nothing."""
        ...

    async def fire(self, schedule: Schedule, firing: Firing, now: int) -> bool:
        """Write down what was due and when it is next, if the schedule is still as it was seen. A time that comes while
        an earlier one still waits is skipped, unless the schedule makes up for all."""
        ...

    async def postpone(self, schedule: Schedule, next_at: int) -> Schedule | None:
        """Be the one who looks at a watch now: it is looked at next then. None when somebody else is."""
        ...

    async def run_now(self, schedule: Schedule, now: int) -> Occurrence | None:
        """Make it due now, whatever its times are; None when it is over."""
        ...

    async def change(
        self,
        schedule: Schedule,
        status: ScheduleStatus,
        next_at: int | None,
        now: int,
        reason: str = "",
        *,
        problem: str = "",
    ) -> bool:
        """Pause, resume, cancel or end one, if it is still as it was seen. Unless it is active now, times that wait are
        skipped for this reason, but for one that is just being delivered. `problem` is for what nobody wanted."""
        ...

    async def edit(
        self, schedule: Schedule, spec: ScheduleSpec, next_at: int | None, now: int, reason: str
    ) -> bool:
        """Let a schedule say something else, if it is still as it was seen. With a reason, times that wait are skipped
        for it, but for those that were run by hand and one that is just being delivered."""
        ...

    async def set_aside(self, schedule_id: str, problem: str, now: int) -> None:
        """Pause one that cannot be read."""
        ...

    async def claim(self, occurrence: Occurrence, now: int, until: int) -> bool:
        """Be the one who delivers it, for a while; False when somebody else is, or it does not wait any more."""
        ...

    async def settle(
        self,
        occurrence: Occurrence,
        status: OccurrenceStatus,
        *,
        now: int,
        look_at: int,
        reason: str = "",
        attempt: int | None = None,
        home: ThreadKey | None = None,
    ) -> bool:
        """Say what became of it, if it is still as it was seen; told at `home` when it is something new."""
        ...

    async def last_run(self, schedule: Schedule) -> Occurrence | None:
        """The newest time that a turn was begun for."""
        ...

    async def end_sessions(self, alive: Collection[str], now: int) -> int:
        """End those that were to end with a process that is no longer there."""
        ...

    async def forget(self, before: int, limit: int) -> int:
        """Forget times that were settled before then, and schedules that were over before then and have none left."""
        ...
