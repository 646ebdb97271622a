"""A plan on a screen: a line for each step, with where it stands."""

from collections.abc import Iterator

from aster.cli.screen.clean import one_line
from aster.contracts.events import Plan, PlanStep

_SIGN = {"pending": "·", "in_progress": "▸", "completed": "✓", "failed": "✗", "skipped": "-"}
_WIDTH = 100


def plan_lines(plan: Plan) -> str:
    """The goal, and the steps under what they are part of."""
    return "\n".join([one_line(plan.goal, _WIDTH), *_under(plan.steps, None, 1)])


def _under(steps: tuple[PlanStep, ...], parent: str | None, depth: int) -> Iterator[str]:
    for step in steps:
        if step.parent == parent:
            yield f"{'  ' * depth}{_SIGN[step.status]} {one_line(step.text, _WIDTH)}"
            yield from _under(steps, step.id, depth + 1)
