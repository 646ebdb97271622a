"""A member's plan, handed in before it changes anything: whoever reviews it says yes or no. A person is asked in the
middle of the call; a lead answers by mail, and the member ends its turn meanwhile."""

from aster.brain.team_requests import question
from aster.contracts.team_requests import PLAN_CHARS, TeamRequest
from aster.contracts.teams import PERSON
from aster.contracts.tools import Effect, ToolDef, ToolOutcome
from aster.utility_directory.places import MEMBER
from aster.utility_directory.team_protocols import protocols
from aster.utility_directory.tool import Asks, Input, Tool, ToolContext, input_schema


class SubmitPlan(Tool):
    own_notes = True
    places = frozenset((MEMBER,))
    untrusted_output = False
    definition = ToolDef(
        name="submit_plan",
        description=(
            "Hand in your plan for the work you are at: what you will change, in which order, and how you will check"
            " it. Until it is approved you can only look. One plan at a time; a rejected one is handed in again,"
            " changed; taking or leaving work needs a new one."
        ),
        input_schema=input_schema(
            ("plan",),
            plan={"type": "string", "minLength": 1, "maxLength": PLAN_CHARS, "description": "The whole plan."},
        ),
    )

    def effect(self, given: Input) -> Effect:
        return Effect.IDEMPOTENT

    async def run(self, given: Input, context: ToolContext) -> ToolOutcome:
        asking = "" if context.policy.unattended else context.tool_call_id
        found = await protocols(context.protocols).submit_plan(given["plan"], asking=asking)
        if found.status == "pending" and found.target == PERSON and asking:
            raise Asks(question(found, asking), told=True)
        data = {"request_id": found.request_id, "plan_status": found.status}
        return ToolOutcome.text(_words(found), data)


def _words(found: TeamRequest) -> str:
    said = f" They say: {found.feedback}" if found.feedback else ""
    match found.status:
        case "pending":
            return (
                f"Handed in as {found.request_id}; {found.target} reviews it. You are told the answer. Until then only"
                " look; if there is nothing left to look at, end your turn."
            )
        case "approved":
            return f"Your plan is approved. Go on with it.{said}"
        case "rejected":
            return f"Your plan is rejected.{said} Change it and hand it in again."
        case "void":
            return "This plan is void: what you are at has changed since. Hand in one for what you are at now."
