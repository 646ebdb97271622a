"""A plan on a screen."""

from aster.cli.screen.plans import plan_lines
from aster.contracts.events import Plan, PlanStep


def test_each_step_is_a_line_under_its_whole() -> None:
    steps = (
        PlanStep(id="a", text="Read", status="in_progress"),
        PlanStep(id="a1", text="the \x1b[31mlog", parent="a", status="completed"),
        PlanStep(id="b", text="Write", status="failed"),
        PlanStep(id="c", text="Ask", status="skipped"),
        PlanStep(id="d", text="Send"),
    )
    assert plan_lines(Plan(goal="A fix", steps=steps)).splitlines() == [
        "A fix",
        "  ▸ Read",
        "    ✓ the \u241b[31mlog",
        "  ✗ Write",
        "  - Ask",
        "  · Send",
    ]
