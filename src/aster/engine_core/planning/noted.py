"""What the events of a thread mean for a turn's plan; part of the fold.

How much the planner was asked and how much has failed since is counted here from events alone, so that a restart
neither asks it once more nor forgets why it should.
"""

from typing import Final

from aster.contracts.events import Plan, PlanUpdate, ToolResult
from aster.contracts.turn import TurnState
from aster.utility_directory.plan_tree import unfinished

ROUNDS: Final = 3


def plan_of(event: PlanUpdate) -> Plan:
    return Plan(goal=event.goal, steps=event.steps, revision=event.revision)


def updated(state: TurnState, event: PlanUpdate) -> None:
    """The plan is another one, or stands elsewhere."""
    state.plan = plan_of(event)
    state.plan_rounds, state.plan_failures = -1, 0


def asked(state: TurnState) -> None:
    """The planner was asked, whatever came of it."""
    state.plan_calls += 1
    state.plan_failures = 0


def answered(state: TurnState, event: ToolResult, strike: bool) -> None:
    """A call of the turn came to something."""
    if state.plan is None:
        return
    if strike:
        state.plan_failures += 1
    elif event.error is None:
        state.plan_failures = max(0, state.plan_failures - 1)


def went_round(state: TurnState) -> None:
    if state.plan is not None:
        state.plan_rounds = 0 if due(state) else state.plan_rounds + 1


def due(state: TurnState) -> bool:
    """The plan has not been touched for some rounds of tools, something on it is open, and nothing else reminds."""
    plan = state.plan
    return plan is not None and state.plan_rounds >= ROUNDS - 1 and not state.todos and unfinished(plan)
