"""A skill that the agent writes for itself: code that is kept only once its own test has passed in the sandbox."""

import asyncio
from typing import Final

from aster.contracts.tools import ToolDef, ToolOutcome
from aster.sandbox.permissions import Decision
from aster.skills.shelf import Shelf
from aster.skills.skill import CODE_CHARS, DESCRIPTION_CHARS, IDENTIFIER, Acquired, one_line
from aster.utility_directory import acquired_code
from aster.utility_directory.skill_schema import fitting
from aster.utility_directory.tool import Input, Tool, ToolContext, input_schema

SILENT: Final = (
    "The test ended well and said nothing, so the skill was not kept. Let the code read its input with"
    " json.loads(sys.argv[1]) and print its result; if it only defines functions, call them under"
    ' `if __name__ == "__main__":`.'
)


class CreateSkill(Tool):
    definition = ToolDef(
        name="create_skill",
        description=(
            "Keep a piece of Python code as a skill of your own, for work you will do again. It is a program: input as"
            " JSON in sys.argv[1], result on standard output, standard library only. It is tested now with"
            " test_payload, and kept only if that exits with 0 and prints something. The same name again makes the next"
            " version. Call it later with use_skill."
        ),
        input_schema=input_schema(
            ("name", "description", "parameters_schema", "code", "test_payload"),
            name={"type": "string", "maxLength": 128, "description": "An identifier, such as `word_count`."},
            description={
                "type": "string",
                "minLength": 1,
                "maxLength": DESCRIPTION_CHARS,
                "description": "What it does and when to use it.",
            },
            parameters_schema={"type": "object", "description": "The JSON Schema of its input, an object."},
            code={"type": "string", "minLength": 1, "maxLength": CODE_CHARS, "description": "The program."},
            test_payload={"type": "object", "description": "An input to test it with."},
        ),
    )

    def __init__(self, shelf: Shelf | None = None) -> None:
        self._shelf = shelf

    def decide(self, given: Input, context: ToolContext) -> Decision:
        return acquired_code.judged(given["code"], context)

    async def run(self, given: Input, context: ToolContext) -> ToolOutcome:
        if self._shelf is None:
            return ToolOutcome.error("There are no skills here.", reason="no_skills")
        name, problem = given["name"], await _problem(self._shelf, given, context)
        if problem is not None:
            return ToolOutcome.error(f"Not kept: {problem}.", reason="invalid_input")
        done = await acquired_code.run(self._shelf, name, given["code"], given["test_payload"], context)
        await asyncio.to_thread(self._shelf.copies.drop, context.user_id, name)
        if not acquired_code.succeeded(done):
            text = (
                f"The test failed (status {done.exit_code}), so the skill was not kept.\n{acquired_code.said(done)}"
            )
            return ToolOutcome.error(text, reason="test_failed")
        if not done.stdout.strip():
            return ToolOutcome.error(SILENT, reason="test_silent")
        acquired = Acquired(
            code=given["code"], parameters=given["parameters_schema"], test_payload=given["test_payload"]
        )
        described = one_line(given["description"], DESCRIPTION_CHARS)
        skill = await self._shelf.learn(context.user_id, name, described, acquired)
        assert skill.acquired is not None
        text = (
            f"Kept as {name}, version {skill.acquired.version}. Its test printed:\n{acquired_code.said(done)}\n\nCall"
            " it with use_skill."
        )
        return ToolOutcome.text(text, {"skill": name, "version": skill.acquired.version})


async def _problem(shelf: Shelf, given: Input, context: ToolContext) -> str | None:
    """What keeps this from being a skill, before its code is run at all."""
    name, schema, payload = given["name"], given["parameters_schema"], given["test_payload"]
    if IDENTIFIER.fullmatch(name) is None:
        return "the name must be letters, digits and _, not begin with a digit, and have 64 characters at most"
    if name in context.tools:
        return f"{name} is the name of a tool; choose another"
    known = (await shelf.of(context.user_id)).get(name)
    if known is not None and known.acquired is None:
        return f"{name} is a skill that you did not write; choose another name"
    if not acquired_code.fits(payload):
        return f"test_payload is larger than {acquired_code.INPUT_BYTES:,} bytes"
    complaints = await fitting(name, schema, payload)
    return "; ".join(complaints) if complaints else None
