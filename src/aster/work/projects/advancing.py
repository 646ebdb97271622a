"""Seeing to advances: a turn begins for an item that was claimed, and is followed until its end is on record.

The advance says that its turn has begun in the very commit that begins it, and the turn's id follows from the advance:
a crash at any moment, or another replica, loses nothing and begins nothing twice. The end of the turn writes down what
came of it by itself; here it is only seen to that no turn goes on for longer than its project may, and that nothing is
left open by one that ended without a word.
"""

import asyncio
import logging
from collections.abc import Sequence
from typing import Final, Protocol

from aster.brain.projects import AdvanceBegunRow, EndAdvance
from aster.brain.protocol import Brain
from aster.brain.records import Row, ThreadKey
from aster.brain.work import ENGINE, Actor
from aster.contracts.errors import EngineError
from aster.contracts.projects import Advance, Project
from aster.contracts.turn import TurnStatus
from aster.infra.clock import now_ms
from aster.infra.ids import derived_id

log = logging.getLogger("aster.projects")

TICK_SECONDS: Final = 0.25
IDLE_SECONDS: Final = 5.0
"""How often it is looked for what another replica has left."""
SOON_MS: Final = 10_000
"""What is to be looked at this soon counts as work."""
AT_ONCE: Final = 200
CLAIM_MS: Final = 10_000
"""For how long nobody else tries to begin what somebody is beginning."""
LOOK_MS: Final = 1_000
WAITING_MS: Final = 5_000
BUSY_MS: Final = 2_000
SPENT: Final = "project_budget"
"""Why a turn ends that has used all its project may."""
_ENDED: Final = frozenset(status.value for status in TurnStatus if status.ended)


class ProjectTurns(Protocol):
    @property
    def draining(self) -> bool:
        """Whether nothing may begin here."""
        ...

    async def begin(
        self, project: Project, advance: Advance, key: ThreadKey, turn_id: str, tip: str | None, rows: Sequence[Row]
    ) -> None:
        """Begin the turn of an advance, with these rows in its first commit; raises `EngineError` when it may not."""
        ...

    async def stop(self, key: ThreadKey, stop_reason: str) -> None: ...


class Advancing:
    """`begun` wakes it."""

    def __init__(self, brain: Brain, turns: ProjectTurns, begun: asyncio.Event) -> None:
        self._brain = brain
        self._store = brain.projects
        self._turns = turns
        self._begun = begun
        self._failing: set[str] = set()

    async def run(self) -> None:
        """Until it is cancelled."""
        while True:
            self._begun.clear()
            busy = await self._look_at_all()
            try:
                async with asyncio.timeout(TICK_SECONDS if busy else IDLE_SECONDS):
                    await self._begun.wait()
            except TimeoutError:
                continue

    async def _look_at_all(self) -> bool:
        """One look; says whether there is anything to follow."""
        try:
            return await self.tick()
        except Exception:  # the boundary of a look: the next one finds the same rows
            if "look" not in self._failing:
                log.exception("projects could not be seen to, and are tried again")
            self._failing.add("look")
            return True

    async def tick(self) -> bool:
        if self._turns.draining:
            return False
        now = now_ms()
        found = await self._store.open_advances(now + SOON_MS, AT_ONCE)
        for advance in found:
            if advance.look_at > now:
                continue
            try:
                await self._look(advance, now)
                self._failing.discard(advance.advance_id)
            except Exception:  # one that cannot be seen to keeps no other waiting
                if advance.advance_id not in self._failing:
                    log.exception("the advance %s could not be seen to, and is tried again", advance.advance_id)
                self._failing.add(advance.advance_id)
        self._failing.discard("look")
        return bool(found)

    async def _look(self, advance: Advance, now: int) -> None:
        project = await self._store.project(advance.user_id, advance.project_id)
        if project is None:
            await self._end(advance, "Its project is gone.")
        elif advance.status == "due":
            await self._begin(project, advance, now)
        else:
            await self._follow(project, advance, now)

    async def _begin(self, project: Project, advance: Advance, now: int) -> None:
        if project.status != "ACTIVE":
            await self._end(advance, f"The project is {project.status}.", stopped=True)
            return
        key = ThreadKey(advance.user_id, advance.task_id)
        thread = await self._brain.thread(key)
        if thread is not None and (thread.status != "idle" or await self._brain.inbox(key)):
            await self._store.look_later(advance, now + BUSY_MS)
            return
        if not await self._store.look_later(advance, now + CLAIM_MS):
            return
        turn_id = derived_id("turn", advance.advance_id)
        if await self._brain.turn(key.user_id, turn_id) is not None:
            return
        row = AdvanceBegunRow(advance_id=advance.advance_id, turn_id=turn_id, started_at=now, look_at=now + LOOK_MS)
        tip = None if thread is None else thread.tip_turn_id
        try:
            await self._turns.begin(project, advance, key, turn_id, tip, [row])
        except EngineError as error:
            await self._end(advance, error.message)

    async def _follow(self, project: Project, advance: Advance, now: int) -> None:
        turn = await self._brain.turn(advance.user_id, advance.turn_id)
        if turn is None or turn.status in _ENDED:
            why = "Its task is gone." if turn is None else f"The turn ended: {turn.error or turn.stop_reason}."
            await self._end(advance, why)
            return
        if turn.status == TurnStatus.SUSPENDED:
            await self._store.look_later(advance, now + WAITING_MS, waits_ms=WAITING_MS)
            return
        limit, used = project.budget.seconds, project.used.seconds or 0.0
        if limit is not None and used + (now - (advance.started_at or now)) / 1000 > limit:
            await self._turns.stop(ThreadKey(advance.user_id, advance.task_id), SPENT)
        await self._store.look_later(advance, now + LOOK_MS)

    async def _end(self, advance: Advance, reason: str, *, stopped: bool = False) -> None:
        """Say of an advance that nothing came of it, unless somebody has said what did."""
        order = EndAdvance(
            actor=Actor(user_id=advance.user_id, name=ENGINE, task_id=advance.task_id),
            advance_id=advance.advance_id,
            tool_calls=0,
            usd=0.0,
            stopped=stopped,
            reason=reason,
        )
        await self._store.do(order, ThreadKey(advance.user_id, advance.task_id))
