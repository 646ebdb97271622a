"""Changing an item of the board, and what it waits for, in one go or not at all."""

from aster.contracts.tools import Effect, ToolDef, ToolOutcome
from aster.contracts.work import WorkEdit
from aster.utility_directory.tool import Input, Tool, ToolContext, input_schema
from aster.utility_directory.work_board import ID, line, shown

_IDS = {"type": "array", "items": {"type": "string", "minLength": 1, "maxLength": 64}, "maxItems": 100}
_SAID = ("subject", "description", "role", "priority")


class TaskUpdate(Tool):
    own_notes = True
    untrusted_output = False
    definition = ToolDef(
        name="task_update",
        description="Change an item of the board, what it waits for, or delete it. What it waits for is settled once "
        "it is claimed.",
        input_schema=input_schema(
            ("id",),
            id=ID,
            subject={"type": "string", "minLength": 1, "maxLength": 300, "description": "New subject."},
            description={"type": "string", "maxLength": 20_000, "description": "New text."},
            role={"type": "string", "maxLength": 64, "description": "Empty for anybody."},
            priority={"type": "integer", "minimum": -100, "maximum": 100, "description": "Higher is sooner."},
            add_blocked_by={**_IDS, "description": "What it also waits for."},
            remove_blocked_by={**_IDS, "description": "What it waits for no longer."},
            delete={"type": "boolean", "description": "Take it off the board."},
        ),
    )

    def effect(self, given: Input) -> Effect:
        return Effect.IDEMPOTENT

    async def run(self, given: Input, context: ToolContext) -> ToolOutcome:
        board = context.working()
        if given.get("delete"):
            gone = await board.discard(given["id"])
            return shown(line(gone, board.owner), gone)
        now = await board.edit(
            given["id"],
            WorkEdit(**{name: given[name] for name in _SAID if name in given}),
            add=given.get("add_blocked_by", ()),
            remove=given.get("remove_blocked_by", ()),
        )
        return shown(line(now, board.owner), now)
