"""A turn as a door sees it: what is said, piece by piece, and how it ends.

It reads the same committed frames as every other stream, and nothing else. An answer ends where the turn does, or
where it waits: for the client, which has calls to run, or for a person.
"""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, NamedTuple, TypeAlias

from aster.brain.fanout import Subscription
from aster.brain.records import Frame
from aster.contracts.blocks import TextBlock, ThinkingBlock
from aster.contracts.errors import ErrorBody, ErrorCode
from aster.contracts.events import (
    ContentBlockStop,
    ErrorEvent,
    Event,
    HitlRequest,
    HitlResolved,
    Phase,
    Recovery,
    TaskLifecycle,
    TextDelta,
    ThinkingDelta,
    ThreadLifecycle,
    Usage,
    decode_event,
)
from aster.contracts.llm import TokenUsage
from aster.engine_core.client_tools import KIND
from aster.engine_core.engine import Engine
from aster.infra.clock import now_ms

_TELLING: Final = frozenset(
    (
        *("text_delta", "thinking_delta", "content_block_stop", "usage", "recovery", "error"),
        *("hitl_request", "hitl_resolved", "thread_lifecycle", "task_lifecycle"),
    )
)


class Words(NamedTuple):
    """Some of the answer; what belongs to one block has one `block`."""

    text: str
    block: tuple[int, int]


class Thought(NamedTuple):
    """Some of what the model thinks before it answers."""

    text: str
    block: tuple[int, int]


class BlockEnd(NamedTuple):
    """A block is whole."""

    block: tuple[int, int]
    text: str
    thought: bool = False


class TakenBack(NamedTuple):
    """What was shown of a step no longer counts; it comes again."""

    step: int


class Quiet(NamedTuple):
    """Nothing for a while; the turn goes on."""


class Ended(NamedTuple):
    """The answer is over, `at` this second. The turn waits for `calls` that the client runs, or for a person to answer
    `asked`, or it has ended: with `error`, or for `stop_reason`."""

    stop_reason: str
    usage: TokenUsage
    calls: tuple[HitlRequest, ...] = ()
    asked: HitlRequest | None = None
    error: ErrorBody | None = None
    cancelled: bool = False
    at: int = 0


Piece: TypeAlias = Words | Thought | BlockEnd | TakenBack | Quiet | Ended


@dataclass(slots=True)
class Following:
    """A turn that a door follows; it may have to wait until the message it is for, `message_id`, leaves the inbox.
    `open` is what it waits for still, though something was answered just now."""

    task_id: str
    turn_id: str
    subscription: Subscription
    message_id: str = ""
    segment: int = 0
    open: tuple[HitlRequest, ...] = ()


@dataclass(slots=True)
class Reader:
    """Turns the events of one turn into pieces."""

    usage: TokenUsage = field(default_factory=TokenUsage)
    _shown: dict[tuple[int, int], int] = field(default_factory=dict[tuple[int, int], int])
    _steps: dict[int, int] = field(default_factory=dict[int, int])
    """Where each step begins on the thread."""
    _open: dict[str, HitlRequest] = field(default_factory=dict[str, HitlRequest])
    _error: ErrorBody | None = None
    _parked: ThreadLifecycle | None = None

    def read(self, event: Event) -> list[Piece]:
        """What an event says to a client of a door."""
        match event:
            case TextDelta():
                return [Words(event.text, self._more(event))]
            case ThinkingDelta():
                return [Thought(event.text, self._more(event))]
            case ContentBlockStop():
                return self._whole(event)
            case Usage():
                self.usage = self.usage.plus(_spent(event))
            case Recovery():
                self._shown.clear()
                gone = [step for step, seq in self._steps.items() if seq >= event.discarded_from_seq]
                for step in gone:
                    del self._steps[step]
                return [TakenBack(step) for step in gone]
            case HitlRequest():
                self._open[event.request_id] = event
            case HitlResolved():
                self._open.pop(event.request_id, None)
            case ErrorEvent():
                self._error = ErrorBody(
                    error=ErrorCode(event.error), message=event.message, retry=event.retry, details=event.details
                )
            case ThreadLifecycle():
                return self._phase(event)
            case _:
                pass
        return []

    def read_above(self, event: Event) -> list[Piece]:
        """What a sub-agent of the turn asks a person is a question of the turn's, once that waits for it."""
        match event:
            case HitlRequest(depth=depth) if depth:
                self._open[event.request_id] = event
                return self._phase(self._parked) if self._parked is not None else []
            case HitlResolved(depth=depth) if depth:
                self._open.pop(event.request_id, None)
            case _:
                pass
        return []

    def _more(self, event: TextDelta | ThinkingDelta) -> tuple[int, int]:
        block = event.step, event.block_index
        self._steps.setdefault(event.step, event.seq)
        self._shown[block] = self._shown.get(block, 0) + len(event.text)
        return block

    def _whole(self, event: ContentBlockStop) -> list[Piece]:
        if not isinstance(event.block, TextBlock | ThinkingBlock):
            return []
        thought = isinstance(event.block, ThinkingBlock)
        self._steps.setdefault(event.step, event.seq)
        block = event.step, event.block_index
        rest = event.block.text[self._shown.pop(block, 0) :]
        end = BlockEnd(block, event.block.text, thought)
        if not rest:
            return [end]
        return [Thought(rest, block) if thought else Words(rest, block), end]

    def _phase(self, event: ThreadLifecycle) -> list[Piece]:
        self._parked = event if event.phase is Phase.SUSPENDED else None
        if event.phase is Phase.SUSPENDED and self._open:
            return [resting(tuple(self._open.values()), self.usage, _seconds(event))]
        if event.phase.final:
            cancelled = event.phase is Phase.CANCELLED
            return [
                Ended(
                    event.stop_reason or "", self.usage, error=self._error, cancelled=cancelled, at=_seconds(event)
                )
            ]
        return []


