"""Making items of the work graph: several in one call, which may name each other before they have ids."""

import msgspec

from aster.contracts.tools import Effect, ToolDef, ToolOutcome
from aster.contracts.work import WorkDraft
from aster.utility_directory.tool import Input, Tool, ToolContext, input_schema
from aster.utility_directory.work_board import line, shown

MOST_AT_ONCE = 50
_ID = {"type": "string", "minLength": 1, "maxLength": 64}


class TaskCreate(Tool):
    own_notes = True
    untrusted_output = False
    definition = ToolDef(
        name="task_create",
        description=(
            "Put work on the durable board: it outlives this conversation, and others may claim it. For the steps of "
            "what you do now use todo_write."
        ),
        input_schema=input_schema(
            ("tasks",),
            tasks={
                "type": "array",
                "minItems": 1,
                "maxItems": MOST_AT_ONCE,
                "items": {
                    "type": "object",
                    "properties": {
                        "subject": {"type": "string", "minLength": 1, "maxLength": 300},
                        "description": {"type": "string", "maxLength": 20_000},
                        "name": {**_ID, "description": "For blocked_by in this call."},
                        "blocked_by": {"type": "array", "items": _ID, "maxItems": 100},
                        "role": {**_ID, "description": "Who may claim it by itself."},
                        "priority": {"type": "integer", "minimum": -100, "maximum": 100},
                    },
                    "required": ["subject"],
                    "additionalProperties": False,
                },
                "description": "All are made, or none.",
            },
        ),
    )

    def effect(self, given: Input) -> Effect:
        return Effect.IDEMPOTENT

    async def run(self, given: Input, context: ToolContext) -> ToolOutcome:
        drafts = msgspec.convert(given["tasks"], list[WorkDraft])
        made = await context.working().create(drafts)
        return shown("\n".join(line(item) for item in made), *made)
