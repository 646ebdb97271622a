"""Running a composed skill: its calls one after another or all at once, each decided like a call of the model's own.

A step that fails ends it, unless it is optional; what was said is told step by step, so that the model knows how far it
got.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Final, NamedTuple

from aster.contracts.blocks import text_of
from aster.contracts.tools import ToolOutcome
from aster.skills.composed import STEP_CHARS, Composed, Step, bounded, filled
from aster.utility_directory.tool import Input, ToolContext

MOST_TOGETHER: Final = 10


class _Done(NamedTuple):
    """A step and what it came to; None when it was not made."""

    number: int
    step: Step
    outcome: ToolOutcome | None

    @property
    def failed(self) -> bool:
        return self.outcome is not None and not self.outcome.ok and not self.step.optional

    @property
    def said(self) -> str:
        return "" if self.outcome is None else text_of(self.outcome.output)

    def told(self) -> str:
        lead = f"Step {self.number}, {self.step.tool}:"
        if self.outcome is None:
            return f"{lead} not made, by its condition"
        short = self.said if len(self.said) <= STEP_CHARS else f"{self.said[:STEP_CHARS]} […]"
        return f"{lead} {'' if self.outcome.ok else 'failed: '}{short}"


async def run(name: str, composed: Composed, given: Input, context: ToolContext) -> ToolOutcome:
    """What the steps came to."""
    missing = [each for each in composed.parameters if not isinstance(given.get(each), str)]
    if missing or len(given) != len(composed.parameters):
        text = (
            f"Invalid input for {name}: its parameters, all texts, are {', '.join(composed.parameters) or 'none'}."
        )
        return ToolOutcome.error(text, reason="invalid_input")
    values: dict[str, str] = {each: str(given[each]) for each in composed.parameters}
    together = composed.mode == "parallel"
    done = await (_at_once if together else _in_order)(composed, values, context)
    told = [each.told() for each in done]
    failed = next((each for each in done if each.failed), None)
    if failed is None or failed.outcome is None:
        return ToolOutcome.text("\n".join(told), {"skill": name, "steps": len(composed.steps)})
    others = "the others were done" if together else "the steps before it were done"
    told.append(f"{name} ended at step {failed.number} of {len(composed.steps)}; {others}.")
    reason = failed.outcome.reason or "step_failed"
    return ToolOutcome.error("\n".join(told), reason=reason, data={"step": failed.number})


async def _in_order(composed: Composed, values: dict[str, str], context: ToolContext) -> list[_Done]:
    done: list[_Done] = []
    for number, step in enumerate(composed.steps, 1):
        done.append(await _step(number, step, values, context))
        if step.save_as:
            outcome = done[-1].outcome
            values[step.save_as] = bounded(done[-1].said) if outcome is not None and outcome.ok else ""
        if done[-1].failed:
            break
    return done


async def _at_once(composed: Composed, values: dict[str, str], context: ToolContext) -> list[_Done]:
    room = asyncio.Semaphore(MOST_TOGETHER)

    async def bounded_step(number: int, step: Step) -> _Done:
        async with room:
            return await _step(number, step, values, context)

    async with asyncio.TaskGroup() as group:
        running = [group.create_task(bounded_step(*each)) for each in enumerate(composed.steps, 1)]
    return [each.result() for each in running]


async def _step(number: int, step: Step, values: Mapping[str, str], context: ToolContext) -> _Done:
    if step.when is not None and not step.when.holds(values):
        return _Done(number, step, None)
    own = replace(context, idempotency_key=f"{context.idempotency_key}:{number}")
    return _Done(number, step, await context.perform(own, step.tool, filled(step.input, values)))
