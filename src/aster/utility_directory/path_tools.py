"""What the tools that work on a path have in common: those that look, and those that change.

A path outside the workspace is refused before anything runs, whichever of them it is.
"""

from aster.contracts.tools import Effect
from aster.sandbox.paths import PathRefused
from aster.sandbox.permissions import ALLOW, Decision, decide_path
from aster.utility_directory.artifacts import PREFIX
from aster.utility_directory.text_files import NotAFile, preserved
from aster.utility_directory.tool import Input, Preserved, Tool, ToolContext


class PathTool(Tool):
    def decide(self, given: Input, context: ToolContext) -> Decision:
        return decide_path(given.get("path"), context.workspace)


class LookingTool(PathTool):
    """Changes nothing, so any number of its calls may run side by side, and again."""

    def effect(self, given: Input) -> Effect:
        return Effect.PURE

    def concurrent(self, given: Input) -> bool:
        return True


class ReadingTool(LookingTool):
    """Reads what is at a path; `artifact:ID` is one too, and is the user's own."""

    def decide(self, given: Input, context: ToolContext) -> Decision:
        return ALLOW if kept_id(given) else super().decide(given, context)


def kept_id(given: Input) -> str | None:
    """The id of the artifact that a call is about, if it is about one."""
    path: str = given.get("path", "")
    return path.removeprefix(PREFIX) if path.startswith(PREFIX) else None


class ChangingTool(PathTool):
    """Changes one file, in a way that can be seen afterwards and taken back."""

    def effect(self, given: Input) -> Effect:
        return Effect.REVERSIBLE

    async def preserve(self, given: Input, context: ToolContext) -> Preserved | None:
        def look() -> Preserved | None:
            try:
                return preserved(context.workspace, context.workspace.resolve(given["path"]))
            except (PathRefused, NotAFile, OSError):
                return None

        return await context.sandbox.files.call(look)
