"""Running: a call that may run, from its declared intent to its one result.

Whatever becomes of it, the result, what it keeps beside the thread and what it says there are one commit.
"""

import asyncio
import hashlib
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count

import msgspec

from aster.brain.records import ArtifactRow, FileAfterRow, FileVersionRow, Row
from aster.contracts.blocks import TextBlock, text_of
from aster.contracts.events import Event, ToolCallIssued, ToolError, ToolResult, ToolRetry
from aster.contracts.tools import ToolOutcome
from aster.contracts.turn import CallState
from aster.engine_core.hooks import points
from aster.engine_core.progress import CallProgress
from aster.engine_core.services import Services
from aster.engine_core.turn import Turn
from aster.engine_core.verdict import Run
from aster.infra.clock import now_ms
from aster.sandbox.paths import Workspace
from aster.utility_directory import retries
from aster.utility_directory.alternatives import suggestion
from aster.utility_directory.artifacts import Content
from aster.utility_directory.tool import Preserved, ToolContext
from aster.utility_directory.tool_runtime import Prepared


@dataclass(frozen=True, slots=True)
class Entry:
    """A call of the step with what the tool runtime made of it, and what it may use."""

    call: CallState
    prepared: Prepared | ToolOutcome
    context: ToolContext


async def run_together(turn: Turn, services: Services, ready: list[tuple[Entry, Run]]) -> None:
    """Declare the effects of all, then run them side by side. What must not happen twice waits until its intent is
    durable; what may is run again after a crash anyway, whether its intent is found or not."""
    kept = [await services.tools.preserve(run.prepared, entry.context) for entry, run in ready]
    versions = [_version(turn, entry.call, file) for (entry, _), file in zip(ready, kept, strict=True) if file]
    turn.write(*(_intent(turn, entry.call, run) for entry, run in ready), rows=versions)
    if not all(run.prepared.effect.repeatable for _, run in ready):
        await turn.flush()
    if len(ready) == 1:
        await _run_one(turn, services, *ready[0])
        return
    together = all(run.prepared.concurrent for _, run in ready)
    limit = asyncio.Semaphore(services.settings.claude_code_max_tool_use_concurrency if together else 1)

    async def bounded(entry: Entry, run: Run) -> None:
        async with limit:
            await _run_one(turn, services, entry, run)

    async with asyncio.TaskGroup() as group:
        for entry, run in ready:
            group.create_task(bounded(entry, run))


def _intent(turn: Turn, call: CallState, run: Run) -> ToolCallIssued:
    prepared = run.prepared
    return ToolCallIssued(
        tool=call.call.name,
        tool_call_id=call.call.id,
        input=call.call.input,
        step=turn.state.step,
        effect=prepared.effect,
        idempotency_key=idempotency_key(turn, call),
        attempt=call.issued + 1,
        grant_id=run.grant_id,
        as_tool=None if prepared.declared is None else prepared.tool.definition.name,
        as_input=None if prepared.declared is None else prepared.input,
    )


async def _run_one(turn: Turn, services: Services, entry: Entry, run: Run) -> None:
    call, began = entry.call, time.perf_counter()
    recorded: list[Event] = []
    kept: list[Row] = []
    entry = replace(entry, context=replace(entry.context, record=recorded.append, keep=kept.append))
    with services.raven.tool_span(
        call.call.name, turn.key.task_id, turn.turn_id, step=turn.state.step, call_id=call.call.id
    ) as span:
        outcome, contents = await _attempts(turn, services, entry, run)
        outcome = await points.after(turn, services, call, outcome)
        span.set(seq=turn.state.seq, error=None if outcome.ok else outcome.reason or "failed")
    rows: list[Row] = [_artifact(turn, call, content) for content in contents]
    after = await services.tools.preserve(run.prepared, entry.context) if outcome.ok else None
    if after is not None and after.data is not None:
        digest = hashlib.sha256(after.data).hexdigest()
        rows.append(FileAfterRow(call_key=idempotency_key(turn, call), sha256_after=digest))
    trusted = not run.prepared.tool.untrusted_output
    said = recorded if outcome.ok else []
    if outcome.ok:
        rows += kept
    finish(turn, services, call, outcome, time.perf_counter() - began, said, rows, trusted=trusted)


