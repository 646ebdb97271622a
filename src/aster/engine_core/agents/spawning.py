"""Handing a call to another agent: all it takes is put on record with the call's intent, then its turn is begun.

What is on record is enough to begin it at any time, so a crash at any moment loses nothing and begins nothing twice.
The turn that hands over suspends like one that waits for a person; the end of the other turn lets it go on.
"""

from typing import Any

from aster.brain.agents import SubagentRow
from aster.brain.records import ThreadKey
from aster.contracts.agents import Agent, Parent
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.events import SubagentLifecycle
from aster.contracts.model import encode
from aster.contracts.tools import OutcomeClass, ToolOutcome
from aster.contracts.turn import CallState
from aster.engine_core.agents.ordering import ordered, parent_of
from aster.engine_core.agents.profile import child_profile, narrower
from aster.engine_core.orders import Order
from aster.engine_core.permissions import mode_of
from aster.engine_core.running import intent, result_event
from aster.engine_core.services import Services
from aster.engine_core.turn import Turn
from aster.engine_core.verdict import Run
from aster.infra.clock import now_ms
from aster.infra.ids import new_id
from aster.skills import prompting
from aster.utility_directory import run_skill

SHOWN_CHARS = 200


async def begin(turn: Turn, services: Services, call: CallState, run: Run) -> ToolOutcome | None:
    """Begin a sub-agent for a call; None when the call is in its hands, otherwise why not."""
    given = run.prepared.input
    skill = run.prepared.tool.definition.name == run_skill.NAME
    try:
        order = await (_skill_order if skill else _order)(turn, services, call, given)
    except EngineError as error:
        return ToolOutcome.error(error.message, reason=error.code.value, failure=OutcomeClass.DIAGNOSTIC)
    assert order.profile is not None, "a sub-agent has a profile"
    assert order.parent is not None, "a sub-agent works for somebody"
    child_turn_id, parent = new_id("turn"), order.parent
    started = SubagentLifecycle(
        child_turn_id=child_turn_id,
        child_task_id=order.task_id,
        agent=order.profile.name,
        phase="started",
        description=order.message[:SHOWN_CHARS],
        tool_call_id=call.call.id,
        background=parent.background,
    )
    row = SubagentRow(
        child_turn_id=child_turn_id,
        turn_id=turn.turn_id,
        root_turn_id=parent.root_turn_id,
        tool_call_id=call.call.id,
        child_task_id=order.task_id,
        agent=order.profile.name,
        background=parent.background,
        body=encode(order),
        created_at=now_ms(),
    )
    ended = (
        [result_event(turn, call, _behind(order, child_turn_id), None, trusted=True)] if parent.background else []
    )
    turn.write(intent(turn, call, run), started, *ended, rows=[row])
    await turn.flush()
    await services.offspring.begin(ThreadKey(turn.key.user_id, order.task_id), child_turn_id, order)
    return None


async def _order(turn: Turn, services: Services, call: CallState, given: dict[str, Any]) -> Order:
    """What the sub-agent's turn is begun with; raises `EngineError` when there may be none."""
    parent = await _parent(turn, services, call, given)
    name = given.get("agent")
    kept = None if name is None else await services.agents.find(turn.key.user_id, name)
    agent = None if kept is None else kept.agent
    profile = child_profile(agent, turn.state.request, parent, services.settings)
    mode = narrower(mode_of(services.settings, turn.state), agent and agent.permission_mode)
    model = None if kept is None else services.agents.model_of(kept)
    return ordered(turn, parent, profile, given["prompt"], mode, model, name)


async def _skill_order(turn: Turn, services: Services, call: CallState, given: dict[str, Any]) -> Order:
    """The same for one that carries out a skill."""
    parent = await _parent(turn, services, call, {})
    user_id, skill = turn.key.user_id, await services.skills.find(turn.key.user_id, given["name"])
    place = str(await services.skills.place(user_id, skill)) if skill.files else None
    prompt, message = prompting.brief_of(skill, given["input"], place)
    agent = Agent(name=f"skill:{skill.name}", description="", system_prompt=prompt, tools=skill.tools)
    profile = child_profile(agent, turn.state.request, parent, services.settings)
    return ordered(turn, parent, profile, message, mode_of(services.settings, turn.state))


async def _parent(turn: Turn, services: Services, call: CallState, given: dict[str, Any]) -> Parent:
    """Whom it works for; raises `EngineError` when that may have nobody more."""
    request, settings = turn.state.request, services.settings
    background = bool(given.get("background"))
    wake = background and bool(given.get("wake"))
    parent = parent_of(turn, call.call.id, background=background, wake=wake)
    if parent.wake and (request.parent is not None or request.method):
        raise EngineError(ErrorCode.PERMISSION_DENIED, "Only the agent that answers the person can be woken.")
    if parent.depth > settings.subagent_depth:
        raise EngineError(ErrorCode.PERMISSION_DENIED, "Work can be handed on no further; do it yourself.")
    await turn.flush()
    begun, _ = await services.brain.offspring(turn.home, parent.root_turn_id)
    if begun >= settings.subagents_per_turn:
        text = f"{begun} agents were begun already, the most for one message. Do the rest yourself."
        raise EngineError(ErrorCode.PERMISSION_DENIED, text)
    return parent


def _behind(order: Order, child_turn_id: str) -> ToolOutcome:
    name = order.profile.name if order.profile is not None else ""
    text = (
        f"The agent {name} works in the background as {order.task_id}. You are told when it has ended;"
        f' agent_output with id "{order.task_id}" shows how it stands and what it said.'
    )
    return ToolOutcome.text(text, {"task_id": order.task_id, "turn_id": child_turn_id, "status": "running"})
