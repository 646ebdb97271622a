"""The steps every call goes through, each on its own: prepare, decide, run, or check what became of it.

Whatever happens inside a handler, a call comes to exactly one outcome; only a cancellation passes through. The
order of the steps, hooks and events belong to the loop that calls them.
"""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import assert_never

from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.tools import Effect, OutcomeClass, ToolCall, ToolOutcome
from aster.infra.secrets import Secrets
from aster.sandbox.declared import Told, govern_declared
from aster.sandbox.permissions import Decision
from aster.sandbox.policy import govern
from aster.utility_directory.artifacts import Content, spilled
from aster.utility_directory.cleaning import clean_outcome
from aster.utility_directory.platform_registry import Registry
from aster.utility_directory.schema import without_nulls
from aster.utility_directory.tool import Asks, Input, Meant, Preserved, Tool, ToolContext, UnfitInput

log = logging.getLogger("aster.tools")


@dataclass(frozen=True, slots=True)
class Prepared:
    """A call whose tool exists and whose input is valid. A call of a `declared` tool is the platform's call that it
    stands for: `tool` and `input` are of that one."""

    call: ToolCall
    tool: Tool
    input: Input
    declared: Tool | None = None

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
    """The pipeline over one registry; what a tool says leaves it without secrets."""

    def __init__(self, registry: Registry, secrets: Secrets | None = None) -> None:
        self.registry = registry
        self._secrets = secrets or Secrets()

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
            return _invalid(call, complaints)
        try:
            meant = registered.tool.stands_for(given)
        except UnfitInput as problem:
            return _invalid(call, [str(problem)])
        if meant is None:
            return Prepared(call, registered.tool, given)
        return self._resolved(call, registered.tool, meant)

    def _resolved(self, call: ToolCall, declared: Tool, meant: Meant) -> Prepared | ToolOutcome:
        target = self.registry.get(meant.tool)
        if target is None:
            text = f"{call.name} stands for {meant.tool}, whose server is not connected or does not offer it."
            return ToolOutcome.error(text, reason=ErrorCode.MCP_CONNECTION_FAILED)
        complaints = target.validate(meant.input)
        return _invalid(call, complaints) if complaints else Prepared(call, target.tool, meant.input, declared)

    def decide(self, prepared: Prepared, context: ToolContext) -> Decision:
        """Whether it may run: the tool's own judgement under the policy in force."""
        judgement = prepared.tool.decide(prepared.input, context)
        policy, name = context.policy, prepared.tool.definition.name
        effect = Effect.PURE if prepared.tool.own_notes else prepared.effect
        if prepared.declared is not None:
            told, place = _told(prepared.call, prepared.declared), context.workspace
            return govern_declared(policy, name, prepared.input, effect, judgement, place, told)
        return govern(policy, name, prepared.input, effect, judgement, context.workspace)

    async def preserve(self, prepared: Prepared, context: ToolContext) -> Preserved | None:
        """What a reversible call is about to change; None if there is nothing that could be put back."""
        return (
            await prepared.tool.preserve(prepared.input, context) if prepared.effect is Effect.REVERSIBLE else None
        )

    async def run(self, prepared: Prepared, context: ToolContext) -> tuple[ToolOutcome, tuple[Content, ...]]:
        """Run the handler to its outcome, and what of it is to be kept. It must have been decided before. `Asks` passes
        through."""
        outcome = await clean_outcome(self._secrets, await self._outcome(prepared, context))
        return spilled(outcome, prepared.tool.result_chars, prepared.call.name)

    async def _outcome(self, prepared: Prepared, context: ToolContext) -> ToolOutcome:
        limit = asyncio.timeout(None if prepared.tool.endless else context.limits.call_seconds)
        try:
            async with limit:
                return await prepared.tool.run(prepared.input, context)
        except Asks:
            raise
        except EngineError as error:
            return _failed(error, prepared)
        except Exception as error:  # the boundary to handlers: the loop never dies from a tool
            if isinstance(error, TimeoutError) and limit.expired():
                text = f"Error: {prepared.call.name} did not end within {context.limits.call_seconds:g} seconds."
                return ToolOutcome.error(text, reason="timeout", retry_safe=prepared.effect.repeatable)
            log.exception("the tool %s failed unexpectedly", prepared.call.name)
            return ToolOutcome.error(
                f"Error: {type(error).__name__}: {error}",
                reason="handler_failed",
                failure=OutcomeClass.UNKNOWN,
                retry_safe=prepared.effect.repeatable,
            )

    async def check(self, prepared: Prepared, context: ToolContext) -> ToolOutcome | None:
        """What a call came to that was running when the engine stopped; None if the tool cannot tell."""
        try:
            found = await prepared.tool.check(prepared.input, context)
            return None if found is None else await clean_outcome(self._secrets, found)
        except (EngineError, OSError):
            return None


def _invalid(call: ToolCall, complaints: list[str]) -> ToolOutcome:
    text = f"Invalid input for {call.name}: " + "; ".join(complaints) + ". Correct it and call again."
    return ToolOutcome.error(text, reason="invalid_input", data={"errors": complaints})


def _told(call: ToolCall, declared: Tool) -> Told:
    return Told(declared.definition.name, call.input, every_time=declared.requires_permission)


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
