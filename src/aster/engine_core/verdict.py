"""The verdict on one tool call: run it, ask a person first, wait for the answer, or answer it without running.

It is a function of where the call stands on the thread, so it gives the same verdict before and after a restart.
"""

from dataclasses import dataclass
from typing import TypeAlias

from aster.contracts.blocks import TextBlock
from aster.contracts.events import Event, HitlRequest, PermissionPrompt
from aster.contracts.tools import OutcomeClass, ToolOutcome
from aster.contracts.turn import Answer, CallState
from aster.engine_core.services import Services
from aster.infra.clock import now_iso
from aster.infra.ids import new_id
from aster.utility_directory.tool import ToolContext
from aster.utility_directory.tool_runtime import Prepared

DONE, AGAIN, SKIP = "done", "again", "skip"
IN_DOUBT_OPTIONS = (DONE, AGAIN, SKIP)


@dataclass(frozen=True, slots=True)
class Run:
    prepared: Prepared


@dataclass(frozen=True, slots=True)
class Ask:
    events: tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class Wait:
    """A person has been asked and has not answered."""


@dataclass(frozen=True, slots=True)
class Done:
    outcome: ToolOutcome


Verdict: TypeAlias = Run | Ask | Wait | Done


async def judge(
    call: CallState, prepared: Prepared | ToolOutcome, context: ToolContext, services: Services
) -> Verdict:
    """What to do with a call that has no result yet."""
    if isinstance(prepared, ToolOutcome):
        return Done(prepared)
    if call.open_question is not None:
        return Wait()
    if prepared.asks_human:
        return _question(call, prepared)
    if call.issued:
        return await _interrupted(call, prepared, context, services)
    return _permission(call, prepared, context, services)


def _question(call: CallState, prepared: Prepared) -> Verdict:
    answer = call.answered("question")
    if answer is not None:
        return Done(ToolOutcome(ok=True, output=(TextBlock(text=_spoken(answer)), *answer.content)))
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


def _permission(call: CallState, prepared: Prepared, context: ToolContext, services: Services) -> Verdict:
    answer = call.answered("permission")
    if answer is not None:
        if answer.approved:
            return Run(prepared)
        return Done(_denied(call, "The person said no.", answer.feedback))
    decision = services.tools.decide(prepared, context)
    if decision.behavior == "allow":
        return Run(prepared)
    if decision.behavior == "deny":
        return Done(_denied(call, decision.reason, None))
    request_id = new_id("hitl")
    prompt = PermissionPrompt(
        request_id=request_id,
        tool=call.call.name,
        tool_call_id=call.call.id,
        input=call.call.input,
        reason=decision.reason,
        effects=decision.effects,
    )
    request = HitlRequest(
        request_id=request_id,
        kind="permission",
        question=f"May `{call.call.name}` run? {decision.reason}",
        tool=call.call.name,
        tool_call_id=call.call.id,
        input=call.call.input,
        options=("yes", "no"),
        reason=decision.reason,
        created_at=now_iso(),
    )
    return Ask((prompt, request))


async def _interrupted(call: CallState, prepared: Prepared, context: ToolContext, services: Services) -> Verdict:
    """The engine died while this call ran. Never guess: repeat what is repeatable, look, or ask."""
    if prepared.effect.repeatable:
        return Run(prepared)
    answer = call.answered("in_doubt")
    if answer is not None:
        return _cleared(call, prepared, answer)
    found = await services.tools.check(prepared, context)
    if found is not None:
        return Done(found)
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
    return ToolOutcome.error(text, reason="permission_denied", failure=OutcomeClass.FATAL)


def _spoken(answer: Answer) -> str:
    return f"{answer.text}\n\n{answer.feedback}" if answer.feedback else answer.text
