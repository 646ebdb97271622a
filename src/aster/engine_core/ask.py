"""Ask: one model call, streamed onto the thread block by block.

The call counts when its `usage` is written. A call that fails before is discarded with an event that says from
where; a call that is cut by a cancel leaves the text it had. What had come by then is paid for either way.
"""

import time
from dataclasses import dataclass, field

from aster.contracts.blocks import AssistantBlock, BlockType, TextBlock, ThinkingBlock, ToolUseBlock, text_of
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
    TransitionReason,
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
from aster.engine_core.context.account import accounted
from aster.engine_core.history import spoken
from aster.engine_core.services import Services
from aster.engine_core.signals import Repeating
from aster.engine_core.stutter import STEERS, Stutter
from aster.engine_core.teams import mail
from aster.engine_core.turn import Turn
from aster.engine_core.unfinished import cut_off
from aster.engine_core.verifying.record import owed
from aster.herald.call import ModelCall
from aster.herald.estimate import cut_off_usage
from aster.herald.failure import HeraldError
from aster.herald.profiles import cost_usd
from aster.herald.protocols.base import SoFar
from aster.infra.ids import new_id
from aster.infra.secret_stream import SecretStream

MANY_PIECES = 200
NO_TOOLS = (
    "the endpoint refused tools, so they are offered in the prompt from now on; set LLM_TEXT_TOOLS=true to begin"
    " that way, or let the endpoint take tools"
)

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
    request: ModelRequest
    first_token: float | None = None
    endpoint: str | None = None
    streamed: bool = False
    finished: CallFinished | None = None
    used: TokenUsage = field(default_factory=TokenUsage)
    cost: float | None = None
    text: dict[int, list[str]] = field(default_factory=dict[int, list[str]])
    sieves: dict[int, SecretStream] = field(default_factory=dict[int, SecretStream])
    stutters: dict[int, Stutter] = field(default_factory=dict[int, Stutter])


