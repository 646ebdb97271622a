"""Act: run the tool calls of a step, in consecutive batches, each exactly once.

It can be entered at any point: it looks at where each call stands (asked, answered, issued, done) and does what
is next. A call's intent is durable before it runs; a call that was running when the engine died is run again only
if that is safe.
"""

import asyncio
import time
from dataclasses import dataclass
from itertools import groupby

from aster.contracts.blocks import TextBlock, text_of
from aster.contracts.events import Event, HitlRequest, ToolCallIssued, ToolError, ToolProgress, ToolResult
from aster.contracts.tools import ToolOutcome
from aster.contracts.turn import CallState
from aster.engine_core.services import Services
from aster.engine_core.signals import Suspended
from aster.engine_core.turn import Turn
from aster.engine_core.verdict import Ask, Done, Run, Wait, judge
from aster.sandbox.paths import Workspace
from aster.utility_directory.tool import ToolContext
from aster.utility_directory.tool_runtime import Prepared, batches


@dataclass(frozen=True, slots=True)
class _Entry:
    """A call of the step with what the tool runtime made of it, and what it may use."""

    call: CallState
    prepared: Prepared | ToolOutcome
    context: ToolContext


async def act(turn: Turn, services: Services) -> None:
    """Give every call of the current step its one result; raises `Suspended` when a person is needed first."""
    if not turn.state.unresolved:
        return
    workspace = await services.workspaces.of(turn.key.user_id)
    entries = [
        _Entry(call, _prepare(services, call), _context(turn, services, workspace, call))
        for call in turn.state.calls.values()
    ]
    for group in _groups(entries):
        open_calls = [entry for entry in group if entry.call.result is None]
        if open_calls:
            await _run_group(turn, services, open_calls)


def _prepare(services: Services, call: CallState) -> Prepared | ToolOutcome:
    if call.invalid is None:
        return services.tools.prepare(call.call)
    wrong = f"The arguments of `{call.call.name}` are not a JSON object: {call.invalid[:200]} Write them again."
    text = call.hint or wrong
    return ToolOutcome.error(text, reason="invalid_input")


def _groups(entries: list[_Entry]) -> list[list[_Entry]]:
    """Consecutive calls that may run together; a call that cannot run at all stands alone."""
    groups: list[list[_Entry]] = []
    rest = iter(entries)
    for runnable, run in groupby((entry.prepared for entry in entries), lambda item: isinstance(item, Prepared)):
        items = list(run)
        sizes = [len(batch) for batch in batches([i for i in items if isinstance(i, Prepared)])]
        groups += [[next(rest) for _ in range(size)] for size in (sizes if runnable else [1] * len(items))]
    return groups


async def _run_group(turn: Turn, services: Services, group: list[_Entry]) -> None:
    questions: list[Event] = []
    ready: list[tuple[_Entry, Run]] = []
    waiting = False
    for entry in group:
        match await judge(entry.call, entry.prepared, entry.context, services):
            case Done(outcome):
                _finish(turn, services, entry.call, outcome, None)
            case Ask(events):
                questions += events
                waiting = True
            case Wait():
                waiting = True
            case Run() as run:
                ready.append((entry, run))
    if questions:
        turn.write(*questions)
        for question in questions:
            if isinstance(question, HitlRequest):
                services.raven.hitl_opened(question.kind)
    if ready:
        await _run_together(turn, services, ready)
    if waiting:
        raise Suspended


async def _run_together(turn: Turn, services: Services, ready: list[tuple[_Entry, Run]]) -> None:
    """Declare the effects of all, durably, then run them side by side."""
    turn.write(*(_intent(turn, entry.call, run) for entry, run in ready))
    await turn.flush()
    if len(ready) == 1:
        await _run_one(turn, services, *ready[0])
        return
    limit = asyncio.Semaphore(services.settings.claude_code_max_tool_use_concurrency)

    async def bounded(entry: _Entry, run: Run) -> None:
        async with limit:
            await _run_one(turn, services, entry, run)

    async with asyncio.TaskGroup() as group:
        for entry, run in ready:
            group.create_task(bounded(entry, run))


def _intent(turn: Turn, call: CallState, run: Run) -> ToolCallIssued:
    return ToolCallIssued(
        tool=call.call.name,
        tool_call_id=call.call.id,
        input=call.call.input,
        step=turn.state.step,
        effect=run.prepared.effect,
        idempotency_key=idempotency_key(turn, call),
        attempt=call.issued + 1,
    )


async def _run_one(turn: Turn, services: Services, entry: _Entry, run: Run) -> None:
    call, began = entry.call, time.perf_counter()
    with services.raven.tool_span(
        call.call.name, turn.key.task_id, turn.turn_id, step=turn.state.step, call_id=call.call.id
    ) as span:
        outcome = await services.tools.run(run.prepared, entry.context)
        span.set(seq=turn.state.seq, error=None if outcome.ok else outcome.reason or "failed")
    _finish(turn, services, call, outcome, time.perf_counter() - began)


def _finish(turn: Turn, services: Services, call: CallState, outcome: ToolOutcome, seconds: float | None) -> None:
    name, call_id = call.call.name, call.call.id
    events: list[Event] = []
    if not outcome.ok and outcome.failure is not None:
        events.append(
            ToolError(
                tool=name,
                tool_call_id=call_id,
                failure=outcome.failure,
                reason=outcome.reason or "failed",
                message=text_of(outcome.output)[:500],
                retry_safe=outcome.retry_safe,
            )
        )
    events.append(result_event(turn, call, outcome, seconds))
    turn.write(*events)
    services.raven.tool_ran(name, outcome.ok, outcome.reason, seconds or 0.0)


def result_event(turn: Turn, call: CallState, outcome: ToolOutcome, seconds: float | None) -> ToolResult:
    plain = all(isinstance(block, TextBlock) for block in outcome.output)
    return ToolResult(
        tool=call.call.name,
        tool_call_id=call.call.id,
        step=turn.state.step,
        output=text_of(outcome.output),
        error=None if outcome.ok else outcome.reason or "failed",
        content=() if plain else outcome.output,
        duration_ms=None if seconds is None else round(seconds * 1000),
        artifacts=outcome.artifacts,
        data=outcome.data,
    )


def idempotency_key(turn: Turn, call: CallState) -> str:
    """The same for every attempt at one call, different for every other call."""
    return f"{turn.turn_id}:{turn.state.step}:{call.call.id}"


def _context(turn: Turn, services: Services, workspace: Workspace, call: CallState) -> ToolContext:
    name, call_id = call.call.name, call.call.id

    def progress(text: str, stream: str) -> None:
        turn.emit(ToolProgress(tool=name, tool_call_id=call_id, text=text, stream=stream))

    return ToolContext(
        user_id=turn.key.user_id,
        task_id=turn.key.task_id,
        turn_id=turn.turn_id,
        tool_call_id=call_id,
        idempotency_key=idempotency_key(turn, call),
        workspace=workspace,
        sandbox=services.sandbox,
        progress=progress,
        limits=services.limits,
    )
