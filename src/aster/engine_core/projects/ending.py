"""The end of a turn that worked on an item of a project: what it came to, for the commit that ends it.

Only the last words of a turn that ended by itself are a result. Whatever else a turn ends with completes nothing.
"""

from typing import Final

from aster.brain.projects import EndAdvance
from aster.brain.unit import Deed
from aster.brain.work import Actor
from aster.contracts.events import Phase
from aster.contracts.projects import BOARDS, AdvanceOf
from aster.engine_core.budget_gate import turn_spent
from aster.engine_core.projects.gate import ENDS, answer_of, asks
from aster.engine_core.services import Services
from aster.engine_core.turn import Turn
from aster.work.projects.advancing import SPENT

_SPENT: Final = "What the project may use is used up. Raise its budget, then resume it."


async def ended(turn: Turn, services: Services, advance: AdvanceOf, phase: Phase, stop_reason: str) -> Deed:
    state = turn.state
    answer = answer_of(state)
    whole = phase is Phase.COMPLETED and stop_reason in ENDS and state.model_calls > 0
    result = answer if whole and answer and asks(answer) is None else None
    user_id, task_id = turn.key
    actor = Actor(user_id=user_id, name=f"{BOARDS}{advance.project_id}", task_id=task_id, turn_id=turn.turn_id)
    order = EndAdvance(
        actor=actor,
        advance_id=advance.advance_id,
        tool_calls=len(state.runs),
        usd=await turn_spent(turn),
        result=result,
        stopped=phase is Phase.CANCELLED and stop_reason != SPENT,
        reason="" if result is not None else _why(turn, phase, stop_reason),
    )
    return services.brain.projects.deed(order)


def _why(turn: Turn, phase: Phase, stop_reason: str) -> str:
    if stop_reason == SPENT:
        return _SPENT
    if phase is Phase.ERRORED:
        return f"The turn failed: {turn.state.error or stop_reason}."
    if phase is Phase.CANCELLED:
        return "The turn was stopped."
    if asks(answer_of(turn.state)) is not None:
        return "The turn asked again and again; see what it needs."
    return f"The turn ended without a result: {stop_reason}."
