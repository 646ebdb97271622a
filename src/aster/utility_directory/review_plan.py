"""The lead's yes or no to a member's plan. It counts once, for the plan as it was handed in, and only where the lead is
who reviews plans."""

from aster.contracts.tools import Effect, ToolDef, ToolOutcome
from aster.utility_directory.places import LEAD
from aster.utility_directory.team_protocols import MEMBER, protocols, words
from aster.utility_directory.tool import Input, Tool, ToolContext, input_schema


class ReviewPlan(Tool):
    own_notes = True
    places = frozenset((LEAD,))
    untrusted_output = False
    definition = ToolDef(
        name="review_plan",
        description=(
            "Approve or reject the plan that a member of your team has handed in. A rejected plan is handed in again;"
            " say in the feedback what has to be another."
        ),
        input_schema=input_schema(
            ("request_id", "member", "approve"),
            request_id={"type": "string", "maxLength": 64, "description": "The request that its mail named."},
            member=MEMBER,
            approve={"type": "boolean", "description": "Whether the member may go on with it."},
            feedback=words("What the member should know, and with a no what to change."),
        ),
    )

    def effect(self, given: Input) -> Effect:
        return Effect.IDEMPOTENT

    async def run(self, given: Input, context: ToolContext) -> ToolOutcome:
        found = await protocols(context.protocols).review_plan(
            given["request_id"], given["member"], given["approve"], given.get("feedback")
        )
        data = {"request_id": found.request_id, "status": found.status}
        return ToolOutcome.text(f"The plan of {found.member} is {found.status}; it has been told.", data)
