"""A tool of the catalog that stands for an action of a connected server: the operator's name, words and arguments over
it. The action's own schema, policy, grants and pin hold as if it had been called by itself."""

from typing import Any

from aster.contracts.tools import ToolDef, ToolOutcome
from aster.utility_directory.tool import Input, Meant, Tool, ToolContext


class ConnectedTool(Tool):
    source = "catalog"

    def __init__(self, definition: ToolDef, action: str, fixed: dict[str, Any], requires_permission: bool) -> None:
        self.definition = definition
        self.requires_permission = requires_permission
        self._action = action
        self._fixed = fixed

    def stands_for(self, given: Input) -> Meant:
        return Meant(self._action, {**given, **self._fixed})

    async def run(self, given: Input, context: ToolContext) -> ToolOutcome:
        text = f"{self.definition.name} stands for {self._action} and does nothing itself."
        return ToolOutcome.error(text, reason="not_callable")
