"""The agent says what it does not know or only assumes, so that people see it beside the answer, not behind it."""

from aster.contracts.events import Uncertainty
from aster.contracts.tools import Effect, ToolDef, ToolOutcome
from aster.infra.ids import new_id
from aster.utility_directory.tool import Input, Tool, ToolContext, input_schema


class FlagUncertainty(Tool):
    own_notes = True
    setter = True
    untrusted_output = False
    definition = ToolDef(
        name="flag_uncertainty",
        description=(
            "Note something important that you do not know (unknown) or take for granted without having checked "
            "(assumption) while you go on working. The person sees it. When you find out later, call it again with "
            "`resolves`. If you cannot go on without an answer, use ask_user instead."
        ),
        input_schema=input_schema(
            ("kind", "text"),
            kind={
                "type": "string",
                "enum": ["unknown", "assumption"],
                "description": "Something you do not know, or something you take for granted.",
            },
            text={"type": "string", "minLength": 1, "maxLength": 1000, "description": "What it is, in a sentence."},
            impact={
                "type": "integer",
                "minimum": 1,
                "maximum": 5,
                "description": "How much it matters if you are wrong: 1 little, 5 everything. 3 if not given.",
            },
            confidence={
                "type": "number",
                "minimum": 0,
                "maximum": 1,
                "description": "How sure you are of an assumption.",
            },
            resolves={
                "type": "string",
                "maxLength": 100,
                "description": "The id of an earlier one that is settled now; text then says how.",
            },
        ),
    )

    def effect(self, given: Input) -> Effect:
        return Effect.IDEMPOTENT

    async def run(self, given: Input, context: ToolContext) -> ToolOutcome:
        settled: str | None = given.get("resolves")
        item_id = settled or new_id("unc")
        context.record(
            Uncertainty(
                item_id=item_id,
                item=given["kind"],
                text=given["text"],
                impact=given.get("impact", 3),
                confidence=given.get("confidence"),
                resolved=settled is not None,
            )
        )
        return ToolOutcome.text(f"Settled {item_id}." if settled else f"Noted as {item_id}.", {"item_id": item_id})
