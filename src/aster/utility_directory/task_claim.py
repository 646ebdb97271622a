"""Taking an item of the board: of all who ask at once, one gets it."""

from aster.contracts.tools import Effect, ToolDef, ToolOutcome
from aster.utility_directory.tool import Input, Tool, ToolContext, input_schema
from aster.utility_directory.work_board import ID, sheet, shown


class TaskClaim(Tool):
    own_notes = True
    definition = ToolDef(
        name="task_claim",
        description="Take a ready item of the board as yours; one at a time. Then do it, and complete or release it.",
        input_schema=input_schema(("id",), id=ID),
    )

    def effect(self, given: Input) -> Effect:
        return Effect.IDEMPOTENT

    async def run(self, given: Input, context: ToolContext) -> ToolOutcome:
        board = context.working()
        taken = await board.claim(given["id"])
        return shown(sheet(taken, board.owner), taken)
