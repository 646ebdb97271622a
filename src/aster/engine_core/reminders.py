"""What the engine tells the model after the results of a step, in words of its own, when there is something to say.

Each is a function of the turn's state, so it is said at the same place again after a restart.
"""

from aster.contracts.turn import TurnState
from aster.engine_core.boundary import defused
from aster.engine_core.planning import noted
from aster.utility_directory.plan_tree import rendered

TODO_ROUNDS = 3
TODOS = "Your list of steps has not changed for a while. Bring it up to date with todo_write, or go on if it is."
PLAN = "Your plan has not changed for a while. Bring it up to date with update_plan, or go on if it is."


def due(state: TurnState) -> list[str]:
    """The reminders for the next model call, usually none."""
    lists = (TODOS if todo_due(state) else None, _plan(state) if noted.due(state) else None)
    return [text for text in (_mixed(state), *lists) if text is not None]


def todo_due(state: TurnState) -> bool:
    """The list has not been touched for some rounds of tools, and something on it is open."""
    return state.todo_rounds >= TODO_ROUNDS - 1 and any(todo.status != "completed" for todo in state.todos)


def _plan(state: TurnState) -> str | None:
    """The plan itself comes along: what was said of it before may have been compacted away."""
    return None if state.plan is None else f"{PLAN}\n{defused(rendered(state.plan))}"


def _mixed(state: TurnState) -> str | None:
    """Some calls of one step worked and some did not: a model tends to repeat all of them."""
    results = [call.result for call in state.calls.values() if call.result is not None]
    failed = sum(result.is_error for result in results)
    if not 0 < failed < len(results):
        return None
    return (
        f"{len(results) - failed} of these {len(results)} calls worked, {failed} did not. "
        "Do not repeat those that worked."
    )
