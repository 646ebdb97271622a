"""The call that runs a workflow: it takes the run, has its steps carried out, and comes to the result.

While it waits for agents it leaves its slot to them. Made again after a crash, or by another replica, it is still the
holder of its run and goes on with it; when the engine goes away it is left as it stands.
"""

from functools import partial
from typing import Any

from aster.brain.unit import Conflict, Owned
from aster.brain.workflows import Take, Taken
from aster.contracts.model import encode
from aster.contracts.tools import OutcomeClass, ToolOutcome
from aster.engine_core.boundary import Boundary
from aster.engine_core.fold import place
from aster.engine_core.services import Services
from aster.engine_core.signals import Lost, Yielded
from aster.engine_core.turn import Turn
from aster.engine_core.workflows.hands import TurnHands
from aster.infra.ids import derived_id
from aster.utility_directory.run_workflow import NAME, RunWorkflow
from aster.utility_directory.workflow_runs import RunWorkflows
from aster.utility_directory.workflow_steps import Workflow
from aster.work.workflows.flow import MOST_AGENTS, Failed, Flow, Limits
from aster.work.workflows.journal import canonical, digest
from aster.work.workflows.script import Script


def runner(turn: Turn, services: Services, tool_call_id: str, call_key: str) -> RunWorkflows:
    """How a call of the turn runs a workflow."""
    return partial(_run, turn, services, tool_call_id, call_key)


def run_id_of(call_key: str) -> str:
    """The run that a call begins."""
    return derived_id("run", call_key)


async def _run(
    turn: Turn,
    services: Services,
    tool_call_id: str,
    call_key: str,
    workflow: Workflow,
    args: dict[str, Any],
    resume: str | None,
) -> ToolOutcome:
    taken = await _taken(
        turn,
        Take(
            user_id=turn.key.user_id,
            task_id=turn.key.task_id,
            turn_id=turn.turn_id,
            holder=call_key,
            run_id=resume or run_id_of(call_key),
            workflow=workflow.name,
            args=canonical(args),
            args_digest=digest(args),
            resume=resume is not None,
        ),
    )
    hands = TurnHands(turn, services, taken.run, tool_call_id)
    limits = Limits(min(MOST_AGENTS, workflow.max_agents or MOST_AGENTS), workflow.max_usd, workflow.max_tokens)
    flow = Flow(taken.run, taken.calls, hands, limits, Boundary.of(taken.run.run_id).quote)
    return await _carried_out(turn, services, flow, Script(workflow, args, _other(services)), hands)


async def _carried_out(turn: Turn, services: Services, flow: Flow, script: Script, hands: TurnHands) -> ToolOutcome:
    failure, result = None, None
    async with services.offspring.resting(turn.key):
        try:
            result = await flow.carry_out(script)
        except Failed as failed:
            failure = failed
    if failure is None:
        data = encode(result)
        await hands.tell(flow.update("completed"), flow.standing("completed", data))
        return ToolOutcome.text(result if isinstance(result, str) else data.decode(), _about(flow, "completed"))
    if failure.stopped and turn.yielding:
        raise Yielded
    status = "cancelled" if failure.stopped else "failed"
    reason = str(failure)
    await hands.tell(flow.update(status, message=reason), flow.standing(status, problem=reason))
    again = f' Run it again with resume "{flow.run.run_id}" to go on with what was done.'
    text = f"The workflow {flow.run.workflow} {'was cancelled' if failure.stopped else 'failed'}: {reason}{again}"
    return ToolOutcome.error(
        text, reason=f"workflow_{status}", failure=OutcomeClass.DIAGNOSTIC, data=_about(flow, status)
    )


async def _taken(turn: Turn, order: Take) -> Taken:
    deed = turn.brain.workflows.take(order)
    await turn.flush()
    try:
        for event in await turn.brain.append(turn.key, turn.turn_id, (), guard=Owned(turn.turn_id), deed=deed):
            place(turn.state, event)
    except Conflict as conflict:
        raise Lost(str(conflict)) from conflict
    return deed.outcome


def _other(services: Services) -> Any:
    """How a workflow finds another one to run: as it is registered at this moment."""

    def check(name: str, args: dict[str, Any]) -> Workflow:
        registered = services.tools.registry.get(NAME)
        if registered is None or not isinstance(registered.tool, RunWorkflow):
            raise Failed(f"There is no workflow {name!r} any more.")
        return registered.tool.arguments(name, args)

    return check


def _about(flow: Flow, status: str) -> dict[str, Any]:
    return {
        "run_id": flow.run.run_id,
        "status": status,
        "agents": flow.agents,
        "cached": flow.cached,
        "cost_usd": flow.cost_usd,
    }
