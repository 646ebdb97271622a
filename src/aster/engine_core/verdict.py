"""The verdict on one tool call: run it, ask a person first, wait for the answer, or answer it without running.

It is a function of where the call stands on the thread, so it gives the same verdict before and after a restart.
"""

from dataclasses import dataclass
from typing import TypeAlias

from msgspec.structs import replace

from aster.contracts.blocks import TextBlock
from aster.contracts.events import Event, HitlRequest, PermissionPrompt
from aster.contracts.permissions import ALWAYS, Behavior, GrantOffer
from aster.contracts.tools import PERMISSION_DENIED, OutcomeClass, ToolOutcome
from aster.contracts.turn import Answer, CallState
from aster.engine_core import plan_gate
from aster.engine_core.client_tools import KIND, ClientTool
from aster.engine_core.connectors import login
from aster.engine_core.services import Services
from aster.infra.clock import now_iso
from aster.infra.ids import new_id
from aster.sandbox.offers import offer
from aster.sandbox.permissions import Decision
from aster.utility_directory.tool import ToolContext
from aster.utility_directory.tool_runtime import Prepared

DONE, AGAIN, SKIP = "done", "again", "skip"
IN_DOUBT_OPTIONS = (DONE, AGAIN, SKIP)
_SPARED_BY_HOOKS = frozenset(("judgement", "mode:auto", "hook"))
NOBODY = (
    "Nobody is there to answer. Decide by what you know, say what you assumed, and leave what only a person can"
    " decide undone."
)


@dataclass(frozen=True, slots=True)
class Run:
    """`grant_id` is the grant that spared a person the question, `pin` what the decision was about."""

    prepared: Prepared
    grant_id: str | None = None
    pin: str | None = None


@dataclass(frozen=True, slots=True)
class Ask:
    events: tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class Wait:
    """A person has been asked and has not answered."""


@dataclass(frozen=True, slots=True)
class Done:
    """`by_tool`: the words are the tool's; otherwise they are the engine's own, or a person's."""

    outcome: ToolOutcome
    by_tool: bool = False


Verdict: TypeAlias = Run | Ask | Wait | Done


async def judge(
    call: CallState, prepared: Prepared | ToolOutcome, context: ToolContext, services: Services
) -> Verdict:
    """What to do with a call that has no result yet."""
    if isinstance(prepared, ToolOutcome):
        return Done(prepared)
    if call.open_question is not None:
        return Wait()
    shut = plan_gate.blocked(prepared, context.policy, issued=bool(call.issued))
    if shut is not None:
        return Done(shut)
    if isinstance(prepared.tool, ClientTool):
        return _handed_over(call, prepared)
    if prepared.asks_human:
        return _question(call, prepared, context)
    if call.issued:
        return await _interrupted(call, prepared, context, services)
    return await _permission(call, prepared, context, services)


def _question(call: CallState, prepared: Prepared, context: ToolContext) -> Verdict:
    answer = call.answered("question")
    if answer is not None:
        return Done(ToolOutcome(ok=True, output=(TextBlock(text=_spoken(answer)), *answer.content)))
    if context.policy.unattended:
        return Done(ToolOutcome.error(NOBODY, reason="unattended", failure=OutcomeClass.FATAL))
    request = HitlRequest(
        request_id=new_id("hitl"),
        kind="question",
        question=prepared.input["question"],
        tool=call.call.name,
        tool_call_id=call.call.id,
        options=tuple(prepared.input.get("options", ())),
        created_at=now_iso(),
    )
    return Ask((request,))


def _handed_over(call: CallState, prepared: Prepared) -> Verdict:
    """The client runs it, whether or not a person is there; what it answers is the result."""
    answer = call.answered(KIND)
    if answer is not None:
        return Done(ToolOutcome(ok=True, output=(TextBlock(text=_spoken(answer)), *answer.content)), by_tool=True)
    request = HitlRequest(
        request_id=new_id("hitl"),
        kind=KIND,
        question=f"Run `{call.call.name}` and answer with its result.",
        tool=call.call.name,
        tool_call_id=call.call.id,
        input=prepared.input,
        created_at=now_iso(),
    )
    return Ask((request,))


