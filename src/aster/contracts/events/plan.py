"""Plan events: the todo list and the plan, always whole."""

from typing import Literal, TypeAlias

from aster.contracts.events.base import Event
from aster.contracts.model import Contract


class TodoItem(Contract):
    content: str
    status: Literal["pending", "in_progress", "completed"]
    active_form: str | None = None


class TodoUpdate(Event, tag="todo_update"):
    todos: tuple[TodoItem, ...]


PlanStatus: TypeAlias = Literal["pending", "in_progress", "completed", "failed", "skipped"]
PlanJoin: TypeAlias = Literal["all", "any", "best"]


class PlanStep(Contract):
    """A step of a plan. A step with parts (steps whose `parent` it is) is done when `join` of them are; one that is an
    `alternative_to` another waits for that to fail. `done_when` is what the `result` has to show."""

    id: str
    text: str
    status: PlanStatus = "pending"
    depends_on: tuple[str, ...] = ()
    parent: str | None = None
    join: PlanJoin = "all"
    done_when: str | None = None
    alternative_to: str | None = None
    result: str | None = None


class Plan(Contract):
    """What is to be reached, and the steps to it. `revision` counts how often the steps themselves were changed."""

    goal: str
    steps: tuple[PlanStep, ...]
    revision: int = 1


class PlanUpdate(Event, tag="plan_update"):
    """The plan as it stands from here on, whole; `reason` says why its steps are others than before."""

    goal: str
    steps: tuple[PlanStep, ...]
    revision: int = 1
    reason: str | None = None