def resting(waiting: tuple[HitlRequest, ...], usage: TokenUsage, at: int) -> Ended:
    """The end of an answer whose turn waits: for its client, if that has calls to run, otherwise for a person."""
    calls = tuple(request for request in waiting if request.kind == KIND)
    asked = next((request for request in waiting if request.kind != KIND), None)
    return Ended("waiting", usage, calls, None if calls else asked, at=at)


async def pieces(engine: Engine, following: Following) -> AsyncGenerator[list[Piece], None]:
    """What a turn says from where its subscription stands, up to the end of the answer: all that is new, each time."""
    reader = Reader()
    interval = engine.settings.heartbeat_seconds
    clock = asyncio.get_running_loop().time
    spoke = clock()
    with following.subscription as subscription:
        if following.open:
            yield [resting(following.open, reader.usage, now_ms() // 1000)]
            return
        while True:
            frames = await subscription.next(max(0.0, spoke + interval - clock()))
            said = _said(reader, following, frames)
            if said:
                spoke = clock()
                yield said
                if isinstance(said[-1], Ended):
                    return
            if engine.leaving:
                yield [Ended("leaving", reader.usage, error=_leaving())]
                return
            if clock() - spoke >= interval:
                spoke = clock()
                yield [Quiet()]


def _said(reader: Reader, following: Following, frames: list[Frame]) -> list[Piece]:
    """What frames say, up to the end of the answer if that is among them."""
    said: list[Piece] = []
    for frame in frames:
        said += _read(reader, following, frame)
        if said and isinstance(said[-1], Ended):
            break
    return said


def _read(reader: Reader, following: Following, frame: Frame) -> list[Piece]:
    if frame.type not in _TELLING:
        return []
    if frame.turn_id == following.turn_id:
        return reader.read(decode_event(frame.json))
    if frame.turn_id is None and frame.type in ("hitl_request", "hitl_resolved"):
        return reader.read_above(decode_event(frame.json))
    event = decode_event(frame.json) if frame.type == "task_lifecycle" else None
    dropped = isinstance(event, TaskLifecycle) and event.phase == "dequeued"
    if isinstance(event, TaskLifecycle) and dropped and event.message_id == following.message_id:
        gone = ErrorBody(
            error=ErrorCode.TASK_BUSY, message="The message was dropped before its turn began.", retry="now"
        )
        return [Ended("dropped", reader.usage, error=gone)]
    return []


def _seconds(event: Event) -> int:
    return int(datetime.fromisoformat(event.timestamp).timestamp())


def _spent(event: Usage) -> TokenUsage:
    cached = event.cache_hit_tokens + event.cache_write_tokens
    return TokenUsage(
        input=event.input_tokens - cached,
        output=event.output_tokens,
        cache_read=event.cache_hit_tokens,
        cache_write=event.cache_write_tokens,
    )


def _leaving() -> ErrorBody:
    message = "The engine is going away; the turn goes on with the next one. Ask again in a moment."
    return ErrorBody(error=ErrorCode.DRAINING, message=message, retry="after")
