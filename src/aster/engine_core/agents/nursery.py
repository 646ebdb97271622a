"""The nursery: begins sub-agents that are on record, writes their end on the thread they work for, and lets that turn
go on; stops them when it is stopped.

It goes by the rows alone: a sub-agent whose turn is not there is begun, one whose turn has ended is reported, one
nobody waits for is stopped. So what a crash left half done is finished at boot.
"""

import logging
import time
from collections.abc import Sequence
from typing import Literal, NamedTuple, Protocol, TypeAlias

from aster.brain.agents import SubagentEndRow, SubagentRecord
from aster.brain.records import Row, ThreadKey
from aster.brain.unit import Conflict, Present
from aster.contracts.agents import Parent
from aster.contracts.blocks import text_of
from aster.contracts.events import SubagentLifecycle
from aster.contracts.model import decode
from aster.contracts.turn import TurnStatus
from aster.engine_core import segments
from aster.engine_core.agents import waking
from aster.engine_core.agents.allowance import gained
from aster.engine_core.agents.showing import passed_on
from aster.engine_core.orders import Order
from aster.engine_core.replaying.kept import replays_of
from aster.engine_core.services import Services
from aster.engine_core.takeover import Takeover
from aster.engine_core.teams.waking import TeamWork
from aster.engine_core.turn import Turn
from aster.infra.clock import now_ms

log = logging.getLogger("aster.nursery")

MOST_CHARS = 40_000
LOOK_SECONDS = 60.0
Phase: TypeAlias = Literal["completed", "errored", "cancelled"]
_ENDED = frozenset(status.value for status in TurnStatus if status.ended)


class Turns(Protocol):
    """Whoever runs turns."""

    draining: bool
    takeover: Takeover

    async def begin_child(
        self, key: ThreadKey, turn_id: str, order: Order, tip: str | None = None, rows: Sequence[Row] = ()
    ) -> None: ...
    async def go_on(self, key: ThreadKey, turn_id: str) -> bool: ...
    async def stop(self, key: ThreadKey, stop_reason: str) -> str | None: ...


class Looked(NamedTuple):
    """A task was looked at when so much had ended that it was not told of; until then it need not be again."""

    untold: int
    until: float

    def fresh(self, untold: int, now: float) -> bool:
        return self.untold == untold and self.until > now