async def ask(turn: Turn, services: Services, request: ModelRequest) -> None:
    """Make a model call and put its answer on the thread."""
    stream = _Stream(step=turn.state.step + 1, began=time.perf_counter(), request=request)
    outcome = "error"
    with services.raven.model_span(request.model, turn.key.task_id, turn.turn_id, step=stream.step) as span:
        call = services.herald.stream(request)
        answer: ModelCall | None = None
        try:
            async with call as batches:
                answer, stream.endpoint = batches, call.endpoint
                notify(turn, services, call.notices())
                if call.lost_tools:
                    services.raven.note("text_tools", "warning", NO_TOOLS, endpoint=call.endpoint)
                async for batch in batches:
                    _show(turn, services, stream, batch)
                    await turn.brain.room()
            notify(turn, services, call.notices())
            outcome = "ok"
        except HeraldError as error:
            outcome = error.kind
            used = _cut(services, request, stream, call.model, answer, outcome)
            if stream.finished is None:
                used += accounted(turn, services, request, stream.step)
            await _take_back(turn, stream, used, "transport")
            notify(turn, services, call.notices())
            raise
        except Repeating:
            outcome = "repetition"
            used = _cut(services, request, stream, call.model, answer, outcome)
            used += accounted(turn, services, request, stream.step)
            told = turn.state.transitions.get(TransitionReason.REPETITION, 0) >= STEERS
            if not told or owed(turn.state) is not None:
                await _take_back(turn, stream, used, "repetition")
            else:
                _keep(turn, stream, used)
            notify(turn, services, call.notices())
            raise
        except BaseException:
            outcome = "cancelled"
            _keep(turn, stream, _cut(services, request, stream, call.model, answer, outcome))
            raise
        finally:
            finished = stream.finished
            services.raven.model_called(
                call.model,
                time.perf_counter() - stream.began,
                None if stream.first_token is None else stream.first_token - stream.began,
                stream.used,
                stream.cost,
                outcome,
            )
            span.set(
                seq=turn.state.seq,
                usage=stream.used if stream.used != TokenUsage() else None,
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


def _cut(
    services: Services, request: ModelRequest, stream: _Stream, model: str, answer: ModelCall | None, why: str
) -> list[Event]:
    """What a call that goes no further has used, if it had begun to answer and is not counted already."""
    so_far = SoFar() if answer is None else answer.so_far
    if stream.finished is not None or not (stream.streamed or so_far.begun):
        return []
    stream.used = cut_off_usage(request, so_far)
    usage = cut_off(services, model, stream.used, step=stream.step, why=why, endpoint=stream.endpoint)
    stream.cost = usage.cost_usd
    return [usage]


async def _take_back(turn: Turn, stream: _Stream, used: list[Event], reason: RecoveryReason) -> None:
    """What was shown of the call no longer counts, what it cost does, also if that is cut short."""
    taken_back: list[Event] = []
    try:
        if stream.streamed:
            taken_back.append(await discarded(turn, stream.step, reason))
    finally:
        if taken_back or used:
            turn.write(*taken_back, *used)


def _show(turn: Turn, services: Services, stream: _Stream, batch: list[StreamEvent]) -> None:
    """Put what one network read brought onto the thread; neighbouring pieces of one block as one delta."""
    if any(not isinstance(event, CallWaiting) for event in batch):
        stream.streamed = True
        if stream.first_token is None:
            stream.first_token = time.perf_counter()
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
        _show_event(turn, services, stream, event)
    if open_part is not None:
        _show_part(turn, stream, open_part, texts)


def _show_part(turn: Turn, stream: _Stream, part: TextPart | ThinkingPart, texts: list[str]) -> None:
    text = "".join(texts)
    texts.clear()
    sieve = stream.sieves.get(part.index)
    if sieve is None:
        sieve = stream.sieves[part.index] = SecretStream(turn.secrets, "model")
    shown = sieve.feed(text)
    thought = isinstance(part, ThinkingPart)
    if shown:
        delta = ThinkingDelta if thought else TextDelta
        turn.emit(delta(text=shown, block_index=part.index, step=stream.step))
    if not thought:
        said = stream.text.setdefault(part.index, [])
        said.append(text)
        if len(said) > MANY_PIECES:
            said[:] = ["".join(said)]
    stutter = stream.stutters.get(part.index)
    if stutter is None:
        stutter = stream.stutters[part.index] = Stutter(thought=thought)
    passage = stutter.feed(text)
    if passage is None:
        return
    if not thought and _asked_for(turn, passage):
        stutter.let_be()
        return
    raise Repeating(passage)


def _asked_for(turn: Turn, passage: str) -> bool:
    """Whether these are a person's own words, which they may want to see a hundred times."""
    wanted = " ".join(passage.split())
    said = (text_of(message.content) for message in turn.state.messages if spoken(message))
    return any(wanted in " ".join(text.split()) for text in said)


def _show_held(turn: Turn, stream: _Stream, index: int, block: AssistantBlock) -> None:
    """What was held back because a secret could have begun there."""
    sieve = stream.sieves.pop(index, None)
    held = sieve.finish() if sieve is not None else ""
    if held:
        delta = ThinkingDelta if isinstance(block, ThinkingBlock) else TextDelta
        turn.emit(delta(text=held, block_index=index, step=stream.step))


def _show_event(turn: Turn, services: Services, stream: _Stream, event: StreamEvent) -> None:
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
            _show_held(turn, stream, index, block)
            kind = BLOCK_TYPES[type(block)]
            turn.write(ContentBlockStop(block_index=index, block_type=kind, step=stream.step, block=block))
        case CallWaiting():
            progress = ModelProgress(
                stage=event.stage, text=event.text, done_bytes=event.done_bytes, total_bytes=event.total_bytes
            )
            turn.emit(progress)
        case CallFinished():
            day = services.budgets.today().name
            stream.finished, stream.used = event, event.usage
            stream.cost = cost_usd(event.model, event.usage, day)
            shown = accounted(turn, services, stream.request, stream.step, event.usage)
            turn.write(_usage(stream, event), *shown, deed=mail.heard(turn))
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
        cost_usd=stream.cost,
        duration_ms=round((time.perf_counter() - stream.began) * 1000),
        first_token_ms=None if first is None else round((first - stream.began) * 1000),
        endpoint=stream.endpoint,
    )


def _keep(turn: Turn, stream: _Stream, used: list[Event]) -> None:
    """The call is being cancelled: what the person has read of it stays."""
    read = (
        ContentBlockStop(
            block_index=index,
            block_type="text",
            step=stream.step,
            block=TextBlock(text="".join(parts)),
            partial=True,
        )
        for index, parts in stream.text.items()
    )
    if events := [*read, *used]:
        turn.write(*events)


async def discarded(turn: Turn, step: int, reason: RecoveryReason) -> Recovery:
    """The event that says from where what was streamed of a call no longer counts."""
    await turn.flush()
    floor = turn.state.step_floor if reason in ("max_tokens", "verification") else turn.state.boundary_seq
    return Recovery(discarded_from_seq=floor + 1, reason=reason, step=step)
