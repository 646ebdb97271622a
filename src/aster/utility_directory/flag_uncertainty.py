"""The agent says what it does not know or only assumes, so that people see it beside the answer, not behind it.

Numbers out of range are brought into it; an item is settled by its id alone, and keeps the words it was noted with.
"""

from aster.contracts.events import Uncertainty
from aster.contracts.tools import Effect, ToolDef, ToolOutcome
from aster.contracts.turn import Doubt
from aster.infra.ids import new_id
from aster.utility_directory.tool import Input, Tool, ToolContext, input_schema

LEAST_IMPACT, USUAL_IMPACT, MOST_IMPACT = 1, 3, 5
USUAL_CONFIDENCE = 0.5


class FlagUncertainty(Tool):
    own_notes = True
    setter = True
    untrusted_output = False
    definition = ToolDef(
        name="flag_uncertainty",
        description=(
            "Note something important that you do not know (unknown) or take for granted without having checked "
            "(assumption) while you go on working. The person sees it; an unknown of impact 4 or 5 is put to them "
            "before your next change, unless you can find it out yourself. When you know more, call it again with "
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
                "description": "How much it matters if you are wrong: 1 little, 5 everything. 3 if not given.",
            },
            confidence={"type": "number", "description": "How sure you are of an assumption, from 0 to 1."},
            resolution={
                "type": "string",
                "enum": ["ask_user", "find_out"],
                "description": "Who can settle an unknown: the person (if not given), or you yourself.",
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
        if settled is None:
            item_id = new_id("unc")
            context.record(_noted(item_id, given))
            return ToolOutcome.text(f"Noted as {item_id}.", {"item_id": item_id})
        known = await context.doubt(settled)
        if known is None:
            text = f"Error: there is no uncertainty {settled} in this task. Give an id that a call has returned."
            return ToolOutcome.error(text, reason="invalid_input")
        context.record(resolved(settled, known, given["text"]))
        return ToolOutcome.text(f"Settled {settled}.", {"item_id": settled})


def resolved(item_id: str, known: Doubt, note: str) -> Uncertainty:
    """The event that settles an uncertainty, in the words it was noted with."""
    return Uncertainty(
        item_id=item_id,
        item=known.item,
        text=known.text,
        impact=known.impact,
        confidence=known.confidence,
        resolution=known.resolution,
        resolved=True,
        note=note,
    )


def _noted(item_id: str, given: Input) -> Uncertainty:
    unknown = given["kind"] == "unknown"
    confidence: float | None = given.get("confidence", None if unknown else USUAL_CONFIDENCE)
    return Uncertainty(
        item_id=item_id,
        item=given["kind"],
        text=given["text"],
        impact=min(max(given.get("impact", USUAL_IMPACT), LEAST_IMPACT), MOST_IMPACT),
        confidence=None if confidence is None else min(max(confidence, 0.0), 1.0),
        resolution=given.get("resolution", "ask_user") if unknown else None,
    )
