"""Running: a call that may run, from its declared intent to its one result.

Whatever becomes of it, the result, what it keeps beside the thread and what it says there are one commit.
"""

import asyncio
import hashlib
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, count

import msgspec

from aster.brain.agents import SubagentRecord
from aster.brain.records import ArtifactRow, FileAfterRow, FileUndoneRow, FileVersionRow, Row
from aster.brain.work import Actor
from aster.contracts.blocks import TextBlock, text_of
from aster.contracts.events import Event, PlanUpdate, ToolCallIssued, ToolError, ToolResult, ToolRetry
from aster.contracts.llm import LLMResponse, ModelRequest
from aster.contracts.model import decode
from aster.contracts.tools import Effect, ToolOutcome
from aster.contracts.turn import CallState, Doubt
from aster.contracts.work import MAIN_BOARD
from aster.engine_core import ledger
from aster.engine_core.agents.awaiting import begun_by
from aster.engine_core.agents.reach import permits
from aster.engine_core.aside import aside
from aster.engine_core.compaction import transcript
from aster.engine_core.connectors import login
from aster.engine_core.history import spoken
from aster.engine_core.hooks import points
from aster.engine_core.performing import perform
from aster.engine_core.planning.noted import plan_of
from aster.engine_core.progress import CallProgress
from aster.engine_core.projects import offered as projects
from aster.engine_core.schedules import offered
from aster.engine_core.services import Services
from aster.engine_core.teams import protocols, room
from aster.engine_core.turn import Turn
from aster.engine_core.verdict import Run
from aster.engine_core.workflows import running as workflows
from aster.infra.clock import now_ms
from aster.sandbox.paths import Workspace
from aster.utility_directory import retries
from aster.utility_directory.alternatives import suggestion
from aster.utility_directory.artifacts import Content
from aster.utility_directory.tool import Asks, Input, Plans, Preserved, ToolContext
from aster.utility_directory.tool_runtime import Prepared
from aster.work.graph.desk import WorkDesk


@dataclass(frozen=True, slots=True)
class Entry:
    """A call of the step with what the tool runtime made of it, what it may use, and the file it is about to change."""

    call: CallState
    prepared: Prepared | ToolOutcome
    context: ToolContext
    before: Preserved | None = None


async def run_together(turn: Turn, services: Services, ready: list[tuple[Entry, Run]]) -> None:
    """Declare the effects of all, then run them side by side. What must not happen twice waits until its intent is
    durable; what may is run again after a crash anyway, whether its intent is found or not. Calls that only look, at
    the same thing, are run once and share what was seen."""
    kept = [await services.tools.preserve(run.prepared, entry.context) for entry, run in ready]
    ready = [(replace(entry, before=file), run) for (entry, run), file in zip(ready, kept, strict=True)]
    versions = [_version(turn, entry.call, entry.before) for entry, _ in ready if entry.before]
    turn.write(*(intent(turn, entry.call, run) for entry, run in ready), rows=versions)
    if not all(run.prepared.effect.repeatable for _, run in ready):
        await turn.flush()
    if len(ready) == 1:
        await _run_alike(turn, services, ready)
        return
    together = all(run.prepared.concurrent for _, run in ready)
    limit = asyncio.Semaphore(services.settings.claude_code_max_tool_use_concurrency if together else 1)

    async def bounded(alike: list[tuple[Entry, Run]]) -> None:
        async with limit:
            await _run_alike(turn, services, alike)

    async with asyncio.TaskGroup() as group:
        for alike in _alike(ready):
            group.create_task(bounded(alike))


def _alike(ready: list[tuple[Entry, Run]]) -> list[list[tuple[Entry, Run]]]:
    """The calls in order, those that look at the same thing together."""
    groups: dict[str, list[tuple[Entry, Run]]] = {}
    for entry, run in ready:
        looks = run.prepared.effect is Effect.PURE
        key = ledger.fingerprint(entry.call.call) if looks else entry.call.call.id
        groups.setdefault(key, []).append((entry, run))
    return list(groups.values())


def intent(turn: Turn, call: CallState, run: Run) -> ToolCallIssued:
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


async def _run_alike(turn: Turn, services: Services, alike: list[tuple[Entry, Run]]) -> None:
    """Run the first; the others come to the same."""
    (entry, run), *others = alike
    shown = await _run_one(turn, services, entry, run)
    if shown is None:
        for other, again in others:
            await _run_one(turn, services, other, again)
        return
    for other, _ in others:
        outcome = await points.after(turn, services, other.call, shown)
        finish(turn, services, other.call, outcome, None, trusted=not run.prepared.tool.untrusted_output)


async def _run_one(turn: Turn, services: Services, entry: Entry, run: Run) -> ToolOutcome | None:
    """Give a call its result; returns what it came to, before any hook has seen it; None if it asks a person."""
    call, began = entry.call, time.perf_counter()
    recorded: list[Event] = []
    kept: list[Row] = []
    entry = replace(entry, context=replace(entry.context, record=recorded.append, keep=kept.append))
    with services.raven.tool_span(
        call.call.name, turn.key.task_id, turn.turn_id, step=turn.state.step, call_id=call.call.id
    ) as span:
        try:
            shown, contents = await _attempts(turn, services, entry, run)
        except Asks as asks:
            if not asks.told:
                turn.write(asks.request)
            services.raven.hitl_opened(asks.request.kind)
            return None
        outcome = await points.after(turn, services, call, shown)
        span.set(seq=turn.state.seq, error=None if outcome.ok else outcome.reason or "failed")
    rows: list[Row] = [_artifact(turn, call, content) for content in contents]
    rows += _left(turn, entry, outcome, await services.tools.preserve(run.prepared, entry.context))
    trusted = not run.prepared.tool.untrusted_output
    said = recorded if outcome.ok else []
    if outcome.ok:
        rows += kept
    finish(turn, services, call, outcome, time.perf_counter() - began, said, rows, trusted=trusted)
    return shown


