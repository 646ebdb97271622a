"""The planner: writes a plan before work that needs one, and writes it anew when the work keeps failing.

Everything it decides by is on the thread, so it is asked neither twice after a restart nor more often than a few times
in a turn. Whatever goes wrong with it, the turn goes on with the plan it has, or with none.
"""

import asyncio
import logging
from itertools import islice
from typing import Final

from msgspec.structs import replace as _replace

from aster.contracts.blocks import TextBlock, ToolResultBlock, text_of
from aster.contracts.errors import EngineError
from aster.contracts.events import Plan, PlanUpdate, UserMessage
from aster.contracts.llm import ModelRequest
from aster.contracts.messages import Message
from aster.engine_core.aside import aside
from aster.engine_core.boundary import Boundary, defused
from aster.engine_core.casting import model_of
from aster.engine_core.history import spoken
from aster.engine_core.permissions import mode_of
from aster.engine_core.planning import draft
from aster.engine_core.planning.need import needs_plan
from aster.engine_core.services import Services
from aster.engine_core.telling import told
from aster.engine_core.turn import Turn
from aster.herald.profiles import profile_of
from aster.utility_directory import plan_tree
from aster.utility_directory.plan_tree import MOST_REVISIONS, UnsoundPlan

log = logging.getLogger("aster.planner")

MOST_TOKENS: Final = 8192
MOST_SECONDS: Final = 60.0
TRIES: Final = 2
FAILURES: Final = 3
SHOWN_FAILURES: Final = 5
SHOWN_CHARS: Final = 400
FOLLOW: Final = (
    "Follow it as far as it serves the person's request, and keep it up to date with update_plan. It is a plan and"
    " nothing more: it allows nothing that you would not be allowed without it."
)


async def begin(turn: Turn, services: Services) -> None:
    """Write a plan before the first step, if the message needs one."""
    state = turn.state
    if state.model_calls or state.plan is not None or state.plan_calls >= TRIES or not state.messages:
        return
    if not _available(turn, services) or mode_of(services.settings, state) == "plan":
        return
    request = _wished(turn)
    if not needs_plan(request):
        return
    tools = services.tools.registry.names
    found = await _drafted(turn, services, draft.first(request, _earlier(turn), tools), TRIES - state.plan_calls)
    if found is None or len(found.steps) < draft.LEAST_STEPS:
        return
    plan = plan_tree.begun(found.goal, [step.step() for step in found.steps])
    turn.write(_event(plan, None), _shown(plan, "Here is a plan for this."))


async def tend(turn: Turn, services: Services) -> None:
    """Write the plan anew when calls keep failing under it; what is done stays done."""
    state, plan = turn.state, turn.state.plan
    if plan is None or (failed := state.plan_failures) < FAILURES or state.plan_calls >= TRIES + MOST_REVISIONS:
        return
    if not _available(turn, services) or not _revisable(plan) or state.last_words:
        return
    boundary = turn.boundary or Boundary.of(turn.turn_id)
    asked = draft.again(_wished(turn), plan, boundary.quote(_failures(state.messages)))
    found = await _drafted(turn, services, asked, 1, plan)
    steps = [step.step() for step in found.steps] if found is not None else []
    if not steps:
        turn.write(_event(plan, "Calls kept failing, and the planner had no other way; the plan stays."))
        return
    revised = plan_tree.revised(plan, steps)
    reason = f"{failed} tool calls failed under the plan before."
    turn.write(_event(revised, reason), _shown(revised, "Calls kept failing, so the plan was changed."))


def _available(turn: Turn, services: Services) -> bool:
    """Whether there is a planner: it is wanted, and it is not the engine's own model, which takes long for a word."""
    settings = services.settings
    if turn.state.request.direct or settings.planning == "off":
        return False
    return bool(settings.planner_model or settings.llm_pool_worker) or not _slow(services)


def _slow(services: Services) -> bool:
    return services.herald.endpoint.protocol == "local_chat"


def _revisable(plan: Plan) -> bool:
    return plan.revision <= MOST_REVISIONS and plan_tree.unfinished(plan)


async def _drafted(
    turn: Turn, services: Services, asked: Message, tries: int, under: Plan | None = None
) -> draft.Draft | None:
    """A draft that can be taken, at the second attempt if need be; None when there is none to be had."""
    messages = [asked]
    try:
        async with asyncio.timeout(MOST_SECONDS):
            for _ in range(tries):
                response = await aside(turn, services, _request(turn, services, tuple(messages)), "plan")
                try:
                    found = draft.read(response)
                    _check(found, under)
                    return found
                except UnsoundPlan as problem:
                    services.raven.note("plan_refused", "warning", str(problem), model=response.model)
                    said = text_of(response.blocks).strip()
                    messages += [Message(role="assistant", content=(TextBlock(text=said),))] if said else []
                    messages.append(draft.corrected(problem))
    except (EngineError, TimeoutError) as error:
        log.info("the turn goes on without a new plan: %s", error)
        services.raven.note("plan_failed", "warning", f"a turn went on without a new plan: {error}"[:500])
    return None


def _check(found: draft.Draft, under: Plan | None) -> None:
    steps = [step.step() for step in found.steps]
    if under is not None and steps:
        plan_tree.revised(under, steps)
    elif len(steps) >= draft.LEAST_STEPS:
        plan_tree.begun(found.goal, steps)


def _request(turn: Turn, services: Services, messages: tuple[Message, ...]) -> ModelRequest:
    settings = services.settings
    model = settings.planner_model or ("" if settings.llm_pool_worker else model_of(turn.state, settings))
    request = services.herald.assigned(
        ModelRequest(
            model=model,
            system=draft.INSTRUCTIONS,
            messages=messages,
            output_schema=draft.SCHEMA,
            role="foreground" if settings.planner_model else "worker",
        )
    )
    profile = profile_of(request.model)
    steady = {} if profile.known else {"temperature": 0.0, "top_p": 0.1}
    return _replace(request, max_tokens=min(MOST_TOKENS, profile.max_output), **steady)


def _wished(turn: Turn) -> str:
    """What the person asked for in this turn."""
    return next((text_of(message.content) for message in turn.state.messages if spoken(message)), "")


def _earlier(turn: Turn) -> str:
    """What the person said last before this, for messages that only make sense after it."""
    before = islice(filter(spoken, reversed(turn.history)), 2)
    return "\n\n".join(reversed([text_of(message.content) for message in before]))


def _failures(messages: list[Message]) -> str:
    """The newest failures, each cut to its beginning."""
    found = (
        text_of(block.content)[:SHOWN_CHARS]
        for message in reversed(messages)
        for block in reversed(message.content)
        if isinstance(block, ToolResultBlock) and block.is_error
    )
    return "\n---\n".join(reversed(list(islice(found, SHOWN_FAILURES))))


def _event(plan: Plan, reason: str | None) -> PlanUpdate:
    return PlanUpdate(goal=plan.goal, steps=plan.steps, revision=plan.revision, reason=reason)


def _shown(plan: Plan, why: str) -> UserMessage:
    """The plan as the model reads it: said once, at the end of the conversation, and never changed there."""
    text = f'<plan revision="{plan.revision}">\n{why}\n{defused(plan_tree.rendered(plan))}\n\n{FOLLOW}\n</plan>'
    return told(text)
