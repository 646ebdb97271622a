"""Asking a member for a plan: from then on it changes nothing before one is approved, whatever was approved before."""

from aster.contracts.tools import Effect, ToolDef, ToolOutcome
from aster.utility_directory.places import LEAD
from aster.utility_directory.team_protocols import MEMBER, protocols, words
from aster.utility_directory.tool import Input, Tool, ToolContext, input_schema


class RequestPlan(Tool):
    own_notes = True
    places = frozenset((LEAD,))
    untrusted_output = False
    definition = ToolDef(
        name="request_plan",
        description=(
            "Have a member of your team hand in a plan before it changes anything more. It is told, and can only look"
            " until its plan is approved."
        ),
        input_schema=input_schema(("member",), member=MEMBER, reason=words("Why, or what the plan has to say.")),
    )

    def effect(self, given: Input) -> Effect:
        return Effect.IDEMPOTENT

    async def run(self, given: Input, context: ToolContext) -> ToolOutcome:
        await protocols(context.protocols).request_plan(given["member"], given.get("reason", ""))
        return ToolOutcome.text(
            f"{given['member']} is asked for a plan, and changes nothing before it is approved."
        )
