"""Running a workflow that the operator has registered. The model names it and gives arguments; it never sends steps.

The same call made again after a crash goes on with the same run, so agents that have answered are not begun again.
"""

from collections.abc import Mapping
from functools import cached_property

from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.tools import Effect, ToolDef, ToolOutcome
from aster.sandbox.permissions import ALLOW, Decision
from aster.sandbox.policy import govern
from aster.utility_directory import spawn_agent
from aster.utility_directory.schema import Validate, compiled
from aster.utility_directory.tool import Input, Tool, ToolContext, input_schema
from aster.utility_directory.workflow_steps import Workflow

NAME = "run_workflow"


class RunWorkflow(Tool):
    """Its agents' calls are each decided like the caller's own, so that nothing is permitted by it. What they say comes
    from models that may have read anything, so it counts as from outside. It ends by the limits of its run."""

    own_notes = True
    endless = True

    def __init__(self, workflows: Mapping[str, Workflow]) -> None:
        self.workflows = dict(workflows)
        listed = "".join(f"\n- {one.name}: {' '.join(one.description.split())}" for one in workflows.values())
        self.definition = ToolDef(
            name=NAME,
            description=f"Run one of these workflows, in which several agents work, and get its result:{listed}",
            input_schema=input_schema(
                ("workflow",),
                workflow={"type": "string", "enum": list(workflows), "description": "Its name."},
                args={"type": "object", "description": "What it is to work on."},
                resume={
                    "type": "string",
                    "maxLength": 128,
                    "description": "A run of it that did not end well, to go on with: same args, finished agents are"
                    " not begun again.",
                },
            ),
        )

    @cached_property
    def _checks(self) -> dict[str, Validate]:
        return {
            name: compiled(name, one.args or {"type": "object"}, at_once=False)
            for name, one in self.workflows.items()
        }

    def effect(self, given: Input) -> Effect:
        return Effect.IDEMPOTENT

    def arguments(self, workflow: str, args: dict[str, object]) -> Workflow:
        """The workflow of this name, if these are arguments for it; raises `EngineError` when not."""
        found = self.workflows.get(workflow)
        if found is None:
            listed = ", ".join(self.workflows)
            raise EngineError(
                ErrorCode.NOT_FOUND, f"There is no workflow {workflow[:80]!r}. The workflows are: {listed}."
            )
        problems = self._checks[workflow](args)
        if problems:
            raise EngineError(ErrorCode.INVALID_REQUEST, f"`args` do not fit {workflow}: {' '.join(problems)}")
        return found

    def decide(self, given: Input, context: ToolContext) -> Decision:
        """Its agents are begun for the caller: where that might begin none itself, or only after asking, so here."""
        if spawn_agent.NAME not in context.tools:
            return Decision(behavior="deny", reason="You may begin no agents, so no workflow either.")
        asked = {"prompt": given["workflow"]}
        return govern(context.policy, spawn_agent.NAME, asked, Effect.PURE, ALLOW, context.workspace)

    async def run(self, given: Input, context: ToolContext) -> ToolOutcome:
        args: dict[str, object] = given.get("args") or {}
        workflow = self.arguments(given["workflow"], args)
        if context.workflows is None:
            return ToolOutcome.error("No workflow can be run here.", reason="not_here")
        return await context.workflows(workflow, args, given.get("resume"))
