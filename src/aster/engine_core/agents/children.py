"""Sub-agents in the fold: which call was handed to whom, what the call comes to when that one has ended, and what a
person's yes to one of them means to another."""

import msgspec

from aster.contracts.agents import Child
from aster.contracts.events import HitlResolved, SubagentLifecycle
from aster.contracts.tools import OutcomeClass, ToolOutcome
from aster.contracts.turn import Answer, BudgetQuestion, TurnState

NO_SUMMARY = "(no summary)"


def noted(state: TurnState, event: SubagentLifecycle) -> None:
    """A sub-agent has begun or ended. One in the background is no call's business any more."""
    if event.phase == "started":
        state.spawned += 1
    else:
        state.cost_usd += event.cost_usd or 0.0
        state.budget_granted += event.granted
    call = state.calls.get(event.tool_call_id or "")
    if call is None or event.background:
        return
    if event.phase == "started":
        call.child = Child(turn_id=event.child_turn_id, task_id=event.child_task_id, agent=event.agent)
    elif call.child is not None and call.child.turn_id == event.child_turn_id:
        call.child = msgspec.structs.replace(call.child, status=event.phase, result=event.result)


def outcome(child: Child) -> ToolOutcome:
    """What the call comes to: the last words of the one it was handed to, and nothing else."""
    said = child.result or NO_SUMMARY
    data = {"task_id": child.task_id, "turn_id": child.turn_id, "agent": child.agent, "status": child.status}
    if child.status == "completed":
        return ToolOutcome.text(said, data)
    text = f"The sub-agent {child.agent} did not finish ({child.status}): {said}"
    return ToolOutcome.error(text, reason=f"subagent_{child.status}", failure=OutcomeClass.DIAGNOSTIC, data=data)


def settled(question: BudgetQuestion, answer: Answer, event: HitlResolved) -> BudgetQuestion:
    """A question with its answer. A yes to another one allows what that one was about, and not more."""
    case = question.case
    if event.up_to_usd is not None:
        case = msgspec.structs.replace(case, up_to_usd=min(case.up_to_usd, event.up_to_usd))
    return msgspec.structs.replace(question, answer=answer, case=case)
