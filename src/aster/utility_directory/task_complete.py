"""Saying that an item of the board is done, which is its owner's to say, and hearing what can be done now."""

from aster.contracts.tools import Effect, ToolDef, ToolOutcome
from aster.utility_directory.tool import Input, Tool, ToolContext, input_schema
from aster.utility_directory.work_board import ID, line, shown


class TaskComplete(Tool):
    own_notes = True
    untrusted_output = False
    definition = ToolDef(
        name="task_complete",
        description="Say that the item you claimed is done. Only its owner can; tells what became ready by it.",
        input_schema=input_schema(
            ("id",),
            id=ID,
            result={"type": "string", "maxLength": 20_000, "description": "What came of it, for whoever needs it."},
        ),
    )

    def effect(self, given: Input) -> Effect:
        return Effect.IDEMPOTENT

    async def run(self, given: Input, context: ToolContext) -> ToolOutcome:
        board = context.working()
        done, unblocked = await board.complete(given["id"], given.get("result"))
        ready = [f"Ready now: {line(item)}" for item in unblocked]
        return shown("\n".join((line(done), *ready)), done, unblocked=[item.item_id for item in unblocked])
