"""What the engine tells the model after the results of a step, in words of its own, when there is something to say.

Each is a function of the turn's state, so it is said at the same place again after a restart.
"""

from aster.contracts.turn import TurnState

TODO_ROUNDS = 3
TODOS = "Your list of steps has not changed for a while. Bring it up to date with todo_write, or go on if it is."


def due(state: TurnState) -> list[str]:
    """The reminders for the next model call, usually none."""
    return [text for text in (_mixed(state), TODOS if todo_due(state) else None) if text is not None]


def todo_due(state: TurnState) -> bool:
    """The list has not been touched for some rounds of tools, and something on it is open."""
    return state.todo_rounds >= TODO_ROUNDS - 1 and any(todo.status != "completed" for todo in state.todos)


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
