"""The list of what is to do, line by line."""

from aster.cli.screen.todos import todo_lines
from aster.contracts.events import TodoItem


def test_each_step_says_where_it_stands() -> None:
    todos = (
        TodoItem(content="Read", status="completed"),
        TodoItem(content="Write", status="in_progress", active_form="Writing\x1b[2J"),
        TodoItem(content="Rest", status="pending"),
    )
    assert todo_lines(todos) == ["☑ Read", "▸ Writing␛[2J", "☐ Rest"]
