"""Who is in the team, and what each is at."""

from aster.contracts.tools import Effect, ToolDef, ToolOutcome
from aster.utility_directory.places import LEAD, MEMBER
from aster.utility_directory.team_room import room
from aster.utility_directory.tool import Input, Tool, ToolContext, input_schema


class TeamList(Tool):
    own_notes = True
    untrusted_output = False
    places = frozenset((LEAD, MEMBER))
    definition = ToolDef(
        name="team_list",
        description="Who is in your team, as what, whether they work or rest, and which item each is at.",
        input_schema=input_schema(()),
    )

    def effect(self, given: Input) -> Effect:
        return Effect.PURE

    async def run(self, given: Input, context: ToolContext) -> ToolOutcome:
        team, rows = await room(context.team).overview()
        lines = [f"Team {team.name} ({team.status}), board {team.board}"]
        for member, item_id in rows:
            role = f" ({member.role})" if member.role else ""
            lines.append(f"- {member.name}{role}: {member.status}{f', at {item_id}' if item_id else ''}")
        named = [{"name": member.name, "status": member.status, "item_id": item_id} for member, item_id in rows]
        return ToolOutcome.text("\n".join(lines), {"team_id": team.team_id, "members": named})
