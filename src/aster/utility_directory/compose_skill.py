"""A proposal: a few calls of tools under one name. It can be used once a person has approved it, and not before."""

from typing import Any, Final

import msgspec

from aster.contracts.tools import Effect, ToolDef, ToolOutcome
from aster.skills.composed import MOST_STEPS, Composed, Step, problems
from aster.skills.shelf import Shelf
from aster.skills.skill import DESCRIPTION_CHARS, IDENTIFIER, one_line
from aster.utility_directory.tool import Input, Tool, ToolContext, input_schema

_STEP: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "tool": {"type": "string"},
        "input": {"type": "object"},
        "save_as": {"type": "string"},
        "optional": {"type": "boolean"},
        "when": {
            "type": "object",
            "properties": {
                name: {"type": "string"} for name in ("value", "contains", "lacks", "equals", "differs")
            },
            "required": ["value"],
            "additionalProperties": False,
        },
    },
    "required": ["tool", "input"],
    "additionalProperties": False,
}


class ComposeSkill(Tool):
    untrusted_output = False
    definition = ToolDef(
        name="compose_skill",
        description=(
            "Propose a few calls of tools, one after another or at once, as one skill. $name in a step's input is a"
            " parameter, or what an earlier step said (its save_as); commands of bash take none. A person has to"
            " approve it; then call it with use_skill."
        ),
        input_schema=input_schema(
            ("name", "description", "parameters", "steps"),
            name={"type": "string", "maxLength": 128, "description": "An identifier, such as `fetch_and_save`."},
            description={
                "type": "string",
                "minLength": 1,
                "maxLength": DESCRIPTION_CHARS,
                "description": "What it does and when to use it.",
            },
            parameters={
                "type": "array",
                "items": {"type": "string"},
                "maxItems": 20,
                "description": "The names of its parameters, all of them texts.",
            },
            steps={
                "type": "array",
                "items": _STEP,
                "minItems": 1,
                "maxItems": MOST_STEPS,
                "description": "The calls, in order; an `optional` one may fail. One with `when` is made if its value"
                ' (such as "$name") contains, lacks, equals or differs from a text.',
            },
            mode={
                "type": "string",
                "enum": ["sequential", "parallel"],
                "description": "parallel makes all calls at once; then none can use what another said.",
            },
        ),
    )

    def __init__(self, shelf: Shelf | None = None) -> None:
        self._shelf = shelf

    def effect(self, given: Input) -> Effect:
        return Effect.IDEMPOTENT

    async def run(self, given: Input, context: ToolContext) -> ToolOutcome:
        name = given["name"]
        steps = msgspec.convert(given["steps"], tuple[Step, ...])
        mode = given.get("mode", "sequential")
        composed = Composed(parameters=tuple(given["parameters"]), steps=steps, mode=mode)
        wrong = list(problems(composed, context.tools))
        if IDENTIFIER.fullmatch(name) is None or name in context.tools:
            wrong.insert(0, "the name must be an identifier of 64 characters at most, and not that of a tool")
        if self._shelf is None or wrong:
            return ToolOutcome.error(f"Not proposed: {'; '.join(wrong)}.", reason="invalid_input")
        await self._shelf.propose(
            context.user_id, name, one_line(given["description"], DESCRIPTION_CHARS), composed
        )
        text = f"Proposed {name}. It can be used once the person approves it (POST /skills/{name}/approve)."
        return ToolOutcome.text(text, {"skill": name, "status": "proposed"})
