"""Running a composed skill: its calls one after another, each decided like a call of the model's own.

A step that fails ends it, unless it is optional; what was said is told step by step, so that the model knows how far it
got.
"""

from dataclasses import replace

from aster.contracts.blocks import text_of
from aster.contracts.tools import ToolOutcome
from aster.skills.composed import STEP_CHARS, Composed, bounded, filled
from aster.utility_directory.tool import Input, ToolContext


async def run(name: str, composed: Composed, given: Input, context: ToolContext) -> ToolOutcome:
    """What the steps came to."""
    missing = [each for each in composed.parameters if not isinstance(given.get(each), str)]
    if missing or len(given) != len(composed.parameters):
        text = (
            f"Invalid input for {name}: its parameters, all texts, are {', '.join(composed.parameters) or 'none'}."
        )
        return ToolOutcome.error(text, reason="invalid_input")
    values: dict[str, str] = {each: str(given[each]) for each in composed.parameters}
    told: list[str] = []
    for number, step in enumerate(composed.steps, 1):
        own = replace(context, idempotency_key=f"{context.idempotency_key}:{number}")
        outcome = await context.perform(own, step.tool, filled(step.input, values))
        said = text_of(outcome.output)
        told.append(f"Step {number}, {step.tool}: {'' if outcome.ok else 'failed: '}{_short(said)}")
        if step.save_as:
            values[step.save_as] = bounded(said) if outcome.ok else ""
        if not outcome.ok and not step.optional:
            told.append(f"{name} ended at step {number} of {len(composed.steps)}; the steps before it were done.")
            return ToolOutcome.error("\n".join(told), reason=outcome.reason or "step_failed", data={"step": number})
    return ToolOutcome.text("\n".join(told), {"skill": name, "steps": len(composed.steps)})


def _short(text: str) -> str:
    return text if len(text) <= STEP_CHARS else f"{text[:STEP_CHARS]} […]"
