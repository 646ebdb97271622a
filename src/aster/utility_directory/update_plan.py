"""The agent's plan of a longer piece of work: made once, followed, and changed in earnest only a few times.

The rules are those of `plan_tree`; a call that breaks one is refused with the reason and leaves the plan as it was. A
plan says what is to be done and allows nothing: every call it leads to is decided like any other.
"""

from typing import Any

from aster.contracts.events import Plan, PlanUpdate
from aster.contracts.tools import Effect, ToolDef, ToolOutcome
from aster.utility_directory import plan_tree
from aster.utility_directory.plan_tree import MOST_REVISIONS, MOST_STEPS, UnsoundPlan
from aster.utility_directory.tool import Input, Plans, Tool, ToolContext, input_schema

_ID = {"type": "string", "minLength": 1, "maxLength": 40}
_STEP: dict[str, Any] = {
    "type": "object",
    "properties": {
        "id": {**_ID, "description": "Short and lasting: s1, s2, s2.1."},
        "text": {"type": "string", "minLength": 1, "maxLength": 500, "description": "The step, as an order."},
        "status": {"type": "string", "enum": ["pending", "in_progress", "completed", "failed", "skipped"]},
        "depends_on": {"type": "array", "items": _ID, "maxItems": 20, "description": "Steps to be done before."},
        "parent": {**_ID, "description": "The step it is a part of."},
        "join": {
            "type": "string",
            "enum": ["all", "any", "best"],
            "description": "Of a step with parts: which of them have to be done.",
        },
        "done_when": {"type": "string", "maxLength": 300, "description": "What its result has to show."},
        "alternative_to": {**_ID, "description": "The step it takes the place of, should that fail."},
        "result": {"type": "string", "maxLength": 2000, "description": "What came of it."},
    },
    "required": ["id"],
    "additionalProperties": False,
}


class UpdatePlan(Tool):
    own_notes = True
    untrusted_output = False
    definition = ToolDef(
        name="update_plan",
        description=(
            "Keep the plan of a longer piece of work up to date: give the steps that changed, by id, with their new "
            "status (in_progress when you begin, completed or failed with a result). A new plan begins with a goal "
            "and all its steps. New or other steps are a revision; there are at "
            f"most {MOST_REVISIONS}. Not for work of one or two steps."
        ),
        input_schema=input_schema(
            ("steps",),
            goal={"type": "string", "maxLength": 500, "description": "What is to be reached; for a new plan."},
            steps={
                "type": "array",
                "minItems": 1,
                "maxItems": MOST_STEPS,
                "items": _STEP,
                "description": "The steps that are new or changed.",
            },
            reason={"type": "string", "maxLength": 500, "description": "Why the steps are others than before."},
        ),
    )

    def effect(self, given: Input) -> Effect:
        return Effect.IDEMPOTENT

    async def run(self, given: Input, context: ToolContext) -> ToolOutcome:
        try:
            plan = _after(await context.plans(), given)
        except UnsoundPlan as problem:
            return ToolOutcome.error(
                f"Error: {problem}. The plan was left as it was.",
                reason="invalid_input",
                data={"plan": "unchanged"},
            )
        context.record(
            PlanUpdate(goal=plan.goal, steps=plan.steps, revision=plan.revision, reason=given.get("reason"))
        )
        return ToolOutcome.text(_told(plan, given), {"revision": plan.revision, "steps": len(plan.steps)})


def _after(plans: Plans, given: Input) -> Plan:
    """The plan after a call. In a turn that has none yet, a goal begins a new one, and a call without goes on with the
    newest of the task."""
    goal: str | None = given.get("goal")
    known = plans.now or (None if goal else plans.before)
    if known is not None:
        return plan_tree.changed(known, given["steps"], goal)
    if not goal:
        raise UnsoundPlan("there is no plan yet; give its goal and all its steps")
    return plan_tree.changed(Plan(goal=goal, steps=(), revision=0), given["steps"])


def _told(plan: Plan, given: Input) -> str:
    """The plan as it stands, and which steps did not come to what was said of them."""
    said = {change["id"]: change.get("status") for change in given["steps"]}
    missed = [step for step in plan.steps if step.status == "failed" and said.get(step.id) == "completed"]
    notes = [f"{step.id} counts as failed: its result does not show this: {step.done_when}" for step in missed]
    return "\n".join((plan_tree.rendered(plan), *notes))
