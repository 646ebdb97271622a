"""Looking at one item of the board, with all it says."""

from aster.contracts.tools import Effect, ToolDef, ToolOutcome
from aster.utility_directory.tool import Input, Tool, ToolContext, input_schema
from aster.utility_directory.work_board import ID, sheet, shown


class TaskGet(Tool):
    definition = ToolDef(
        name="task_get",
        description="Read an item of the board: what it says, what it waits for, who has it, what came of it.",
        input_schema=input_schema(("id",), id=ID),
    )

    def effect(self, given: Input) -> Effect:
        return Effect.PURE

    def concurrent(self, given: Input) -> bool:
        return True

    async def run(self, given: Input, context: ToolContext) -> ToolOutcome:
        board = context.working()
        found = await board.item(given["id"])
        return shown(sheet(found, board.owner), found)
