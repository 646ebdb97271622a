"""Giving an item back to the board, for whoever takes it next."""

from aster.contracts.tools import Effect, ToolDef, ToolOutcome
from aster.utility_directory.tool import Input, Tool, ToolContext, input_schema
from aster.utility_directory.work_board import ID, line, shown


class TaskRelease(Tool):
    own_notes = True
    untrusted_output = False
    definition = ToolDef(
        name="task_release",
        description="Give the item you claimed back to the board, undone, for whoever is to take it next.",
        input_schema=input_schema(
            ("id",), id=ID, reason={"type": "string", "maxLength": 1000, "description": "Why."}
        ),
    )

    def effect(self, given: Input) -> Effect:
        return Effect.IDEMPOTENT

    async def run(self, given: Input, context: ToolContext) -> ToolOutcome:
        board = context.working()
        back = await board.release(given["id"], given.get("reason"))
        return shown(line(back, board.owner), back)