async def _permission(call: CallState, prepared: Prepared, context: ToolContext, services: Services) -> Verdict:
    """A denial holds whatever a person has said before; a question is asked once and its answer counts, as long as the
    tool is what it was when they were asked."""
    await prepared.tool.look(prepared.input, context)
    judged = services.tools.decide(prepared, context)
    decision = hooked(judged, call.hook_permission)
    if decision.behavior == "deny":
        return Done(_denied(call, decision.reason, None))
    question = call.asked("permission")
    answer = None if question is None or question.pin != decision.pin else question.answer
    if answer is not None:
        if answer.approved:
            return Run(prepared, pin=judged.pin)
        return Done(_denied(call, "The person said no.", answer.feedback))
    if decision.behavior == "allow":
        return Run(prepared, decision.grant_id, judged.pin)
    details = await prepared.tool.details(prepared.input, context)
    if details:
        decision = replace(decision, reason=f"{decision.reason}\n{details}")
    offered = offer(prepared.tool.definition.name, prepared.input, decision, context.workspace)
    return Ask(_prompt(call, decision, offered))


def hooked(decision: Decision, said: Behavior | None) -> Decision:
    """The decision after the operator's hooks have spoken: a denial holds, an approval only spares a question
    that no rule asks for."""
    if said == "deny" and decision.behavior != "deny":
        return Decision(behavior="deny", reason="A hook of the operator denies it.", decided_by="hook")
    if said == "ask" and decision.behavior == "allow":
        reason = "A hook of the operator wants a person asked."
        return replace(decision, behavior="ask", reason=reason, decided_by="hook")
    if said == "allow" and decision.behavior == "ask" and decision.decided_by in _SPARED_BY_HOOKS:
        return Decision(behavior="allow", effects=decision.effects, decided_by="hook")
    return decision


def _prompt(call: CallState, decision: Decision, offered: GrantOffer | None) -> tuple[Event, ...]:
    request_id = new_id("hitl")
    prompt = PermissionPrompt(
        request_id=request_id,
        tool=call.call.name,
        tool_call_id=call.call.id,
        input=call.call.input,
        reason=decision.reason,
        effects=decision.effects,
        decided_by=decision.decided_by,
        offer=offered,
    )
    request = HitlRequest(
        request_id=request_id,
        kind="permission",
        question=f"May `{call.call.name}` run? {decision.reason}",
        tool=call.call.name,
        tool_call_id=call.call.id,
        input=call.call.input,
        options=("yes", "no") if offered is None else ("yes", "no", *ALWAYS),
        reason=decision.reason,
        created_at=now_iso(),
        offer=offered,
        pin=decision.pin,
    )
    return prompt, request


async def _interrupted(call: CallState, prepared: Prepared, context: ToolContext, services: Services) -> Verdict:
    """The engine died while this call ran. Never guess: repeat what is repeatable, look, or ask."""
    if prepared.effect.repeatable or login.answered(call) is not None:
        return Run(prepared)
    answer = call.answered("in_doubt")
    if answer is not None:
        return _cleared(call, prepared, answer)
    found = await services.tools.check(prepared, context)
    if found is not None:
        return Done(found, by_tool=True)
    if context.policy.unattended:
        return _cleared(call, prepared, Answer(text=SKIP))
    services.raven.note(
        "tool_in_doubt", "warning", "a tool was running when the engine stopped", tool=call.call.name
    )
    request = HitlRequest(
        request_id=new_id("hitl"),
        kind="in_doubt",
        question=(
            f"The engine stopped while `{call.call.name}` was running, and it cannot be told whether it finished. "
            f"Answer `{DONE}` if it did, `{AGAIN}` to run it again, `{SKIP}` to leave it."
        ),
        tool=call.call.name,
        tool_call_id=call.call.id,
        input=call.call.input,
        options=IN_DOUBT_OPTIONS,
        created_at=now_iso(),
    )
    return Ask((request,))


def _cleared(call: CallState, prepared: Prepared, answer: Answer) -> Verdict:
    note = f" {answer.feedback}" if answer.feedback else ""
    if answer.text == AGAIN:
        return Run(prepared)
    if answer.text == DONE:
        text = f"The engine restarted while this ran. A person confirms that it finished; its output is lost.{note}"
        return Done(ToolOutcome.text(text))
    text = (
        f"The engine restarted while this ran. It is unknown whether it finished, and it was not run again.{note}"
    )
    return Done(ToolOutcome.error(text, reason="in_doubt", failure=OutcomeClass.UNKNOWN))


def _denied(call: CallState, reason: str, feedback: str | None) -> ToolOutcome:
    note = f" They add: {feedback}" if feedback else ""
    text = f"Permission denied for `{call.call.name}`: {reason}{note} Do not repeat it; find another way or ask."
    return ToolOutcome.error(text, reason=PERMISSION_DENIED, failure=OutcomeClass.FATAL)


def _spoken(answer: Answer) -> str:
    return f"{answer.text}\n\n{answer.feedback}" if answer.feedback else answer.text
