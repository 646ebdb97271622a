"""What schedules need of whoever runs turns: so little that they know nothing of how turns run, and that any engine
which keeps these promises can have them."""

from collections.abc import Collection, Sequence
from typing import Protocol

from aster.brain.records import Row, ThreadKey
from aster.contracts.schedules import Occurrence, Schedule, ScheduleSpec


class Gate(Protocol):
    async def checked(self, user_id: str, spec: ScheduleSpec) -> ScheduleSpec:
        """What may be kept of what somebody wants to be said; raises `EngineError` when it may not be."""
        ...


class Turns(Protocol):
    @property
    def draining(self) -> bool:
        """Whether nothing may begin here."""
        ...

    async def begin(
        self,
        schedule: Schedule,
        occurrence: Occurrence,
        key: ThreadKey,
        turn_id: str,
        tip: str | None,
        rows: Sequence[Row],
    ) -> None:
        """Begin the turn of a time, with these rows in its first commit; raises `EngineError` when it may not begin."""
        ...

    async def holds(self, schedule: Schedule) -> bool:
        """Whether what a watch waits for is so now; raises `EngineError` when that cannot be told."""
        ...

    async def alive(self) -> Collection[str]:
        """The processes that share the work, this one among them."""
        ...
