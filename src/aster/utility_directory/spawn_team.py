"""Proposing a team: who is to be in it is said in one call, and nobody is begun before the person has said yes."""

from typing import Final

import msgspec

from aster.contracts.teams import MemberDraft
from aster.contracts.tools import PERMISSION_DENIED, Effect, OutcomeClass, ToolDef, ToolOutcome
from aster.utility_directory.places import FREE, LEAD
from aster.utility_directory.team_room import room
from aster.utility_directory.tool import Asks, Input, Tool, ToolContext, input_schema

NAME: Final = "spawn_team"
KIND: Final = "team"
"""What a person is asked who says whether a team may be made."""
_NAME: Final = {"type": "string", "minLength": 1, "maxLength": 64}


class SpawnTeam(Tool):
    own_notes = True
    untrusted_output = False
    places = frozenset((FREE, LEAD))
    definition = ToolDef(
        name=NAME,
        description=(
            "Propose a team of agents that work beside you, each in a conversation of its own, when the work has parts"
            " that can go on at the same time. All members in one call; the person is asked before anybody begins. Put"
            " the work on the board first (task_create), then give members items or let them take what fits their role."
            " Then end your turn: what members write wakes you by itself, there is nothing to poll. Call it again to"
            " add members."
        ),
        input_schema=input_schema(
            ("members",),
            members={
                "type": "array",
                "minItems": 1,
                "maxItems": 50,
                "items": {
                    "type": "object",
                    "properties": {
                        "name": {**_NAME, "description": "Letters, digits, _ and -."},
                        "prompt": {
                            "type": "string",
                            "minLength": 1,
                            "maxLength": 20_000,
                            "description": "Its first message: all it has to know, it sees nothing of this talk.",
                        },
                        "role": {**_NAME, "description": "It takes items of this role, or of none, by itself."},
                        "agent": {**_NAME, "description": "The agent it is; the usual one if left out."},
                        "item_id": {**_NAME, "description": "The item it begins with; it has to be ready."},
                        "require_plan": {
                            "type": "boolean",
                            "description": "It may only look until its plan is approved.",
                        },
                    },
                    "required": ["name", "prompt"],
                    "additionalProperties": False,
                },
            },
            name={**_NAME, "description": "What the team is called."},
            board={**_NAME, "description": "The board it works on: main, or a new one of its own if left out."},
            budget_usd={"type": "number", "exclusiveMinimum": 0, "description": "What members may spend together."},
        ),
    )

    def effect(self, given: Input) -> Effect:
        return Effect.IDEMPOTENT

    async def run(self, given: Input, context: ToolContext) -> ToolOutcome:
        drafts = msgspec.convert(given["members"], list[MemberDraft])
        proposal = await room(context.team).propose(
            drafts, given.get("name"), given.get("board"), given.get("budget_usd")
        )
        made = await proposal.made()
        if not made:
            question = context.asked
            if question is None or question.kind != KIND or question.answer is None:
                raise Asks(proposal.request)
            if not question.answer.approved:
                said = f" They add: {question.answer.feedback}" if question.answer.feedback else ""
                text = f"The person does not want this team.{said} Nobody was begun; go on without it."
                return ToolOutcome.error(text, reason=PERMISSION_DENIED, failure=OutcomeClass.FATAL)
            made = await proposal.spawn()
        names = ", ".join(member.name for member in made)
        text = (
            f"{names} began. End your turn when you have nothing else to do now: their results and questions wake you"
            " by themselves."
        )
        members = [{"name": member.name, "task_id": member.task_id} for member in made]
        return ToolOutcome.text(text, {"team_id": made[0].team_id, "members": members})