def _left(turn: Turn, entry: Entry, outcome: ToolOutcome, after: Preserved | None) -> list[Row]:
    """What is kept of the file that a call left: how it is now, or that there is nothing to take back."""
    key = idempotency_key(turn, entry.call)
    known = after is not None and (after.data is not None or not after.existed)
    if not outcome.ok:
        return [FileUndoneRow(call_key=key, undone_at=now_ms())] if known and after == entry.before else []
    if after is None or after.data is None:
        return []
    return [FileAfterRow(call_key=key, sha256_after=hashlib.sha256(after.data).hexdigest())]


async def _attempts(
    turn: Turn, services: Services, entry: Entry, run: Run
) -> tuple[ToolOutcome, tuple[Content, ...]]:
    """Run a call; again, a few times, when it failed in a way that may pass and may be repeated."""
    call = entry.call.call
    progress = CallProgress(turn, call)
    context = replace(entry.context, progress=progress, pin=run.pin)
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


def unreadable(call: CallState) -> ToolOutcome | None:
    """What to tell the model of a call whose arguments cannot be read; None if they can."""
    if call.invalid is None:
        return None
    wrong = f"The arguments of `{call.call.name}` are not a JSON object: {call.invalid[:200]} Write them again."
    return ToolOutcome.error(call.hint or wrong, reason="invalid_input")


def idempotency_key(turn: Turn, call: CallState) -> str:
    """The same for every attempt at one call, different for every other call."""
    return f"{turn.turn_id}:{turn.state.step}:{call.call.id}"


def heard(turn: Turn) -> tuple[str, ...] | None:
    """What people have typed in a task, as far as it is at hand; between agents nobody types anything."""
    if turn.state.request.method:
        return None
    if turn.state.request.parent is not None:
        return ()
    messages = (one for one in chain(turn.history, turn.state.messages) if spoken(one) and one.digest is None)
    blocks = ((block for block in message.content if isinstance(block, TextBlock)) for message in messages)
    return tuple(first.text for typed in blocks if (first := next(typed, None)) is not None)


def _actor(turn: Turn, call: CallState) -> Actor:
    """Who changes the work graph in a call: the agent of this task."""
    user_id, task_id = turn.key
    key, seat = idempotency_key(turn, call), turn.seat
    name = task_id if seat is None else seat.owner
    return Actor(user_id=user_id, name=name, task_id=task_id, turn_id=turn.turn_id, call_key=key)


def _desk(turn: Turn, services: Services, call: CallState) -> WorkDesk:
    """The board as the agent of this task has it; that of its team, if it is in one."""
    seat = turn.seat
    board = MAIN_BOARD if seat is None else seat.team.board
    actor = _actor(turn, call)
    return services.work.agent(actor, turn.change, owner=actor.name, board=board, home=turn.home)


def context_of(turn: Turn, services: Services, workspace: Workspace, call: CallState) -> ToolContext:
    """What a call may use."""

    async def artifact(artifact_id: str) -> bytes | None:
        if artifact_id == transcript.NAME:
            return await transcript.whole(turn.brain, turn.key.user_id, turn.history)
        found = await turn.brain.artifact(turn.key.user_id, artifact_id)
        return None if found is None else found[1]

    async def span() -> tuple[int, int]:
        await turn.flush()
        return turn.state.first_seq, turn.state.seq

    async def plans() -> Plans:
        if turn.state.plan is not None:
            return Plans(now=turn.state.plan)
        found = await turn.brain.plan(turn.key)
        return Plans() if found is None else Plans(before=plan_of(decode(found.body, PlanUpdate)))

    async def doubt(item_id: str) -> Doubt | None:
        return turn.state.doubts.get(item_id) or await turn.brain.doubt(turn.key, item_id)

    async def sample(request: ModelRequest) -> LLMResponse:
        return await aside(turn, services, request, "sampling")

    async def ask(request: ModelRequest) -> LLMResponse:
        return await aside(turn, services, request, "skill")

    async def subagent(task_id: str, seconds: float) -> SubagentRecord | None:
        return await begun_by(turn, services, task_id, seconds)

    async def performed(own: ToolContext, tool: str, given: Input) -> ToolOutcome:
        return await perform(turn, services, own, tool, given)

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
        wakeable=turn.state.request.parent is None and not turn.state.request.method,
        memory=services.memory,
        tools=tuple(filter(partial(permits, turn.state.request.agent), services.tools.registry.names)),
        span=span,
        heard=partial(heard, turn),
        plans=plans,
        doubt=doubt,
        sample=sample,
        announce=turn.write,
        asked=login.answered(call) or call.asked(room.KIND),
        ask=ask,
        perform=performed,
        readable=services.skills.copies.readable(turn.key.user_id),
        subagent=subagent,
        workflows=workflows.runner(turn, services, call.call.id, idempotency_key(turn, call)),
        work=None if turn.state.request.isolated else _desk(turn, services, call),
        team=room.of(turn, services, idempotency_key(turn, call)),
        protocols=protocols.offered(turn, services, idempotency_key(turn, call)),
        worktrees=services.worktrees.agent(_actor(turn, call), turn.home, turn.change),
        schedules=None if turn.state.request.isolated else offered(services, turn),
        projects=None if turn.state.request.isolated else projects.offered(services, turn, _actor(turn, call)),
        limits=services.limits,
    )
