"""A tool that stands for a skill: what a model gives are the skill's parameters, and a model of its own carries it out.

It is the call of `run_skill` that is judged, run and answered for.
"""

from typing import Any

from aster.contracts.tools import ToolDef, ToolOutcome
from aster.utility_directory.run_skill import RunSkill
from aster.utility_directory.tool import Input, Meant, Tool, ToolContext


class SkillTool(Tool):
    source = "catalog"

    def __init__(
        self, definition: ToolDef, runner: RunSkill, skill: str, fixed: dict[str, Any], requires_permission: bool
    ) -> None:
        self.definition = definition
        self.requires_permission = requires_permission
        self._runner = runner
        self._skill = skill
        self._fixed = fixed

    def stands_for(self, given: Input) -> Meant:
        return Meant(self._runner.definition.name, {"name": self._skill, "input": {**given, **self._fixed}})

    async def run(self, given: Input, context: ToolContext) -> ToolOutcome:
        return await self._runner.run(self.stands_for(given).input, context)
