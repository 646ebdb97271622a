"""Turns of projects: how one begins for an item, and what it is told to do.

Nobody is beside it, and it has no more authority than a message of its user: whatever needs a person is refused or
waits, as the operator has set. What it may still use of its project's budgets goes with it.
"""

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from aster.brain.records import Row, ThreadKey
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.events import ProjectUpdate
from aster.contracts.projects import Advance, AdvanceOf, Project
from aster.contracts.work import WorkItem
from aster.engine_core.casting import check_model
from aster.engine_core.coordinator import Coordinator
from aster.engine_core.orders import Order
from aster.engine_core.permissions import moded
from aster.engine_core.projects.gate import GATE
from aster.engine_core.redaction import clean_order
from aster.engine_core.services import Services
from aster.work.projects.advancing import Advancing

_DO: Final = f"""\
[Project: {{title}}]
Do this one item of the project, all of it and nothing beyond it: {{subject}}
{{description}}
Nobody is there while you work. End with the result, complete in itself: others go on from it and see nothing else. If
it cannot be done without a decision, a permission or something else that only a person can give, end with a line that
begins with {GATE} and the question, and nothing after it."""


class TurnsOfProjects:
    """How those who see to advances get their turns."""

    def __init__(self, services: Services, coordinator: Coordinator) -> None:
        self._services = services
        self._coordinator = coordinator

    @property
    def draining(self) -> bool:
        return self._coordinator.draining

    async def begin(
        self, project: Project, advance: Advance, key: ThreadKey, turn_id: str, tip: str | None, rows: Sequence[Row]
    ) -> None:
        services = self._services
        item = await services.brain.work.item(key.user_id, advance.item_id)
        if item is None or item.status != "in_progress":
            raise EngineError(ErrorCode.NOT_FOUND, "Its item is not to be done any more.")
        order = Order(task_id=key.task_id, message=words(project, item), unattended=True, woken=1)
        check_model(services.settings, order.model)
        order = await services.agents.cast(key.user_id, moded(services.settings, order))
        await services.budgets.admit(key)
        told = ProjectUpdate(
            action="advance_started",
            project_id=project.project_id,
            title=project.title,
            status=project.status,
            item_id=item.item_id,
            advance_id=advance.advance_id,
            by=project.board,
            message=item.subject,
        )
        order = replace(clean_order(services.secrets, order), advance=_left(project, advance), fired=told)
        await self._coordinator.begin_child(key, turn_id, order, tip, rows)

    async def stop(self, key: ThreadKey, stop_reason: str) -> None:
        await self._coordinator.stop(key, stop_reason)


def words(project: Project, item: WorkItem) -> str:
    """What the model is told to do."""
    described = f"\n{item.description}\n" if item.description else ""
    return _DO.format(title=project.title, subject=item.subject, description=described)


def _left(project: Project, advance: Advance) -> AdvanceOf:
    budget, used = project.budget, project.used
    return AdvanceOf(
        project_id=project.project_id,
        advance_id=advance.advance_id,
        item_id=advance.item_id,
        tool_calls=None if budget.tool_calls is None else max(0, budget.tool_calls - (used.tool_calls or 0)),
        usd=None if budget.usd is None else max(0.0, budget.usd - (used.usd or 0.0)),
    )


def advancing(services: Services, coordinator: Coordinator) -> Advancing:
    """What sees to advances while the engine runs."""
    return Advancing(services.brain, TurnsOfProjects(services, coordinator), services.projects.begun)
