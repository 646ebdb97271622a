"""Looking at the board: the most urgent first, a page at a time."""

from aster.contracts.tools import Effect, ToolDef, ToolOutcome
from aster.utility_directory.tool import Input, Tool, ToolContext, input_schema
from aster.utility_directory.work_board import line, shown

PAGE = 50


class TaskList(Tool):
    definition = ToolDef(
        name="task_list",
        description="List the board: what is ready to be claimed, waits for something, or is being done.",
        input_schema=input_schema(
            (),
            show={
                "type": "string",
                "enum": ["open", "ready", "in_progress", "completed"],
                "description": "Default: open.",
            },
            after={"type": "string", "maxLength": 64, "description": "The last id of the page before."},
        ),
    )

    def effect(self, given: Input) -> Effect:
        return Effect.PURE

    def concurrent(self, given: Input) -> bool:
        return True

    async def run(self, given: Input, context: ToolContext) -> ToolOutcome:
        board = context.working()
        show, after = given.get("show", "open"), given.get("after")
        if show == "ready":
            found = await board.items(limit=PAGE + 1, ready=True, after=after)
        else:
            found = await board.items(limit=PAGE + 1, status=show, after=after)
        if not found:
            return shown("There is nothing.")
        lines = [line(item, board.owner) for item in found[:PAGE]]
        if len(found) > PAGE:
            lines.append(f"There is more: call again with after={found[PAGE - 1].item_id}.")
        return shown("\n".join(lines), *found[:PAGE])
