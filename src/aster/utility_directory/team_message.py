"""Writing to somebody in the team. There is no tool to read mail: it comes by itself before the next step."""

from aster.contracts.teams import EVERYBODY
from aster.contracts.tools import Effect, ToolDef, ToolOutcome
from aster.utility_directory.places import LEAD, MEMBER
from aster.utility_directory.team_room import room
from aster.utility_directory.tool import Input, Tool, ToolContext, input_schema


class TeamMessageTool(Tool):
    own_notes = True
    untrusted_output = False
    places = frozenset((LEAD, MEMBER))
    definition = ToolDef(
        name="team_message",
        description=(
            "Write to a member of your team, to `lead`, or to `all` members. Answers come by themselves, before one of"
            " your next steps or as your next turn; do not wait for them."
        ),
        input_schema=input_schema(
            ("to", "content"),
            to={"type": "string", "minLength": 1, "maxLength": 64, "description": "A name, `lead` or `all`."},
            content={"type": "string", "minLength": 1, "maxLength": 20_000},
        ),
    )

    def effect(self, given: Input) -> Effect:
        return Effect.IDEMPOTENT

    async def run(self, given: Input, context: ToolContext) -> ToolOutcome:
        sent = await room(context.team).send(given["to"], given["content"])
        named = EVERYBODY if len(sent) > 1 else sent[0].recipient
        data = {"mail": [{"recipient": one.recipient, "message_id": one.message_id} for one in sent]}
        return ToolOutcome.text(f"Sent to {named}.", data)
