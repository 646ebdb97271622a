"""The agent's list of what is to do, a line for each step."""

from aster.cli.screen.clean import one_line
from aster.contracts.events import TodoItem

_BOX = {"pending": "☐", "in_progress": "▸", "completed": "☑"}


def todo_lines(todos: tuple[TodoItem, ...], width: int = 100) -> list[str]:
    """One line each; the step under way is said the way it is while it lasts."""
    return [f"{_BOX[todo.status]} {one_line(_said(todo), width)}" for todo in todos]


def _said(todo: TodoItem) -> str:
    return todo.active_form or todo.content if todo.status == "in_progress" else todo.content
