"""The steps of a call: what is wrong with it, what it may do, what it came to, and beside which others it runs."""

import asyncio
import os
from dataclasses import replace
from typing import Any

import pytest

from aster.contracts.blocks import TextBlock
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.tools import Effect, OutcomeClass, ToolCall, ToolDef, ToolOutcome
from aster.sandbox.policy import Policy, Rule
from aster.utility_directory.platform_registry import Registry, platform_tools
from aster.utility_directory.tool import Input, Tool, ToolContext, ToolLimits, input_schema
from aster.utility_directory.tool_runtime import Prepared, ToolRuntime, batches
from tests.utility_directory.conftest import Bench, said


def call(name: str, **given: Any) -> ToolCall:
    return ToolCall(id="call-1", name=name, input=given)


class Made(Tool):
    """A tool made of a coroutine function, as small as a tool can be."""

    def __init__(self, work: Any, effect: Effect = Effect.IRREVERSIBLE, name: str = "made") -> None:
        self.definition = ToolDef(name=name, description="Made for a test.", input_schema=input_schema(()))
        self._work = work
        self._effect = effect

    def effect(self, given: Input) -> Effect:
        return self._effect

    def concurrent(self, given: Input) -> bool:
        return self._effect is Effect.PURE

    async def run(self, given: Input, context: ToolContext) -> ToolOutcome:
        return await self._work()


async def run_made(bench: Bench, work: Any, effect: Effect = Effect.PURE, **limits: Any) -> ToolOutcome:
    runtime = ToolRuntime(Registry([Made(work, effect)]))
    prepared = runtime.prepare(call("made"))
    assert isinstance(prepared, Prepared)
    outcome, _ = await runtime.run(prepared, replace(bench.context, limits=ToolLimits(**limits)))
    return outcome


def test_an_unknown_tool_is_told_the_names() -> None:
    outcome = ToolRuntime(platform_tools()).prepare(call("cat", path="x"))
    assert isinstance(outcome, ToolOutcome)
    assert (outcome.ok, outcome.reason) == (False, "unknown_tool")
    assert said(outcome).startswith(
        "Unknown tool: cat. The tools are: bash, bash_output, bash_kill, read_file, write_file, "
    )


@pytest.mark.parametrize(
    ("tool", "given", "complaint"),
    [
        ("read_file", {}, "missing argument: path"),
        ("write_file", {}, "missing argument: path, content"),
        ("read_file", {"path": 5}, "path: expected string, got integer 5"),
        ("read_file", {"path": "x", "limit": "ten"}, 'limit: expected integer, got string "ten"'),
        ("read_file", {"path": "x", "offset": 0}, "offset: 0 is less than the minimum of 1 (expected minimum 1)"),
        ("read_file", {"path": "x", "lines": 3}, "unknown argument: lines; it takes path, offset, limit, pages"),
        ("read_file", {"path": None}, "path: expected string, got null"),
        ("ask_user", {"question": "?", "options": ["a", 1]}, "options[1]: expected string, got integer 1"),
        ("bash", {"command": ""}, "command: '' should be non-empty (expected minLength 1)"),
    ],
)
def test_wrong_input_is_explained(tool: str, given: dict[str, Any], complaint: str) -> None:
    outcome = ToolRuntime(platform_tools()).prepare(call(tool, **given))
    assert isinstance(outcome, ToolOutcome)
    assert outcome.reason == "invalid_input"
    assert said(outcome) == f"Invalid input for {tool}: {complaint}. Correct it and call again."


def test_null_for_an_optional_argument_is_nothing() -> None:
    prepared = ToolRuntime(platform_tools()).prepare(call("read_file", path="x", limit=None))
    assert isinstance(prepared, Prepared)
    assert prepared.input == {"path": "x"}


def test_every_definition_is_complete() -> None:
    for definition in platform_tools().definitions:
        assert len(definition.description) > 80
        schema = definition.input_schema
        assert schema["additionalProperties"] is False
        assert set(schema["required"]) <= set(schema["properties"])
        assert all(argument["description"] for argument in schema["properties"].values())


def test_a_tool_is_added_by_its_object_alone() -> None:
    async def work() -> ToolOutcome:
        return ToolOutcome.text("done")

    registry = platform_tools()
    registry.add(Made(work))
    assert registry.names[-1] == "made"
    with pytest.raises(EngineError, match="two tools"):
        registry.add(Made(work))
    broken = Made(work, name="broken")
    broken.definition = ToolDef(name="broken", description="", input_schema={"type": "nonsense"})
    with pytest.raises(EngineError) as raised:
        registry.add(broken)
    assert raised.value.code is ErrorCode.CONFIGURATION_INVALID