async def _attempts(
    turn: Turn, services: Services, entry: Entry, run: Run
) -> tuple[ToolOutcome, tuple[Content, ...]]:
    """Run a call; again, a few times, when it failed in a way that may pass and may be repeated."""
    call = entry.call.call
    progress = CallProgress(turn, call)
    context = replace(entry.context, progress=progress)
    for attempt in count(1):
        outcome, contents = await services.tools.run(run.prepared, context)
        progress.finish()
        wait = retries.delay(outcome, attempt)
        if wait is None:
            return _advised(services, call.name, outcome), contents
        turn.write(
            ToolRetry(
                tool=call.name,
                tool_call_id=call.id,
                attempt=attempt,
                limit=retries.MAX_RETRIES,
                delay_ms=round(wait * 1000),
                reason=outcome.reason or "failed",
            )
        )
        await asyncio.sleep(wait)
    raise AssertionError("attempts do not end by themselves")


def _advised(services: Services, tool: str, outcome: ToolOutcome) -> ToolOutcome:
    advice = suggestion(tool, outcome, services.tools.registry.names)
    if advice is None:
        return outcome
    return msgspec.structs.replace(outcome, output=(*outcome.output, TextBlock(text=advice)))


def _artifact(turn: Turn, call: CallState, content: Content) -> ArtifactRow:
    artifact = content.artifact
    return ArtifactRow(
        artifact_id=artifact.id,
        turn_id=turn.turn_id,
        tool_call_id=call.call.id,
        name=artifact.name or artifact.id,
        media_type=artifact.media_type,
        size=artifact.size,
        sha256=content.sha256,
        data=content.data,
        created_at=now_ms(),
    )


def _version(turn: Turn, call: CallState, file: Preserved) -> FileVersionRow:
    return FileVersionRow(
        call_key=idempotency_key(turn, call),
        turn_id=turn.turn_id,
        tool_call_id=call.call.id,
        path=str(file.path),
        existed=file.existed,
        mode=file.mode,
        data=file.data,
        created_at=now_ms(),
    )


def finish(
    turn: Turn,
    services: Services,
    call: CallState,
    outcome: ToolOutcome,
    seconds: float | None,
    said: Sequence[Event] = (),
    rows: Sequence[Row] = (),
    *,
    trusted: bool,
) -> None:
    """Put what a call came to onto the thread, with what the tool said there (`said`) and keeps beside it (`rows`)."""
    name, call_id = call.call.name, call.call.id
    events: list[Event] = [*said]
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
    events.append(result_event(turn, call, outcome, seconds, trusted))
    turn.write(*events, rows=rows)
    services.raven.tool_ran(name, outcome.ok, outcome.reason, seconds or 0.0)


def result_event(
    turn: Turn, call: CallState, outcome: ToolOutcome, seconds: float | None, trusted: bool
) -> ToolResult:
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
        trusted=trusted,
    )


def idempotency_key(turn: Turn, call: CallState) -> str:
    """The same for every attempt at one call, different for every other call."""
    return f"{turn.turn_id}:{turn.state.step}:{call.call.id}"


def context_of(turn: Turn, services: Services, workspace: Workspace, call: CallState) -> ToolContext:
    """What a call may use."""

    async def artifact(artifact_id: str) -> bytes | None:
        found = await turn.brain.artifact(turn.key.user_id, artifact_id)
        return None if found is None else found[1]

    async def span() -> tuple[int, int]:
        await turn.flush()
        return turn.state.first_seq, turn.state.seq

    return ToolContext(
        user_id=turn.key.user_id,
        task_id=turn.key.task_id,
        turn_id=turn.turn_id,
        tool_call_id=call.call.id,
        idempotency_key=idempotency_key(turn, call),
        workspace=workspace,
        sandbox=services.sandbox,
        artifact=artifact,
        background=services.background,
        memory=services.memory,
        span=span,
        limits=services.limits,
    )
