"""Ask: one model call, streamed onto the thread block by block.

The call counts when its `usage` is written. A call that fails before is discarded with an event that says from
where; a call that is cut by a cancel leaves the text it had.
"""

import time
from dataclasses import dataclass, field

from aster.contracts.blocks import AssistantBlock, BlockType, TextBlock, ThinkingBlock, ToolUseBlock
from aster.contracts.events import (
    CircuitState,
    ContentBlockStart,
    ContentBlockStop,
    Event,
    ModelProgress,
    ProviderFallback,
    Recovery,
    TextDelta,
    ThinkingDelta,
    Usage,
)
from aster.contracts.events.lifecycle import RecoveryReason
from aster.contracts.llm import (
    BlockFinished,
    BlockStarted,
    CallFinished,
    CallWaiting,
    ModelRequest,
    StreamEvent,
    TextPart,
    ThinkingPart,
    TokenUsage,
)
from aster.engine_core.services import Services
from aster.engine_core.turn import Turn
from aster.herald.failure import HeraldError
from aster.herald.profiles import cost_usd
from aster.infra.ids import new_id

MANY_PIECES = 200

BLOCK_TYPES: dict[type[AssistantBlock], BlockType] = {
    TextBlock: "text",
    ThinkingBlock: "thinking",
    ToolUseBlock: "tool_use",
}


@dataclass(slots=True)
class _Stream:
    """What has been shown of the call under way."""

    step: int
    began: float
    first_token: float | None = None
    streamed: bool = False
    finished: CallFinished | None = None
    text: dict[int, list[str]] = field(default_factory=dict[int, list[str]])


async def ask(turn: Turn, services: Services, request: ModelRequest) -> None:
    """Make a model call and put its answer on the thread."""
    stream = _Stream(step=turn.state.step + 1, began=time.perf_counter())
    outcome = "error"
    with services.raven.model_span(request.model, turn.key.task_id, turn.turn_id, step=stream.step) as span:
        call = services.herald.stream(request)
        try:
            async with call as batches:
                notify(turn, services, call.notices())
                async for batch in batches:
                    _show(turn, stream, batch)
                    await turn.brain.room()
            notify(turn, services, call.notices())
            outcome = "ok"
        except HeraldError as error:
            outcome = error.kind
            if stream.streamed:
                turn.write(await discarded(turn, stream.step, "transport"))
            notify(turn, services, call.notices())
            raise
        except BaseException:
            outcome = "cancelled"
            _keep(turn, stream)
            raise
        finally:
            finished = stream.finished
            services.raven.model_called(
                call.model,
                time.perf_counter() - stream.began,
                None if stream.first_token is None else stream.first_token - stream.began,
                finished.usage if finished else TokenUsage(),
                cost_usd(finished.model, finished.usage) if finished else None,
                outcome,
            )
            span.set(
                seq=turn.state.seq,
                usage=finished.usage if finished else None,
                finish_reason=finished.stop_reason if finished else None,
                error=None if outcome == "ok" else outcome,
            )


def notify(turn: Turn, services: Services, notices: list[Event]) -> None:
    """Put what happened to the model's endpoints onto the thread, and where an operator looks."""
    if notices:
        turn.write(*notices)
    for notice in notices:
        if isinstance(notice, CircuitState):
            services.raven.circuit_changed(notice.endpoint, notice.state)
        elif isinstance(notice, ProviderFallback):
            services.raven.fell_back(notice.from_model, notice.to_model, notice.reason)


def _show(turn: Turn, stream: _Stream, batch: list[StreamEvent]) -> None:
    """Put what one network read brought onto the thread; neighbouring pieces of one block as one delta."""
    texts: list[str] = []
    open_part: TextPart | ThinkingPart | None = None
    for event in batch:
        if isinstance(event, TextPart | ThinkingPart):
            if open_part is not None and (type(event), event.index) != (type(open_part), open_part.index):
                _show_part(turn, stream, open_part, texts)
            open_part = event
            texts.append(event.text)
            continue
        if open_part is not None:
            _show_part(turn, stream, open_part, texts)
            open_part = None
        _show_event(turn, stream, event)
    if open_part is not None:
        _show_part(turn, stream, open_part, texts)
    if any(not isinstance(event, CallWaiting) for event in batch):
        stream.streamed = True
        if stream.first_token is None:
            stream.first_token = time.perf_counter()


def _show_part(turn: Turn, stream: _Stream, part: TextPart | ThinkingPart, texts: list[str]) -> None:
    text = "".join(texts)
    texts.clear()
    if isinstance(part, ThinkingPart):
        turn.emit(ThinkingDelta(text=text, block_index=part.index, step=stream.step))
        return
    turn.emit(TextDelta(text=text, block_index=part.index, step=stream.step))
    said = stream.text.setdefault(part.index, [])
    said.append(text)
    if len(said) > MANY_PIECES:
        said[:] = ["".join(said)]


def _show_event(turn: Turn, stream: _Stream, event: StreamEvent) -> None:
    match event:
        case BlockStarted():
            turn.emit(
                ContentBlockStart(
                    block_index=event.index,
                    block_type=event.block_type,
                    step=stream.step,
                    tool=event.tool_name,
                    tool_call_id=event.tool_call_id,
                )
            )
        case BlockFinished(index=index, block=block):
            stream.text.pop(index, None)
            kind = BLOCK_TYPES[type(block)]
            turn.write(ContentBlockStop(block_index=index, block_type=kind, step=stream.step, block=block))
        case CallWaiting():
            progress = ModelProgress(
                stage=event.stage, text=event.text, done_bytes=event.done_bytes, total_bytes=event.total_bytes
            )
            turn.emit(progress)
        case CallFinished():
            stream.finished = event
            turn.write(_usage(stream, event))
        case TextPart() | ThinkingPart():
            raise AssertionError("parts are shown together")


def _usage(stream: _Stream, event: CallFinished) -> Usage:
    usage = event.usage
    first = stream.first_token
    return Usage(
        step=stream.step,
        message_id=new_id("msg"),
        model=event.model,
        stop_reason=event.stop_reason,
        input_tokens=usage.input_total,
        output_tokens=usage.output,
        cache_hit_tokens=usage.cache_read,
        cache_write_tokens=usage.cache_write,
        cost_usd=cost_usd(event.model, usage),
        duration_ms=round((time.perf_counter() - stream.began) * 1000),
        first_token_ms=None if first is None else round((first - stream.began) * 1000),
    )


def _keep(turn: Turn, stream: _Stream) -> None:
    """The call is being cancelled: what the person has read of it stays."""
    for index, parts in stream.text.items():
        block = TextBlock(text="".join(parts))
        turn.write(
            ContentBlockStop(block_index=index, block_type="text", step=stream.step, block=block, partial=True)
        )


async def discarded(turn: Turn, step: int, reason: RecoveryReason) -> Recovery:
    """The event that says from where what was streamed of a call no longer counts."""
    await turn.flush()
    floor = turn.state.step_floor if reason == "max_tokens" else turn.state.boundary_seq
    return Recovery(discarded_from_seq=floor + 1, reason=reason, step=step)
