"""A skill carried out on its own, beside the conversation: only its answer comes back.

One that asks for tools is carried out by a sub-agent, where the caller may have one: its tools are those it asks for
that the caller has, and each call is decided as the caller's would be. Otherwise it is one model call.
"""

from aster.contracts.tools import Effect, ToolDef, ToolOutcome
from aster.sandbox.permissions import ALLOW
from aster.sandbox.policy import Policy, govern
from aster.skills import prompting
from aster.skills.shelf import Shelf
from aster.utility_directory import spawn_agent
from aster.utility_directory.load_skill import known_to, unknown
from aster.utility_directory.tool import Input, Tool, ToolContext, input_schema

NAME = "run_skill"


class RunSkill(Tool):
    """What goes in may come from outside, so what comes out counts as from outside too."""

    definition = ToolDef(
        name=NAME,
        description=(
            "Have a skill carried out apart from this conversation, on what you give it, and get only its result. It"
            " sees nothing else, and has no tools but those of yours that the skill asks for. Use it for a bounded job"
            " on a long text; otherwise load_skill."
        ),
        input_schema=input_schema(
            ("name", "input"),
            name={"type": "string", "maxLength": 128, "description": "The skill's name in the catalogue."},
            input={"type": "object", "description": 'What it is to work on, such as {"text": "…"}.'},
        ),
    )

    def __init__(self, shelf: Shelf | None = None) -> None:
        self._shelf = shelf

    def effect(self, given: Input) -> Effect:
        return Effect.PURE

    def concurrent(self, given: Input) -> bool:
        return True

    def hands_over(self, given: Input, context: ToolContext, policy: Policy) -> bool:
        """It begins another agent only where the caller might do so itself."""
        skill = None if self._shelf is None else self._shelf.shared(given["name"])
        if skill is None or not skill.tools or spawn_agent.NAME not in context.tools:
            return False
        asked = {"prompt": given["name"]}
        return govern(policy, spawn_agent.NAME, asked, Effect.IDEMPOTENT, ALLOW).behavior == "allow"

    def offers(self, name: str) -> bool:
        """Whether everybody has a skill of this name that can be run; where no skills were read, nobody can tell."""
        found = None if self._shelf is None else self._shelf.shared(name)
        return self._shelf is None or (found is not None and bool(found.body.strip()))

    async def run(self, given: Input, context: ToolContext) -> ToolOutcome:
        known = (
            {}
            if self._shelf is None
            else await known_to(self._shelf, context.user_id, context.sandbox, context.workspace)
        )
        skill = known.get(given["name"])
        if skill is None:
            return unknown(given["name"], known)
        if skill.acquired is not None or skill.composed is not None:
            text = f"{skill.name} is a skill of your own making; call it with use_skill."
            return ToolOutcome.error(text, reason="not_a_prompt")
        response = await context.ask(prompting.request_of(skill, given["input"], context.limits.answer_tokens))
        return ToolOutcome.text(prompting.answer_of(skill, response), {"skill": skill.name})
