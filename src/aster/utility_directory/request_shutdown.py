"""Asking a member to stop: it finishes its step, gives its work back and is gone; nothing is torn out of its hands."""

from aster.contracts.tools import Effect, ToolDef, ToolOutcome
from aster.utility_directory.places import LEAD
from aster.utility_directory.team_protocols import MEMBER, protocols, words
from aster.utility_directory.tool import Input, Tool, ToolContext, input_schema


class RequestShutdown(Tool):
    own_notes = True
    places = frozenset((LEAD,))
    untrusted_output = False
    definition = ToolDef(
        name="request_shutdown",
        description=(
            "Ask a member of your team to stop for good. It finishes the step it is at and gives its work back to the"
            " board; you are told when it has stopped."
        ),
        input_schema=input_schema(("member",), member=MEMBER, reason=words("Why.")),
    )

    def effect(self, given: Input) -> Effect:
        return Effect.IDEMPOTENT

    async def run(self, given: Input, context: ToolContext) -> ToolOutcome:
        found = await protocols(context.protocols).request_shutdown(given["member"], given.get("reason", ""))
        now = "has stopped" if found.status == "approved" else "stops when it has finished its step"
        data = {"request_id": found.request_id, "status": found.status}
        return ToolOutcome.text(f"{found.member} {now} ({found.request_id}).", data)
