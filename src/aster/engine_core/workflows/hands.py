"""The agents of a workflow's run: begun as sub-agents of the turn that runs it, with its authority, and waited for.

An agent is on record in the journal with the very commit that puts it on record as a sub-agent. The nursery begins what
is on record and writes its end on the turn's thread, so neither a crash nor another replica loses one or begins one
twice; here they are only asked for and looked at.
"""

import time
from typing import Final

from msgspec.structs import replace

from aster.brain.agents import SubagentRow, SubagentToldRow
from aster.brain.records import ThreadKey, UsageSlice
from aster.brain.workflows import WorkflowCall, WorkflowRun, WorkflowRunRow, sealed
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.events import SubagentLifecycle, WorkflowUpdate
from aster.contracts.model import encode
from aster.engine_core.agents.ordering import ordered, parent_of
from aster.engine_core.agents.profile import SPAWN, WORKFLOW, child_profile, narrower
from aster.engine_core.orders import Follows, Order
from aster.engine_core.permissions import mode_of
from aster.engine_core.services import Services
from aster.engine_core.turn import Turn
from aster.infra.clock import now_ms
from aster.infra.ids import new_id
from aster.work.workflows.flow import Ended, Failed
from aster.work.workflows.journal import AgentCall

SHOWN_CHARS: Final = 200
LOOK_SECONDS: Final = 1.0
YIELDED: Final = "The engine is going away."
CANCELLED: Final = "The run was cancelled."
_TURNS: Final = 100


class TurnHands:
    """What a run can have done, in the turn whose call (`tool_call_id`) runs it."""

    def __init__(self, turn: Turn, services: Services, run: WorkflowRun, tool_call_id: str) -> None:
        self._turn = turn
        self._services = services
        self._run = run
        self._call_id = tool_call_id

    async def begin(self, call: AgentCall, row: WorkflowCall, told: str, most_usd: float | None) -> WorkflowCall:
        try:
            order = await self._order(call, told, most_usd)
        except EngineError as error:
            if error.code is ErrorCode.STORAGE_UNAVAILABLE:
                raise
            raise Failed(f"An agent ({call.label}) cannot be begun: {error.message}") from None
        if told:
            order = replace(order, task_id=row.child_task_id, follows=Follows(turn_id=row.child_turn_id))
        child_turn_id, now = new_id("turn"), now_ms()
        row = replace(row, child_task_id=order.task_id, child_turn_id=child_turn_id)
        row = replace(row, digest=sealed(row))
        self._write(order, row, now)
        await self._turn.flush()
        await self._services.offspring.begin(ThreadKey(self._turn.key.user_id, order.task_id), child_turn_id, order)
        return row

    async def ended(self, row: WorkflowCall) -> Ended:
        """Wait for the end of an agent; any process may write it. When the run is to stop, so is the agent."""
        turn, brain, user_id = self._turn, self._turn.brain, self._turn.key.user_id
        with brain.subscribe(turn.key, await brain.head(turn.key)) as thread:
            while True:
                found = await brain.subagent(user_id, row.child_turn_id)
                if found is None:
                    return Ended(completed=False, said="Nothing is on record of it any more.")
                if found.ended_at is not None:
                    cost, tokens = await self._used(row)
                    return Ended(found.status == "completed", found.result or "", cost, tokens)
                if turn.yielding:
                    return Ended(completed=False, said=YIELDED, stopped=True)
                run = await brain.workflows.run(user_id, self._run.run_id)
                if run is None or run.cancelling:
                    await self._services.offspring.stop(ThreadKey(user_id, row.child_task_id), "cancelled")
                    return Ended(completed=False, said=CANCELLED, stopped=True)
                until = time.monotonic() + LOOK_SECONDS
                while (left := until - time.monotonic()) > 0 and not turn.yielding:
                    if any(frame.type == "subagent_lifecycle" for frame in await thread.next(left)):
                        break

    async def tell(self, update: WorkflowUpdate, *rows: WorkflowCall | WorkflowRunRow) -> None:
        self._turn.write(update, rows=rows)
        await self._turn.flush()

    def _write(self, order: Order, row: WorkflowCall, now: int) -> None:
        turn, parent, profile = self._turn, order.parent, order.profile
        assert parent is not None, "an agent of a run works for its turn"
        assert profile is not None, "and has a profile"
        started = SubagentLifecycle(
            child_turn_id=row.child_turn_id,
            child_task_id=order.task_id,
            agent=profile.name,
            phase="started",
            description=(row.label or order.message)[:SHOWN_CHARS],
            tool_call_id=self._call_id,
            background=True,
        )
        update = WorkflowUpdate(
            run_id=row.run_id,
            workflow=self._run.workflow,
            action="agent_started",
            phase=row.phase,
            label=row.label,
            call_key=row.call_key,
            child_task_id=order.task_id,
            attempt=row.attempt,
        )
        child = SubagentRow(
            child_turn_id=row.child_turn_id,
            turn_id=turn.turn_id,
            root_turn_id=parent.root_turn_id,
            tool_call_id=self._call_id,
            child_task_id=order.task_id,
            agent=profile.name,
            background=True,
            body=encode(order),
            created_at=now,
        )
        known = SubagentToldRow(child_turn_id=row.child_turn_id, told_at=now)
        turn.write(started, update, rows=(child, known, row))

    async def _order(self, call: AgentCall, told: str, most_usd: float | None) -> Order:
        """What the agent's turn is begun with. It works for the turn and reaches nothing that that does not; it begins
        nobody itself."""
        turn, services = self._turn, self._services
        settings = services.settings
        parent = parent_of(turn, self._call_id, background=True)
        if parent.depth > settings.subagent_depth:
            raise EngineError(ErrorCode.PERMISSION_DENIED, "Work can be handed on no further.")
        kept = None if call.agent is None else await services.agents.find(turn.key.user_id, call.agent)
        agent = None if kept is None else kept.agent
        profile = child_profile(agent, turn.state.request, parent, settings)
        profile = replace(profile, without=(*profile.without, SPAWN, WORKFLOW), max_usd=most_usd)
        mode = narrower(mode_of(settings, turn.state), agent and agent.permission_mode)
        model = None if kept is None else services.agents.model_of(kept)
        return ordered(turn, parent, profile, told or call.words, mode, model, call.agent)

    async def _used(self, row: WorkflowCall) -> tuple[float, int]:
        """What the agent's turn has cost, and its tokens."""
        what = UsageSlice(user_id=self._turn.key.user_id, task_id=row.child_task_id)
        turns, _ = await self._turn.brain.usage(what, "turn", _TURNS)
        used = next((one for one in turns if one.turn_id == row.child_turn_id), None)
        return (0.0, 0) if used is None else (used.cost_usd or 0.0, used.input_tokens + used.output_tokens)
