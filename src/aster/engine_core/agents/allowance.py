"""What a person has allowed to be spent beyond a budget, for all who spend from it: the turn that was asked, the agents
that work for it, and those it works for.

A budget is one for a person's turn and all it leads to, so it is asked about once. What is allowed reaches a sub-agent
with its order, and its caller with its end; whoever asks the same at the same time is answered with it.
"""

from collections.abc import AsyncIterator

import msgspec

from aster.brain.protocol import Brain
from aster.brain.records import HitlRecord, ThreadKey
from aster.brain.unit import Conflict, Unanswered
from aster.contracts.budgets import BudgetCase
from aster.contracts.events import HitlResolved
from aster.contracts.model import decode
from aster.contracts.turn import TurnState
from aster.engine_core.agents.showing import answered


def granted(state: TurnState) -> tuple[BudgetCase, ...]:
    """All that holds for a turn."""
    return (*state.request.budget, *gained(state))


def gained(state: TurnState) -> tuple[BudgetCase, ...]:
    """What was allowed since it began."""
    own = (each.case for each in state.budget_questions if each.answer is not None and each.answer.approved)
    return (*state.budget_granted, *own)


async def share(
    brain: Brain, home: ThreadKey, request: HitlRecord, given: HitlResolved
) -> AsyncIterator[HitlRecord]:
    """Answer the same question of others who spend from the same budget for the same turn of a person; which those
    were."""
    case, root = _case(request), await _root(brain, request)
    for other in await brain.pending_requests(home.user_id, home.task_id):
        if other.kind != "budget" or not _same(case, _case(other)) or await _root(brain, other) != root:
            continue
        resolved = msgspec.structs.replace(given, request_id=other.request_id, up_to_usd=case.up_to_usd)
        key, guard = ThreadKey(other.user_id, other.task_id), Unanswered(other.request_id)
        try:
            await brain.append(key, other.turn_id, [resolved], guard=guard)
        except Conflict:
            continue
        await answered(brain, other, resolved)
        yield other


def _same(case: BudgetCase, other: BudgetCase) -> bool:
    """Whether a yes to one speaks to the other: going up to a budget is less than going beyond it."""
    if (case.scope, case.owner, case.day) != (other.scope, other.owner, other.day):
        return False
    return case.rung == "exceeded" or other.rung == "ask"


def _case(request: HitlRecord) -> BudgetCase:
    return decode(request.input or b"{}", BudgetCase)


async def _root(brain: Brain, request: HitlRecord) -> str:
    """The person's turn that it is asked for."""
    found = await brain.subagent(request.user_id, request.turn_id)
    return request.turn_id if found is None else found.root_turn_id
