"""The orchestrator: when the conversation of a turn is compacted, and how that gets onto its thread.

What was compacted, the view that is shown from then on and all that was moved out of it are one commit: after a crash
they are there together or not at all. A turn's own messages stay as they are, so its thread can be read and forked
anywhere.
"""

from collections.abc import Sequence
from typing import Final

from aster.brain.compaction_records import CompactionRow
from aster.brain.records import ArtifactRow, Row
from aster.contracts.errors import EngineError
from aster.contracts.events import CompactionEvent, TransitionReason, TurnTransition
from aster.contracts.events.context import CompactionTrigger
from aster.contracts.llm import LLMResponse, ModelRequest
from aster.contracts.messages import Message
from aster.contracts.model import encode
from aster.engine_core.aside import aside
from aster.engine_core.assemble import assemble, boundary_of
from aster.engine_core.compaction import job as jobs
from aster.engine_core.compaction.gauge import CHARS_PER_TOKEN, Gauge, gauge
from aster.engine_core.compaction.job import DEEPEST, Job, Made
from aster.engine_core.compaction.result_budget import BATCH_CHARS, over
from aster.engine_core.context.tokens import message_tokens, request_tokens
from aster.engine_core.hooks import points
from aster.engine_core.services import Services
from aster.engine_core.turn import Turn
from aster.herald.failure import FailureKind, HeraldError
from aster.infra.clock import now_ms
from aster.infra.ids import new_id
from aster.utility_directory.artifacts import Content

FAILURES: Final = 3
"""So many in a row, and a task is not compacted by itself any more; on request it is, and then again by itself."""


async def fitted(turn: Turn, services: Services, request: ModelRequest) -> ModelRequest:
    """The request, or another one if the conversation had to be compacted, or was to be."""
    wanted, settings = turn.state.compaction_wanted, services.settings
    full = gauge(turn, request, settings, compacting=wanted is not None)
    if wanted is not None:
        done = await _compact(turn, services, request, full, "requested", wanted)
        return assemble(turn, services) if done else request
    if not settings.reactive_compact_enabled:
        return request
    futile = max(turn.futile, full.lowest(_frame(request))) if full.level else 0
    if full.level <= futile and not over(_newest(turn), batch_chars(full)):
        return request
    if await services.brain.compaction_failures(turn.key) >= FAILURES:
        turn.futile = DEEPEST
        return request
    done = await _compact(turn, services, request, full, "proactive")
    return assemble(turn, services) if done else request


async def overflowed(turn: Turn, services: Services, error: HeraldError) -> bool:
    """The provider says that the prompt is too long: compact it, once, and say whether to ask again."""
    state = turn.state
    if error.kind is not FailureKind.OVERFLOW or not services.settings.reactive_compact_enabled:
        return False
    if state.transitions.get(TransitionReason.COMPACT_RETRY, 0):
        return False
    if await services.brain.compaction_failures(turn.key) >= FAILURES:
        return False
    request = assemble(turn, services)
    full = gauge(turn, request, services.settings, compacting=True).overflowed()
    if not await _compact(turn, services, request, full, "reactive"):
        return False
    turn.write(
        TurnTransition(
            reason=TransitionReason.COMPACT_RETRY,
            step=state.step + 1,
            limit=1,
            error=error.code,
            message=error.message,
        )
    )
    return True


def batch_chars(full: Gauge) -> int:
    """What the results of one step may be together: at most half of a small window."""
    return min(BATCH_CHARS, full.usable * CHARS_PER_TOKEN)


def _newest(turn: Turn) -> list[Message]:
    """The results of the newest step, with what the engine said beside them, unless they were looked at already."""
    messages = turn.state.messages
    return messages[max(turn.state.covered, len(messages) - 2) :]


def _frame(request: ModelRequest) -> int:
    """The tokens beside the messages, as we estimate."""
    return request_tokens(request) - sum(map(message_tokens, request.messages))


async def _compact(
    turn: Turn,
    services: Services,
    request: ModelRequest,
    full: Gauge,
    trigger: CompactionTrigger,
    focus: str = "",
) -> bool:
    """Compact what the turn shows its model; whether that changed anything."""

    async def ask(asked: ModelRequest) -> LLMResponse:
        return await aside(turn, services, asked, "summary")

    async def consent() -> list[str]:
        heard = await points.compacting(turn, services, trigger, focus)
        return [*([focus] if focus else []), *heard]

    covers = len(turn.state.messages)
    frame = _frame(request)
    job = Job(
        messages=turn.seen,
        active=frozenset(turn.state.said),
        boundary=boundary_of(turn),
        trigger=trigger,
        level=full.level if trigger == "proactive" else DEEPEST,
        frame=frame,
        target=full.target(frame),
        batch_chars=batch_chars(full),
        ratio=full.ratio,
        consent=consent,
        ask=ask,
    )
    try:
        made = await jobs.done(job, services)
    except EngineError as refused:
        made = jobs.refused(job, refused.message)
    if made is None:
        turn.futile = full.level
        return False
    event, rows = record(job, made, turn.turn_id, covers)
    turn.write(event, rows=rows)
    if made.ok:
        turn.history, turn.futile = made.messages, full.settled(made.after)
        turn.visited.clear()
    elif trigger != "requested":
        turn.futile = full.level if made.refused else DEEPEST
    observe(services, event)
    return made.ok


def record(job: Job, made: Made, turn_id: str, covers: int) -> tuple[CompactionEvent, list[Row]]:
    """What is committed of a compaction: the event, the view, what was moved out of it."""
    compaction_id, now = new_id("cmp"), now_ms()
    view = CompactionRow(
        compaction_id=compaction_id,
        turn_id=turn_id,
        covers=covers,
        ok=made.ok,
        messages=encode(made.messages),
        created_at=now,
    )
    event = CompactionEvent(
        before_tokens=made.before,
        after_tokens=made.after,
        strategy=made.strategies[-1],
        trigger=job.trigger,
        ok=made.ok,
        artifact_id=made.contents[0].artifact.id if made.contents else None,
        compaction_id=compaction_id,
        covers=covers,
        strategies=made.strategies,
        before_messages=len(job.messages),
        after_messages=len(made.messages or job.messages),
        model=made.model,
        reason=made.reason,
    )
    counts = made.ok or not (made.refused or job.trigger == "requested")
    return event, [*([view] if counts else []), *_artifacts(made.contents, turn_id, now)]


def observe(services: Services, event: CompactionEvent) -> None:
    """Where an operator looks."""
    told = f"{event.before_tokens:,} to {event.after_tokens:,} tokens by {', '.join(event.strategies)}"
    services.raven.note(
        "compaction",
        "info" if event.ok else "warning",
        event.reason or told,
        trigger=event.trigger,
        strategy=event.strategy,
        before_tokens=event.before_tokens,
        after_tokens=event.after_tokens,
    )


def _artifacts(contents: Sequence[Content], turn_id: str, now: int) -> list[Row]:
    return [
        ArtifactRow(
            artifact_id=content.artifact.id,
            turn_id=turn_id,
            tool_call_id="",
            name=content.artifact.name or content.artifact.id,
            media_type=content.artifact.media_type,
            size=content.artifact.size,
            sha256=content.sha256,
            data=content.data,
            created_at=now,
        )
        for content in contents
    ]
