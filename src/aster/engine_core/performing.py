"""Performing: a call that a composed skill makes, let through only where a call of the model's own would be.

It is prepared within the agent's reach and decided under the policy of this moment. No person is asked for it and no
hook is passed by: where either is needed, it is not made, and the model is told to make the call itself.
"""

from dataclasses import replace

from aster.contracts.tools import PERMISSION_DENIED, OutcomeClass, ToolCall, ToolOutcome
from aster.engine_core import client_tools, plan_gate
from aster.engine_core.client_tools import ClientTool
from aster.engine_core.hooks.settings import HookEvent
from aster.engine_core.services import Services
from aster.engine_core.turn import Turn
from aster.skills.composed import NOT_STEPS
from aster.utility_directory.tool import Asks, Input, ToolContext

_HOOKS = (HookEvent.PRE_TOOL_USE, HookEvent.POST_TOOL_USE, HookEvent.POST_TOOL_USE_FAILURE)


async def perform(turn: Turn, services: Services, context: ToolContext, tool: str, given: Input) -> ToolOutcome:
    """Make one call; its outcome, or why it was not made."""
    runtime = services.connectors.tools(turn.key.user_id)
    call = ToolCall(id=context.tool_call_id, name=tool, input=given)
    prepared = client_tools.prepare(turn.state.request, runtime, call)
    if isinstance(prepared, ToolOutcome):
        return prepared
    if prepared.tool.definition.name in NOT_STEPS:
        return _refused(tool, "It is no call that a skill may make.")
    if isinstance(prepared.tool, ClientTool) or prepared.asks_human:
        return _refused(tool, "A person or the client has to answer it.")
    if any(event in services.hooks for event in _HOOKS):
        return _refused(tool, "Hooks of the operator look at every call here.")
    context = replace(context, asked=None, policy=await services.permissions.policy(turn.key, turn.state))
    shut = plan_gate.blocked(prepared, context.policy)
    if shut is not None:
        return shut
    decision = runtime.decide(prepared, context)
    if decision.behavior != "allow":
        return _refused(tool, decision.reason)
    try:
        outcome, _ = await runtime.run(prepared, context)
    except Asks:
        await services.connectors.directory.abandon(turn.key.user_id, context.idempotency_key)
        return _refused(tool, "The server asks a person, and the call was given up.")
    return outcome


def _refused(tool: str, reason: str) -> ToolOutcome:
    text = f"Not made: {reason} A composed skill asks nobody; call `{tool}` yourself if it is needed."
    return ToolOutcome.error(text, reason=PERMISSION_DENIED, failure=OutcomeClass.FATAL)
