"""Delivering a time that is due: a turn begins when its task is at rest, and it is followed until the model has heard.

The row is there before, says `delivered` in the very commit that begins the turn, and the turn's id follows from the
time: a crash at any moment loses nothing and begins nothing twice. A turn that ended before the model's first answer is
begun again, as if the one before had never been.
"""

import logging
from typing import Final, Literal, TypeAlias

from aster.brain.protocol import Brain
from aster.brain.records import ThreadKey, ThreadRecord
from aster.brain.schedules import DeliveredRow
from aster.contracts.errors import EngineError
from aster.contracts.schedules import Occurrence, Schedule
from aster.contracts.turn import TurnStatus
from aster.infra.ids import derived_id
from aster.work.schedules.ports import Turns

log = logging.getLogger("aster.schedules")

CLAIM_MS: Final = 10_000
"""For how long nobody else tries to deliver what somebody is delivering."""
LOOK_MS: Final = 1_000
BUSY_MS: Final = 2_000
SUSPENDED_MS: Final = 15_000
REFUSED_MS: Final = 60_000
WAIT_MS: Final = 86_400_000
"""For how long a time waits for its task to be at rest."""
RETRIES_MS: Final = (15_000, 60_000, 300_000)
"""After how long a turn that failed before its first answer is begun again, each time."""
Settled: TypeAlias = Literal["acknowledged", "missed", "skipped", "failed"]
_ENDED: Final = frozenset(status.value for status in TurnStatus if status.ended)


class Delivery:
    def __init__(self, brain: Brain, turns: Turns) -> None:
        self._brain = brain
        self._store = brain.schedules
        self._turns = turns

    async def look(self, occurrence: Occurrence, now: int) -> None:
        """Do what is next for a time that waits for something."""
        if occurrence.status == "delivered":
            await self._follow(occurrence, now)
            return
        schedule = await self._store.schedule(occurrence.user_id, occurrence.schedule_id)
        over = _over(schedule, occurrence)
        if schedule is None or over is not None:
            await self._settle(occurrence, "skipped", now, over or "The schedule is gone.")
        elif now - occurrence.due_at > max(WAIT_MS, schedule.spec.catch_up_seconds * 1000):
            await self._settle(occurrence, "missed", now, occurrence.reason or "Its time has passed.")
        else:
            await self._deliver(schedule, occurrence, now)

    async def _deliver(self, schedule: Schedule, occurrence: Occurrence, now: int) -> None:
        key = task_of(schedule, occurrence)
        thread = await self._brain.thread(key)
        if thread is None and schedule.spec.task_id is not None:
            gone = "Its task is gone."
            await self._settle(occurrence, "failed", now, gone)
            await self._store.change(schedule, "ended", None, now, gone, problem=gone)
            return
        if (wait := await self._busy(schedule, key, thread)) is not None:
            await self._defer(occurrence, now, "The task is busy.", wait)
            return
        if not await self._store.claim(occurrence, now, now + CLAIM_MS):
            return
        turn_id = derived_id("turn", occurrence.schedule_id, str(occurrence.due_at), str(occurrence.attempt))
        if await self._brain.turn(key.user_id, turn_id) is not None:
            return
        tip = _tip(thread, occurrence)
        row = DeliveredRow(
            schedule_id=occurrence.schedule_id,
            due_at=occurrence.due_at,
            task_id=key.task_id,
            turn_id=turn_id,
            after_turn_id=tip,
            delivered_at=now,
            look_at=now + LOOK_MS,
        )
        try:
            await self._turns.begin(schedule, occurrence, key, turn_id, tip, [row])
        except EngineError as error:
            await self._defer(occurrence, now, error.message, REFUSED_MS)

    async def _busy(self, schedule: Schedule, key: ThreadKey, thread: ThreadRecord | None) -> int | None:
        """After how long to look again when its task, or that of the run before, is not at rest; None when it is."""
        if schedule.spec.task_id is None:
            before = await self._store.last_run(schedule)
            thread = thread if before is None else await self._brain.thread(ThreadKey(key.user_id, before.task_id))
        if thread is None:
            return None
        if thread.status != "idle":
            return SUSPENDED_MS if thread.status == "suspended" else BUSY_MS
        return BUSY_MS if await self._brain.inbox(ThreadKey(key.user_id, thread.task_id)) else None

    async def _follow(self, occurrence: Occurrence, now: int) -> None:
        """See whether the model has heard, or the turn ended before it did."""
        turn = await self._brain.turn(occurrence.user_id, occurrence.turn_id)
        if turn is None or turn.model_calls or (turn.status in _ENDED and turn.status != TurnStatus.ERRORED):
            await self._settle(occurrence, "acknowledged", now, "")
            return
        if turn.status != TurnStatus.ERRORED:
            wait = SUSPENDED_MS if turn.status == TurnStatus.SUSPENDED else LOOK_MS
            await self._store.settle(occurrence, "delivered", now=now, look_at=now + wait)
            return
        reason = f"The turn ended before the model answered: {turn.error or 'error'}."
        if occurrence.attempt >= len(RETRIES_MS):
            await self._settle(occurrence, "failed", now, reason)
            return
        await self._store.settle(
            occurrence,
            "due",
            now=now,
            look_at=now + RETRIES_MS[occurrence.attempt],
            reason=reason,
            attempt=occurrence.attempt + 1,
            home=_home(occurrence),
        )

    async def _defer(self, occurrence: Occurrence, now: int, reason: str, wait: int) -> None:
        await self._store.settle(
            occurrence, "deferred", now=now, look_at=now + wait, reason=reason, home=_home(occurrence)
        )

    async def _settle(self, occurrence: Occurrence, status: Settled, now: int, reason: str) -> None:
        await self._store.settle(occurrence, status, now=now, look_at=now, reason=reason, home=_home(occurrence))


def task_of(schedule: Schedule, occurrence: Occurrence) -> ThreadKey:
    """The task that a time is for: the schedule's, or one of its own."""
    own = derived_id("task", schedule.schedule_id, str(occurrence.due_at))
    return ThreadKey(schedule.user_id, schedule.spec.task_id or own)


def _home(occurrence: Occurrence) -> ThreadKey | None:
    return ThreadKey(occurrence.user_id, occurrence.task_id) if occurrence.task_id else None


def _over(schedule: Schedule | None, occurrence: Occurrence) -> str | None:
    """Why nothing is to be done any more. A schedule that has ended is still owed its last time."""
    if schedule is None:
        return "The schedule is gone."
    if schedule.status == "cancelled":
        return "The schedule was cancelled."
    if schedule.status == "paused" and not occurrence.by_hand:
        return "The schedule was paused."
    return None


def _tip(thread: ThreadRecord | None, occurrence: Occurrence) -> str | None:
    """What the turn goes on from: the newest turn, unless that is this time's own failed one."""
    if thread is None:
        return None
    own = occurrence.turn_id and thread.tip_turn_id == occurrence.turn_id
    return occurrence.after_turn_id if own else thread.tip_turn_id
