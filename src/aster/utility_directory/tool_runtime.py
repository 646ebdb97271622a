"""The steps every call goes through, each on its own: prepare, decide, run, or check what became of it.

Whatever happens inside a handler, a call comes to exactly one outcome; only a cancellation passes through. The
order of the steps, hooks and events belong to the loop that calls them.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import assert_never

from aster.contracts.blocks import ResultContent, TextBlock
from aster.contracts.errors import EngineError
from aster.contracts.tools import Effect, OutcomeClass, ToolCall, ToolOutcome
from aster.sandbox.capture import cut
from aster.sandbox.permissions import Decision
from aster.sandbox.policy import govern
from aster.utility_directory.platform_registry import Registry
from aster.utility_directory.schema import without_nulls
from aster.utility_directory.tool import Input, Tool, ToolContext


@dataclass(frozen=True, slots=True)
class Prepared:
    """A call whose tool exists and whose input is valid."""

    call: ToolCall
    tool: Tool
    input: Input

    @property
    def effect(self) -> Effect:
        return self.tool.effect(self.input)

    @property
    def concurrent(self) -> bool:
        return self.tool.concurrent(self.input)

    @property
    def asks_human(self) -> bool:
        return self.tool.asks_human


class ToolRuntime:
    """The pipeline over one registry."""

    def __init__(self, registry: Registry) -> None:
        self.registry = registry

    def prepare(self, call: ToolCall) -> Prepared | ToolOutcome:
        """The call ready to run, or the outcome that tells the model what is wrong with it."""
        registered = self.registry.get(call.name)
        if registered is None:
            names = ", ".join(self.registry.names)
            return ToolOutcome.error(f"Unknown tool: {call.name}. The tools are: {names}.", reason="unknown_tool")
        definition = registered.tool.definition
        given = without_nulls(call.input, definition.input_schema)
        complaints = registered.validate(given)
        if complaints:
            text = f"Invalid input for {call.name}: " + "; ".join(complaints) + ". Correct it and call again."
            return ToolOutcome.error(text, reason="invalid_input", data={"errors": complaints})
        return Prepared(call, registered.tool, given)

    def decide(self, prepared: Prepared, context: ToolContext) -> Decision:
        """Whether it may run: the tool's own judgement under the policy in force."""
        judgement = prepared.tool.decide(prepared.input, context)
        return govern(context.policy, prepared.call.name, prepared.input, prepared.effect, judgement)

    async def run(self, prepared: Prepared, context: ToolContext) -> ToolOutcome:
        """Run the handler to its outcome. It must have been decided before."""
        limit = asyncio.timeout(context.limits.call_seconds)
        try:
            async with limit:
                outcome = await prepared.tool.run(prepared.input, context)
        except EngineError as error:
            return _failed(error, prepared)
        except Exception as error:  # noqa: BLE001 - the boundary to handlers: the loop never dies from a tool
            if isinstance(error, TimeoutError) and limit.expired():
                text = f"Error: {prepared.call.name} did not end within {context.limits.call_seconds:g} seconds."
                return ToolOutcome.error(text, reason="timeout", retry_safe=prepared.effect.repeatable)
            return ToolOutcome.error(
                f"Error: {type(error).__name__}: {error}",
                reason="handler_failed",
                failure=OutcomeClass.UNKNOWN,
                retry_safe=prepared.effect.repeatable,
            )
        return _capped(outcome, context.limits.result_chars)

    async def check(self, prepared: Prepared, context: ToolContext) -> ToolOutcome | None:
        """What a call came to that was running when the engine stopped; None if the tool cannot tell."""
        try:
            return await prepared.tool.check(prepared.input, context)
        except (EngineError, OSError):
            return None


def batches(calls: Sequence[Prepared]) -> list[tuple[Prepared, ...]]:
    """Consecutive runs in call order: neighbours that are safe together, and each other call alone."""
    out: list[tuple[Prepared, ...]] = []
    together = False
    for call in calls:
        safe = call.concurrent and not call.asks_human
        if safe and together:
            out[-1] = (*out[-1], call)
        else:
            out.append((call,))
        together = safe
    return out


def _failed(error: EngineError, prepared: Prepared) -> ToolOutcome:
    match error.retry:
        case "never":
            failure = OutcomeClass.FATAL
        case "now" | "after":
            failure = OutcomeClass.RETRYABLE
        case "ask":
            failure = OutcomeClass.DIAGNOSTIC
        case _:
            assert_never(error.retry)
    return ToolOutcome.error(
        f"Error: {error.message}",
        reason=error.code.value,
        failure=failure,
        retry_safe=prepared.effect.repeatable,
        data=error.details,
    )


def _capped(outcome: ToolOutcome, limit: int) -> ToolOutcome:
    """Every text cut to the limit; pictures and documents are left as they are."""
    if all(not isinstance(block, TextBlock) or len(block.text) <= limit for block in outcome.output):
        return outcome
    output: tuple[ResultContent, ...] = tuple(
        TextBlock(text=cut(block.text, limit)) if isinstance(block, TextBlock) else block
        for block in outcome.output
    )
    return ToolOutcome(
        ok=outcome.ok,
        output=output,
        failure=outcome.failure,
        reason=outcome.reason,
        retry_safe=outcome.retry_safe,
        artifacts=outcome.artifacts,
        data=outcome.data,
    )
