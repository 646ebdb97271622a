"""A call of a skill that the agent made earlier: code that passed its test, or calls of tools that a person approved.

Whether either still works is counted with every call.
"""

from typing import Final

from msgspec.structs import replace

from aster.contracts.blocks import TextBlock
from aster.contracts.tools import PERMISSION_DENIED, ToolDef, ToolOutcome
from aster.sandbox.permissions import ALLOW, Decision
from aster.skills.composed import Composed
from aster.skills.shelf import Shelf
from aster.skills.skill import DEGRADED_AFTER
from aster.utility_directory import acquired_code, composed_run
from aster.utility_directory.load_skill import unknown
from aster.utility_directory.skill_schema import fitting
from aster.utility_directory.tool import Input, Tool, ToolContext, input_schema

_NOT_ITS_FAULT: Final = frozenset((PERMISSION_DENIED, "cancelled"))


class UseSkill(Tool):
    definition = ToolDef(
        name="use_skill",
        description=(
            "Run a skill of your own (from create_skill, or an approved one of compose_skill) on an input as load_skill"
            " shows it, and get what it says. Code runs in the sandbox and starts in the workspace."
        ),
        input_schema=input_schema(
            ("name", "input"),
            name={"type": "string", "maxLength": 128, "description": "The skill's name."},
            input={"type": "object", "description": "Its input."},
        ),
    )

    def __init__(self, shelf: Shelf | None = None) -> None:
        self._shelf = shelf

    async def look(self, given: Input, context: ToolContext) -> None:
        if self._shelf is not None:
            await self._shelf.of(context.user_id)

    def decide(self, given: Input, context: ToolContext) -> Decision:
        """The skill as it was last read; what is run is what was judged here."""
        found = None if self._shelf is None else self._shelf.at_hand(context.user_id, given["name"])
        if self._shelf is not None and found is None and not self._shelf.has_read(context.user_id):
            return Decision(behavior="ask", reason="What this skill does has not been read yet.")
        if found is None or found.acquired is None:
            return ALLOW
        return acquired_code.judged(found.acquired.code, context)

    async def run(self, given: Input, context: ToolContext) -> ToolOutcome:
        shelf, name = self._shelf, given["name"]
        known = {} if shelf is None else await shelf.of(context.user_id)
        skill = known.get(name)
        if shelf is not None and skill is not None and skill.composed is not None and skill.offered:
            return await _composed(shelf, name, skill.composed, given["input"], context)
        if shelf is None or skill is None or skill.acquired is None or not skill.offered:
            own = [each for each in known.values() if each.acquired is not None or each.composed is not None]
            return unknown(name, {each.name: each for each in own})
        if context.pin != acquired_code.pin(skill.acquired.code):
            return ToolOutcome.error(
                f"{name} has changed meanwhile; call it again.", reason="changed", retry_safe=True
            )
        large = not acquired_code.fits(given["input"])
        complaints = [] if large else await fitting(name, skill.acquired.parameters, given["input"])
        if complaints or large:
            text = f"Invalid input for {name}: {'; '.join(complaints) or 'it is too large'}."
            return ToolOutcome.error(text, reason="invalid_input")
        done = await acquired_code.run(shelf, name, skill.acquired.code, given["input"], context)
        ok = acquired_code.succeeded(done)
        after = await shelf.ran(context.user_id, skill, ok=ok)
        if ok:
            return ToolOutcome.text(acquired_code.said(done), {"skill": name, "version": after.version})
        text = f"{name} failed (status {done.exit_code}).\n{acquired_code.said(done)}"
        if after.failures >= DEGRADED_AFTER:
            text += (
                f"\n\nIt failed {after.failures} times in a row and is {after.status}. Mend it with create_skill."
            )
        return ToolOutcome.error(
            text, reason="skill_failed", data={"status": after.status, "failures": after.failures}
        )


async def _composed(shelf: Shelf, name: str, composed: Composed, given: Input, context: ToolContext) -> ToolOutcome:
    """Make the calls of a composed skill and count how it went. What it was wrongly given, or was not allowed, says
    nothing about it."""
    outcome = await composed_run.run(name, composed, given, context)
    if outcome.reason in _NOT_ITS_FAULT or outcome.data is None:
        return outcome
    after = await shelf.used(context.user_id, name, composed, ok=outcome.ok)
    if after.failures < DEGRADED_AFTER:
        return outcome
    text = (
        f"\n\nIt failed {after.failures} times in a row and is {after.status}. Propose it anew with compose_skill."
    )
    return replace(outcome, output=(*outcome.output, TextBlock(text=text)))
