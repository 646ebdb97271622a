"""Plan events: the todo list and the plan, always whole."""

from typing import Literal

from aster.contracts.events.base import Event
from aster.contracts.model import Contract


class TodoItem(Contract):
    content: str
    status: Literal["pending", "in_progress", "completed"]
    active_form: str | None = None


class TodoUpdate(Event, tag="todo_update"):
    todos: tuple[TodoItem, ...]


class PlanStep(Contract):
    id: str
    text: str
    status: Literal["pending", "in_progress", "completed", "failed", "skipped"] = "pending"
    depends_on: tuple[str, ...] = ()


class PlanUpdate(Event, tag="plan_update"):
    goal: str
    steps: tuple[PlanStep, ...]
    revision: int = 1
    reason: str | None = None
