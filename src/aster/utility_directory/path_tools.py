"""What the tools that work on a path have in common: those that look, and those that change.

A path outside the workspace is refused before anything runs, whichever of them it is.
"""

from aster.contracts.tools import Effect
from aster.sandbox.permissions import Decision, decide_path
from aster.utility_directory.tool import Input, Tool, ToolContext


class PathTool(Tool):
    def decide(self, given: Input, context: ToolContext) -> Decision:
        return decide_path(given.get("path"), context.workspace)


class LookingTool(PathTool):
    """Changes nothing, so any number of its calls may run side by side, and again."""

    def effect(self, given: Input) -> Effect:
        return Effect.PURE

    def concurrent(self, given: Input) -> bool:
        return True


class ChangingTool(PathTool):
    """Changes one file, in a way that can be seen afterwards and taken back."""

    def effect(self, given: Input) -> Effect:
        return Effect.REVERSIBLE
