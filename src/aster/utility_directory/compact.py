"""The agent asks for its conversation to be compacted, once the results of this step are in."""

from aster.contracts.events import CompactionRequested
from aster.contracts.tools import Effect, ToolDef, ToolOutcome
from aster.utility_directory.tool import Input, Tool, ToolContext, input_schema


class Compact(Tool):
    own_notes = True
    untrusted_output = False
    definition = ToolDef(
        name="compact",
        description=(
            "Replace the older part of this conversation by a summary, to make room. Use it between two pieces of a "
            "long work, not in the middle of one; it also happens by itself when the room runs out. Nothing is lost: "
            "the whole transcript can be read and searched afterwards."
        ),
        input_schema=input_schema(
            (),
            focus={
                "type": "string",
                "maxLength": 2000,
                "description": "What the summary has to keep above all.",
            },
        ),
    )

    def effect(self, given: Input) -> Effect:
        return Effect.IDEMPOTENT

    async def run(self, given: Input, context: ToolContext) -> ToolOutcome:
        context.record(CompactionRequested(by="model", focus=given.get("focus") or None))
        return ToolOutcome.text("The conversation is compacted before your next step.")