async def test_a_failing_handler_is_an_outcome(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    async def work() -> ToolOutcome:
        raise ZeroDivisionError("oh no")

    outcome = await run_made(bench, work)
    assert (outcome.ok, outcome.failure, outcome.reason) == (False, OutcomeClass.UNKNOWN, "handler_failed")
    assert said(outcome) == "Error: ZeroDivisionError: oh no"
    assert "failed unexpectedly" in caplog.text
    assert outcome.retry_safe
    assert not (await run_made(bench, work, Effect.IRREVERSIBLE)).retry_safe


@pytest.mark.parametrize(
    ("code", "failure"),
    [
        (ErrorCode.LLM_TIMEOUT, OutcomeClass.RETRYABLE),
        (ErrorCode.SANDBOX_UNAVAILABLE, OutcomeClass.FATAL),
        (ErrorCode.BUDGET_EXCEEDED, OutcomeClass.DIAGNOSTIC),
    ],
)
async def test_a_known_error_keeps_its_code(bench: Bench, code: ErrorCode, failure: OutcomeClass) -> None:
    async def work() -> ToolOutcome:
        raise EngineError(code, "Try this.", {"detail": 1})

    outcome = await run_made(bench, work)
    assert (outcome.reason, outcome.failure, outcome.data) == (code, failure, {"detail": 1})


async def test_a_handler_that_does_not_end_is_ended(bench: Bench) -> None:
    outcome = await run_made(bench, lambda: asyncio.sleep(60), call_seconds=0.05)
    assert (outcome.reason, said(outcome)) == ("timeout", "Error: made did not end within 0.05 seconds.")


async def test_a_handlers_own_time_out_is_its_failure(bench: Bench) -> None:
    async def work() -> ToolOutcome:
        raise TimeoutError("theirs")

    assert (await run_made(bench, work)).reason == "handler_failed"


async def test_a_cancellation_passes_through(bench: Bench) -> None:
    began = asyncio.Event()

    async def work() -> ToolOutcome:
        began.set()
        await asyncio.sleep(60)
        raise AssertionError

    task = asyncio.create_task(run_made(bench, work))
    await began.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_long_output_is_moved_to_an_artifact(bench: Bench) -> None:
    async def work() -> ToolOutcome:
        return ToolOutcome(ok=True, output=(TextBlock(text="a" * 50_000), TextBlock(text="b")), data={"kept": 1})

    runtime = ToolRuntime(Registry([Made(work, Effect.PURE)]))
    prepared = runtime.prepare(call("made"))
    assert isinstance(prepared, Prepared)
    outcome, (kept,) = await runtime.run(prepared, bench.context)
    first, second = outcome.output
    assert isinstance(first, TextBlock)
    assert len(first.text) < 17_000
    assert f"artifact:{kept.artifact.id}" in first.text
    assert (kept.data, outcome.artifacts) == (b"a" * 50_000, (kept.artifact,))
    assert (second, outcome.data) == (TextBlock(text="b"), {"kept": 1})


async def test_the_policy_lies_over_the_tools_own_judgement(bench: Bench) -> None:
    plan = Bench(replace(bench.context, policy=Policy(mode="plan")))
    assert plan.decide("bash", command="ls").behavior == "allow"
    assert plan.decide("bash", command="ls > f").behavior == "deny"
    assert plan.decide("write_file", path="f", content="").behavior == "deny"
    denied = Bench(replace(bench.context, policy=Policy(rules=(Rule(behavior="deny", tool="read_file"),))))
    assert denied.decide("read_file", path="f").behavior == "deny"
    assert bench.decide("read_file", path="f").behavior == "allow"


async def test_neighbours_that_are_safe_run_together_and_the_others_alone(bench: Bench) -> None:
    calls = [
        bench.prepared("read_file", path="a"),
        bench.prepared("bash", command="ls"),
        bench.prepared("glob", pattern="*"),
        bench.prepared("bash", command="rm a"),
        bench.prepared("write_file", path="a", content=""),
        bench.prepared("read_file", path="a"),
        bench.prepared("ask_user", question="?"),
        bench.prepared("grep", pattern="x"),
    ]
    found = batches(calls)
    assert [len(batch) for batch in found] == [3, 1, 1, 1, 1, 1]
    assert [prepared for batch in found for prepared in batch] == calls
    assert batches([]) == []


async def test_calls_side_by_side_really_overlap(bench: Bench) -> None:
    """Each waits for the other: alone, neither would end."""
    for name in ("one", "two"):
        os.mkfifo(bench.root / name)
        (bench.root / name).chmod(0o666)
    first = bench.run("bash", command="echo hello > one; cat two", timeout_seconds=10)
    second = bench.run("bash", command="cat one; echo there > two", timeout_seconds=10)
    done = await asyncio.gather(first, second)
    assert [said(outcome) for outcome in done] == ["there", "hello"]


async def test_a_question_is_for_the_engine_to_ask(bench: Bench) -> None:
    prepared = bench.prepared("ask_user", question="Which one?", options=["a", "b"])
    assert prepared.asks_human
    assert (await bench.run("ask_user", question="Which one?")).reason == "human_required"


async def test_a_call_of_unknown_fate_cannot_be_told_by_most(bench: Bench) -> None:
    assert await bench.check("bash", command="touch x") is None
    assert await bench.check("read_file", path="x") is None
