"""Asking the person. The call never runs: the engine suspends the turn, and the answer becomes the outcome."""

from aster.contracts.tools import Effect, ToolDef, ToolOutcome
from aster.utility_directory.tool import Input, Tool, ToolContext, input_schema


class AskUser(Tool):
    asks_human = True
    untrusted_output = False
    definition = ToolDef(
        name="ask_user",
        description=(
            "Ask the person you work for, and wait for the answer. Use it when you need a decision or a fact that "
            "only they have and that you cannot find out yourself. Ask one clear question; offer options when "
            "there are only a few sensible answers."
        ),
        input_schema=input_schema(
            ("question",),
            question={"type": "string", "minLength": 1, "description": "The question, complete in itself."},
            options={
                "type": "array",
                "items": {"type": "string", "minLength": 1},
                "maxItems": 10,
                "description": "Answers to choose from; the person may still answer freely.",
            },
        ),
    )

    def effect(self, given: Input) -> Effect:
        return Effect.PURE

    async def run(self, given: Input, context: ToolContext) -> ToolOutcome:
        return ToolOutcome.error("Nobody can be asked in this turn; decide yourself.", reason="human_required")
