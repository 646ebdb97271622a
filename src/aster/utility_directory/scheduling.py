"""What the tools for schedules need of the engine: schedules of the person the model works for, and no others."""

from typing import Protocol

from aster.contracts.schedules import Schedule, ScheduleSpec


class SchedulesOffered(Protocol):
    @property
    def time_zone(self) -> str:
        """Whose clocks are meant when none are named."""
        ...

    @property
    def catch_up_seconds(self) -> int:
        """How old a time may be to be made up for."""
        ...

    async def create(self, spec: ScheduleSpec, schedule_id: str) -> Schedule:
        """With the model, agent and mode of the turn it is made in. The same id makes it once."""
        ...

    async def schedules(self, limit: int) -> list[Schedule]:
        """Those that are not over, newest first."""
        ...

    async def cancel(self, schedule_id: str) -> Schedule: ...