class Nursery:
    def __init__(self, services: Services, turns: Turns) -> None:
        self._services = services
        self._brain = services.brain
        self._turns = turns
        self._looked: dict[ThreadKey, Looked] = {}
        services.offspring.begin = turns.begin_child
        services.offspring.stop = turns.stop
        services.offspring.dismiss = self._stop
        services.offspring.discard = self.discard
        services.background.wake = self._wake
        self._teams = TeamWork(services, turns)

    async def ended(self, turn: Turn) -> None:
        """A turn is over: if it was a sub-agent's, whoever waits for it is told and goes on. If one ended in the
        background when this one had no ear for it any more, it may begin another."""
        state = turn.state
        parent = state.request.parent
        await self._teams.ended(turn)
        if parent is None:
            untold = self._services.offspring.untold, self._services.background.untold
            if any(turn.key in threads for threads in untold) and state.status is not TurnStatus.CANCELLED:
                await self._wake(turn.key)
            return
        known = await self._brain.subagent(turn.key.user_id, turn.turn_id)
        if known is None or known.status != "running" or known.child_status not in _ENDED:
            return
        agent = state.request.agent.name if state.request.agent is not None else ""
        end = SubagentLifecycle(
            child_turn_id=turn.turn_id,
            child_task_id=turn.key.task_id,
            agent=agent,
            phase=_phase(state.status),
            result=_last_words(turn),
            tool_call_id=parent.tool_call_id,
            background=parent.background,
            stop_reason=state.stop_reason,
            model_calls=state.model_calls,
            cost_usd=state.cost_usd,
            granted=gained(state),
        )
        await self._report(turn.key.user_id, parent, end)

    async def stopped(self, user_id: str, turn_id: str) -> None:
        """A turn was stopped: so are the agents that work for it."""
        for child in await self._brain.subagents(user_id, turn_id):
            if child.status == "running" and child.parent_status == TurnStatus.CANCELLED:
                await self._stop(child)

    async def discard(self, key: ThreadKey) -> list[ThreadKey]:
        """A task is about to be deleted: nobody works for it any more. Says which tasks go with it, its replays too."""
        children = await self._brain.subagents_of(key)
        for child in children:
            if child.status == "running":
                await self._stop(child)
        theirs = [child.child_task_id for child in children]
        replays = [thread.task_id for thread in await replays_of(self._brain, key)]
        for task_id in replays:
            await self._turns.stop(ThreadKey(key.user_id, task_id), "cancelled")
        members = [thread.task_id for thread in await self._teams.discard(key)]
        return [ThreadKey(key.user_id, task_id) for task_id in dict.fromkeys((*theirs, *replays, *members))]

    async def recover(self, younger_ms: int = 0) -> None:
        """When every turn that ran is taken up: finish what was half done. What is younger than this may still be done
        by another replica."""
        for key in await self._brain.subagents_untold_threads():
            self._services.offspring.untold.setdefault(key, 1)
        for child in await self._brain.subagents_running():
            try:
                if await self._left(child, now_ms() - younger_ms):
                    await self._mend(child)
            except Exception:  # one that cannot be read must not keep the others from going on
                log.exception("the sub-agent %s cannot be taken up", child.child_turn_id)
        await self._wake_left()
        await self._teams.recover(younger_ms)

    async def _wake_left(self) -> None:
        """Wake what should have been woken by whoever died before doing so; each is looked at now and then."""
        untold, now = self._services.offspring.untold + self._services.background.untold, time.monotonic()
        self._looked = {key: looked for key, looked in self._looked.items() if looked.fresh(untold[key], now)}
        for key in [key for key in untold if key not in self._looked]:
            self._looked[key] = Looked(untold[key], now + LOOK_SECONDS)
            try:
                await self._wake(key)
            except Exception:  # one that cannot be woken must not keep the others asleep
                log.exception("the task %s cannot be woken", key.task_id)

    async def _left(self, child: SubagentRecord, before: int) -> bool:
        """Whether nobody can be about to begin it, or to tell of its end."""
        turn = await self._brain.turn(child.user_id, child.child_turn_id)
        return (child.created_at if turn is None else turn.ended_at or turn.started_at) <= before

    async def _mend(self, child: SubagentRecord) -> None:
        key = ThreadKey(child.user_id, child.child_task_id)
        if child.child_status in _ENDED:
            try:
                turn = await segments.load(self._services, key, child.child_turn_id)
            except Exception:  # whoever waits for one that cannot be read must still hear of its end
                log.exception("the end of the sub-agent %s cannot be read", child.child_turn_id)
                await self._lost(child, child.child_status or "")
            else:
                await self.ended(turn)
        elif _orphaned(child):
            await self._stop(child)
        elif child.child_status is None:
            await self._turns.begin_child(key, child.child_turn_id, decode(child.body, Order))

    async def _stop(self, child: SubagentRecord) -> None:
        key = ThreadKey(child.user_id, child.child_task_id)
        if await self._turns.stop(key, "cancelled") is None:
            await self._lost(child, TurnStatus.CANCELLED)

    async def _lost(self, child: SubagentRecord, status: str) -> None:
        """Report one that left no words."""
        parent = decode(child.body, Order).parent
        if parent is None:
            return
        end = SubagentLifecycle(
            child_turn_id=child.child_turn_id,
            child_task_id=child.child_task_id,
            agent=child.agent,
            phase="cancelled" if status == TurnStatus.CANCELLED else "errored",
            result="It left no answer.",
            tool_call_id=parent.tool_call_id,
            background=parent.background,
        )
        await self._report(child.user_id, parent, end)

    async def _report(self, user_id: str, parent: Parent, end: SubagentLifecycle) -> None:
        key = ThreadKey(user_id, parent.task_id)
        row = SubagentEndRow(
            child_turn_id=end.child_turn_id, status=end.phase, result=end.result or "", ended_at=now_ms()
        )
        try:
            await self._brain.append(key, parent.turn_id, [end], rows=[row], guard=Present())
        except Conflict:
            return
        if parent.depth > 1:
            await passed_on(self._brain, user_id, parent.turn_id, end)
        if not parent.background:
            await self._turns.go_on(key, parent.turn_id)
            return
        self._services.offspring.untold[key] += 1
        if parent.wake:
            await self._wake(key)

    async def _wake(self, key: ThreadKey) -> None:
        await waking.wake(self._services, self._turns.begin_child, key)


def _orphaned(child: SubagentRecord) -> bool:
    """Nobody waits for it: the turn it worked for has ended, or it was stopped with all that belonged to it."""
    if child.background:
        return child.parent_status in (None, TurnStatus.CANCELLED)
    return child.parent_status is None or child.parent_status in _ENDED


def _phase(status: TurnStatus) -> Phase:
    match status:
        case TurnStatus.COMPLETED:
            return "completed"
        case TurnStatus.ERRORED:
            return "errored"
        case _:
            return "cancelled"


def _last_words(turn: Turn) -> str:
    """What it said at its end, as far as a call's outcome holds."""
    state = turn.state
    said = (text_of(message.content) for message in reversed(state.messages) if message.role == "assistant")
    text = next((text for text in said if text.strip()), "")
    if state.status is TurnStatus.ERRORED:
        return f"{state.error or 'error'}. {text}".strip()
    if state.stop_reason == "max_turns":
        text = f"(stopped after {state.model_calls} model calls without a final answer) {text}".strip()
    if len(text) > MOST_CHARS:
        text = f"{text[:MOST_CHARS]}\n[cut here: the whole answer is in the task {turn.key.task_id}]"
    return text
