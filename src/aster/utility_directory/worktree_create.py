"""Making a worktree for an item of the board, so that whoever claims the item works in a directory of its own. Removing
one is for people: there is no tool for it."""

from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.tools import Effect, ToolDef, ToolOutcome
from aster.utility_directory.places import REPOSITORY
from aster.utility_directory.tool import Input, Tool, ToolContext, input_schema
from aster.utility_directory.work_board import ID


class WorktreeCreate(Tool):
    places = frozenset((REPOSITORY,))
    definition = ToolDef(
        name="worktree_create",
        description=(
            "Make a git worktree for an item of the board that nobody has claimed: a directory of its own on a new"
            " branch wt/NAME. Whoever claims the item then works there and nowhere else, so that several can work at"
            " once. Their commits are on that branch: merge it in the repository when the item is completed."
        ),
        input_schema=input_schema(
            ("name", "item_id"),
            name={
                "type": "string",
                "minLength": 1,
                "maxLength": 64,
                "description": "Letters, digits and ._- , beginning with a letter or digit.",
            },
            item_id=ID,
            repository={"type": "string", "description": "Its directory, if that is not the workspace itself."},
            base={
                "type": "string",
                "description": "The branch, tag or commit to begin at; left out, what is checked out.",
            },
        ),
    )

    def effect(self, given: Input) -> Effect:
        return Effect.IDEMPOTENT

    async def run(self, given: Input, context: ToolContext) -> ToolOutcome:
        if context.worktrees is None:
            raise EngineError(ErrorCode.CONFIGURATION_INVALID, "There are no worktrees here.")
        made = await context.worktrees.make(
            given["name"], given["item_id"], given.get("repository", "."), given.get("base")
        )
        text = f"Made {made.path} on the branch {made.branch}. Whoever claims {made.item_id} works there."
        return ToolOutcome.text(text, {"worktree_id": made.worktree_id, "path": made.path, "branch": made.branch})
