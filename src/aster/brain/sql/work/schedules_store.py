"""`ScheduleStore` in SQL: what changes goes to the one writer, with what is told of it on a thread in the same commit;
what looks goes to the readers."""

import asyncio
from collections.abc import Callable, Collection, Sequence
from typing import cast

from aster.brain.records import ThreadKey
from aster.brain.schedules import Due, Firing
from aster.brain.sql.connection import Connection
from aster.brain.sql.running import Reads, Writes
from aster.brain.sql.work import schedules
from aster.brain.unit import Conflict, Present, Unit
from aster.contracts.events import Event
from aster.contracts.schedules import Occurrence, OccurrenceStatus, Schedule, ScheduleSpec, ScheduleStatus


class SqlSchedules:
    def __init__(self, writer: Writes, readers: Reads) -> None:
        self._writer = writer
        self._readers = readers

    async def create(self, schedule: Schedule, most: int) -> bool:
        return bool(await self._writer.run(lambda db: schedules.create(db, schedule, most)))

    async def schedule(self, user_id: str, schedule_id: str) -> Schedule | None:
        return await self._readers.run(schedules.one, user_id, schedule_id)

    async def schedules(
        self,
        user_id: str,
        *,
        limit: int,
        before: int | None = None,
        status: ScheduleStatus | None = None,
        task_id: str | None = None,
    ) -> list[Schedule]:
        return await self._readers.run(
            schedules.page, user_id, limit=limit, before=before, status=status, task_id=task_id
        )

    async def occurrences(
        self,
        user_id: str,
        schedule_id: str,
        *,
        limit: int,
        before: int | None = None,
        status: OccurrenceStatus | None = None,
    ) -> list[Occurrence]:
        return await self._readers.run(
            schedules.occurrences, user_id, schedule_id, limit=limit, before=before, status=status
        )

    async def due(self, now: int, limit: int) -> Due:
        return await self._readers.run(schedules.due, now, limit)

    async def fire(self, schedule: Schedule, firing: Firing, now: int) -> bool:
        return await self._told(_home(schedule), lambda db: schedules.fire(db, schedule, firing, now))

    async def postpone(self, schedule: Schedule, next_at: int) -> Schedule | None:
        done = await self._writer.run(lambda db: schedules.postpone(db, schedule, next_at))
        return cast("Schedule | None", done)

    async def run_now(self, schedule: Schedule, now: int) -> Occurrence | None:
        made: list[Occurrence] = []

        def deed(db: Connection) -> Sequence[Event] | None:
            made.clear()
            found = schedules.run_now(db, schedule, now)
            if found is None:
                return None
            made.append(found[0])
            return found[1]

        await self._told(_home(schedule), deed)
        return made[0] if made else None

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
        return await self._told(
            _home(schedule), lambda db: schedules.change(db, schedule, status, next_at, now, reason, problem)
        )

    async def edit(
        self, schedule: Schedule, spec: ScheduleSpec, next_at: int | None, now: int, reason: str
    ) -> bool:
        return await self._told(
            _home(schedule), lambda db: schedules.edit(db, schedule, spec, next_at, now, reason)
        )

    async def set_aside(self, schedule_id: str, problem: str, now: int) -> None:
        await self._writer.run(lambda db: schedules.set_aside(db, schedule_id, problem, now))

    async def claim(self, occurrence: Occurrence, now: int, until: int) -> bool:
        return bool(await self._writer.run(lambda db: schedules.claim(db, occurrence, now, until)))

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
        return await self._told(
            home,
            lambda db: schedules.settle(
                db, occurrence, status, now=now, look_at=look_at, reason=reason, attempt=attempt
            ),
        )

    async def last_run(self, schedule: Schedule) -> Occurrence | None:
        return await self._readers.run(schedules.last_run, schedule)

    async def end_sessions(self, alive: Collection[str], now: int) -> int:
        return cast("int", await self._writer.run(lambda db: schedules.end_sessions(db, alive, now)))

    async def forget(self, before: int, limit: int) -> int:
        return cast("int", await self._writer.run(lambda db: schedules.forget(db, before, limit)))

    async def _told(self, home: ThreadKey | None, change: Callable[[Connection], Sequence[Event] | None]) -> bool:
        """Make a change, with what tells of it at home if there is such a thread; False when it was not to be made."""
        made = False

        def deed(db: Connection) -> Sequence[Event]:
            nonlocal made
            found = change(db)
            made = found is not None
            return () if home is None else found or ()

        try:
            await self._submit(deed, home)
        except Conflict:  # the thread is gone; the change is made all the same
            home = None
            await self._submit(deed, None)
        return made

    def _submit(
        self, deed: Callable[[Connection], Sequence[Event]], key: ThreadKey | None
    ) -> "asyncio.Future[object]":
        if key is None:
            return self._writer.run(deed)
        done: asyncio.Future[list[Event]] = asyncio.get_running_loop().create_future()
        self._writer.submit(Unit(key, None, (), (), Present(), done, deed=deed))
        return cast("asyncio.Future[object]", done)


def _home(schedule: Schedule) -> ThreadKey | None:
    """Where what becomes of its times is told: the thread of its task, if it has one."""
    task_id = schedule.spec.task_id
    return None if task_id is None else ThreadKey(schedule.user_id, task_id)
