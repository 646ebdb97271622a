"""Turns that run and that nobody has: after a crash, after a replica left, or because there was no slot for them.

Going on with one begins with taking it, by compare-and-set, so that of many who try one does. A turn over which one
process after the other dies is given up, visibly, before it takes the next one down.
"""

import logging
from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from aster.brain.records import Row, ThreadKey, TurnRecord
from aster.brain.unit import Absent, Conflict, Deed, Idle, Owned
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.events import ErrorEvent, Event, Phase, ThreadLifecycle
from aster.engine_core import segments
from aster.engine_core.closing import fail
from aster.engine_core.live import Live, LiveTurns
from aster.engine_core.services import Services
from aster.engine_core.signals import Lost
from aster.engine_core.teams import ending
from aster.engine_core.turn import Turn
from aster.engine_core.unfinished import discard_unfinished

log = logging.getLogger("aster.takeover")

GIVEN_UP: Final = "dead_letter"
ORPHANED: Final = "orphaned"
"""Why a turn ends that was shut in: whoever had it made is gone, and nobody will look at what it does."""
Start: TypeAlias = Callable[[ThreadKey, Live, Turn], None]
_NEW: Final = Absent()


class Takeover:
    """`start` runs a turn that was taken."""

    def __init__(self, services: Services, live: LiveTurns, start: Start) -> None:
        self._services = services
        self._brain = services.brain
        self._live = live
        self._start = start
        self._idle: set[tuple[str, int]] = set()

    async def everything(self) -> int:
        """Nobody else is there: go on with every turn that runs; says how many did."""
        interrupted = await self._brain.running_turns()
        for record in interrupted:
            if record.owner is None or not await self._too_often(record):
                await self.take(record)
        self._services.raven.recovered(len(interrupted))
        return len(interrupted)

    async def take(self, record: TurnRecord, *, slot: bool = False) -> Live | None:
        """Go on with a turn, with a slot in hand or not; None when somebody else has it."""
        key = ThreadKey(record.user_id, record.task_id)
        if key in self._live:
            return None
        live = self._live.claim(key, record.turn_id, followed=True)
        try:
            turn = await self._loaded(key, record)
            live.since, thread = self._brain.held(key), await self._brain.thread(key)
            live.stop_reason = thread.asked_to_stop if thread is not None else None
            if turn.state.request.isolated:
                live.stop_reason = ORPHANED
            live.turn, live.slot = turn, slot
        except (Conflict, Lost):
            return None
        except Exception as error:  # a thread that cannot be read must not keep the others from going on
            if await segments.out_of_reach(self._services, error):
                raise
            log.exception("turn %s cannot be taken up; it ends here", record.turn_id)
            await self._give_up(key, record)
            return None
        finally:
            if live.turn is None:
                self._live.release(key, live)
        self._start(key, live, turn)
        return live

    async def begin(
        self,
        key: ThreadKey,
        turn_id: str,
        events: Sequence[Event],
        rows: Sequence[Row] = (),
        *,
        guard: Absent | Idle = _NEW,
        deed: Deed | None = None,
        beside: Sequence[ThreadKey] = (),
    ) -> bool:
        """Begin a turn with these records, that of a new task as a rule; false when the task is another than the guard
        says. It waits for a slot like one that was taken over. `EngineError` when the deed is refused."""
        if key in self._live:
            return False
        live = self._live.claim(key, turn_id)
        try:
            await self._brain.append(key, turn_id, events, rows=rows, guard=guard, deed=deed, beside=beside)
            live.since = self._brain.held(key)
            turn = live.turn = await segments.load(self._services, key, turn_id)
        except Conflict:
            return False
        finally:
            if live.turn is None:
                self._live.release(key, live)
        self._start(key, live, turn)
        return True

    async def idle(self) -> None:
        """Go on with turns that are this process's by their threads and that it does not run: what kept it from that, a
        database that was away or a request that was given up, has passed. One look may fall between two steps, so
        only what two of them find is taken."""
        found = {
            (record.turn_id, record.epoch): record
            for record in await self._brain.running_turns(owner=self._brain.replica)
            if ThreadKey(record.user_id, record.task_id) not in self._live
        }
        for name in self._idle & found.keys():
            log.warning("turn %s is this process's and does not run; it goes on", name[0])
            if not await self._too_often(found[name]):
                await self.take(found[name])
        self._idle = set(found)

    async def freed(self, record: TurnRecord, *, crashed: bool) -> TurnRecord | None:
        """A turn whose owner will not come back, as it may be offered to others now; None when somebody else has it,
        or when it has cost too many their lives already."""
        key = ThreadKey(record.user_id, record.task_id)
        try:
            await self._brain.release(key, record.turn_id, record.epoch)
        except Conflict:
            return None
        left = await self._brain.turn(record.user_id, record.turn_id)
        return None if left is None or (crashed and await self._too_often(left)) else left

    async def _loaded(self, key: ThreadKey, record: TurnRecord) -> Turn:
        await self._brain.take(key, record.turn_id, record.epoch)
        turn = await segments.load(self._services, key, record.turn_id)
        await discard_unfinished(turn, self._services)
        return turn

    async def _too_often(self, record: TurnRecord) -> bool:
        """Count a crash; a turn that has led to too many ends here."""
        crashes = await self._brain.count_crash(record.user_id, record.turn_id)
        if crashes < self._services.settings.crash_limit:
            return False
        key = ThreadKey(record.user_id, record.task_id)
        error = EngineError(
            ErrorCode.TURN_CRASHED,
            f"The engine died {crashes} times while it ran the same part of this turn, so the turn was given up."
            " The logs of the engine say why it died; send the message again when that is mended.",
            {"crashes": crashes, "segment": record.segment},
        )
        try:
            turn = await self._loaded(key, record)
            await fail(turn, self._services, error, GIVEN_UP)
        except (Conflict, Lost):
            log.warning("turn %s was taken by somebody else", record.turn_id)
        except Exception:  # what kills engines may be in the thread itself
            log.exception("turn %s cannot be read; it ends here", record.turn_id)
            await self._give_up(key, record, error, GIVEN_UP)
        return True

    async def _give_up(
        self, key: ThreadKey, record: TurnRecord, error: EngineError | None = None, stop_reason: str = "error"
    ) -> None:
        said = error or EngineError(
            ErrorCode.INTERNAL, "The engine restarted and could not take this turn up again."
        )
        body = said.body()
        try:
            member = await ending.given_up(self._services, key, record.turn_id, stop_reason)
            reason = f"the turn was given up ({stop_reason})"
            deed, beside = member or (self._services.work.abandoned(key, reason), ())
            await self._brain.append(
                key,
                record.turn_id,
                [
                    ErrorEvent(error=body.error, message=body.message, retry=body.retry, details=body.details),
                    ThreadLifecycle(phase=Phase.ERRORED, segment=record.segment, stop_reason=stop_reason),
                ],
                guard=Owned(record.turn_id),
                deed=deed,
                beside=beside,
            )
        except Conflict:
            log.warning("turn %s was taken by somebody else", record.turn_id)
