"""The answer side of OpenAI's Responses protocol: events in, our events out.

An answer is a list of items, each added, filled and done; reasoning, messages and function calls become blocks,
anything else is passed over. A server that leaves out the deltas is read from the finished items. The answer is
whole when `response.completed` or `response.incomplete` has come.
"""

import re
from collections.abc import Sequence

import msgspec
from msgspec import Struct

from aster.contracts.blocks import AssistantBlock, BlockType, TextBlock, ThinkingBlock
from aster.contracts.llm import (
    BlockFinished,
    BlockStarted,
    CallFinished,
    StopReason,
    StreamEvent,
    TextPart,
    ThinkingPart,
    TokenUsage,
)
from aster.herald.failure import FailureKind, HeraldError
from aster.herald.protocols.base import SoFar, cut_off, malformed, tool_use
from aster.herald.protocols.openai_chat_stream import ProviderError, failure_of
from aster.herald.protocols.stops import StopText

_CODE_KINDS = {
    "invalid_prompt": FailureKind.BAD_REQUEST,
    "data_residency_mismatch": FailureKind.BAD_REQUEST,
    "bio_policy": FailureKind.BAD_REQUEST,
    "misalignment_policy_violation": FailureKind.BAD_REQUEST,
    "vector_store_timeout": FailureKind.TIMEOUT,
}
_MEDIA_CODE = re.compile(r"image|file_(too_large|parse|format|data)|unsupported_(file|media)")
_INCOMPLETE = {"max_output_tokens": StopReason.MAX_TOKENS, "content_filter": StopReason.REFUSAL}
_KINDS: dict[str, BlockType] = {"reasoning": "thinking", "message": "text", "function_call": "tool_use"}
_BETWEEN_SUMMARIES = "\n\n"


class _InputDetails(Struct):
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None


class _Usage(Struct):
    input_tokens: int | None = None
    output_tokens: int | None = None
    input_tokens_details: _InputDetails | None = None


class _Incomplete(Struct):
    reason: str | None = None


class _Response(Struct):
    id: str | None = None
    model: str | None = None
    usage: _Usage | None = None
    error: ProviderError | None = None
    incomplete_details: _Incomplete | None = None


class _Piece(Struct):
    text: str | None = None
    refusal: str | None = None


class _Item(Struct):
    type: str = ""
    id: str | None = None
    call_id: str = ""
    name: str = ""
    arguments: str | None = None
    phase: str | None = None
    encrypted_content: str | None = None
    content: list[_Piece] | None = None
    summary: list[_Piece] | None = None


class _Frame(Struct, gc=False):
    type: str
    delta: str = ""
    output_index: int = 0
    item: _Item | None = None
    response: _Response | None = None
    error: ProviderError | None = None
    code: str | None = None
    message: str | None = None


_decode = msgspec.json.Decoder(_Frame).decode


def stream_failure(error: ProviderError) -> HeraldError:
    """What an error inside a stream means; it comes without a status, so its code decides."""
    code = error.code if isinstance(error.code, str) else ""
    kind = FailureKind.REFUSED_MEDIA if _MEDIA_CODE.search(code) else _CODE_KINDS.get(code)
    if kind is None:
        return failure_of(error)
    return HeraldError(kind, error.message or "", provider_code=code)


class _Open:
    """One item while it is filled; it becomes a block with the first thing worth showing."""

    def __init__(self, item: _Item) -> None:
        self.item = item
        self.kind: BlockType | None = _KINDS.get(item.type)
        self.index: int | None = None
        self.pieces: list[str] = []


class OpenAIResponsesDecoder:
    """One answer; items are told apart by their place in the output."""

    def __init__(self, model: str, stop_sequences: Sequence[str] = ()) -> None:
        self.finished = False
        self._asked = model
        self._model = model
        self._provider_id: str | None = None
        self._blocks = 0
        self._items: dict[int, _Open] = {}
        self._called = False
        self._refused = False
        self._stops = StopText(stop_sequences)
        self._characters = 0

    def feed(self, event: str, data: bytes) -> list[StreamEvent]:
        if data == b"[DONE]":
            return []
        try:
            frame = _decode(data)
        except msgspec.DecodeError:
            raise malformed(data) from None
        events: list[StreamEvent] = []
        self._characters += len(frame.delta)
        match frame.type:
            case "response.output_text.delta":
                self._say(frame.output_index, frame.delta, events)
            case "response.refusal.delta":
                self._refused = True
                self._say(frame.output_index, frame.delta, events)
            case "response.reasoning_summary_text.delta" | "response.reasoning_text.delta":
                self._think(frame.output_index, frame.delta, events)
            case "response.reasoning_summary_part.added":
                opened = self._items.get(frame.output_index)
                if opened is not None and opened.pieces:
                    self._think(frame.output_index, _BETWEEN_SUMMARIES, events)
            case "response.function_call_arguments.delta":
                if (opened := self._items.get(frame.output_index)) is not None:
                    opened.pieces.append(frame.delta)
            case "response.output_item.added":
                self._add(frame, data, events)
            case "response.output_item.done":
                self._done(frame, data, events)
            case "response.created" | "response.in_progress":
                self._meet(frame.response)
            case "response.completed" | "response.incomplete":
                self._finish(frame.response or _Response(), events)
            case "response.failed" | "error":
                inner = frame.response.error if frame.response is not None else frame.error
                raise stream_failure(inner or ProviderError(message=frame.message, code=frame.code))
            case _:
                if event == "error":
                    raise stream_failure(ProviderError(message=data.decode("utf-8", "replace")))
        return events

    def end(self) -> list[StreamEvent]:
        if self.finished:
            return []
        raise cut_off()

    def so_far(self) -> SoFar:
        return SoFar(characters=self._characters)

    def _meet(self, response: _Response | None) -> None:
        if response is not None:
            self._provider_id = response.id or self._provider_id
            self._model = response.model or self._model

    def _add(self, frame: _Frame, data: bytes, events: list[StreamEvent]) -> None:
        if frame.item is None:
            raise malformed(data)
        opened = _Open(frame.item)
        if opened.kind is None or self._stops.stopped:
            return
        self._items[frame.output_index] = opened
        if opened.kind == "tool_use":
            self._called = True
            self._start(opened, events)

    def _start(self, opened: _Open, events: list[StreamEvent]) -> int:
        if opened.index is not None:
            return opened.index
        assert opened.kind is not None, "only items that become blocks are opened"
        opened.index = self._blocks
        self._blocks += 1
        called = opened.kind == "tool_use"
        events.append(
            BlockStarted(
                index=opened.index,
                block_type=opened.kind,
                tool_name=opened.item.name if called else None,
                tool_call_id=opened.item.call_id if called else None,
            )
        )
        return opened.index

    def _say(self, place: int, text: str, events: list[StreamEvent]) -> None:
        self._show(self._filled(place, "message"), self._stops.feed(text), events)

    def _think(self, place: int, text: str, events: list[StreamEvent]) -> None:
        self._show(self._filled(place, "reasoning"), text, events)

    def _filled(self, place: int, kind: str) -> _Open:
        """The item that a delta belongs to; one that was never announced begins here."""
        opened = self._items.get(place)
        if opened is None:
            opened = self._items[place] = _Open(_Item(type=kind))
        return opened

    def _show(self, opened: _Open, text: str, events: list[StreamEvent]) -> None:
        if not text:
            return
        index = self._start(opened, events) if opened.index is None else opened.index
        opened.pieces.append(text)
        part = ThinkingPart if opened.kind == "thinking" else TextPart
        events.append(part(index=index, text=text))

    def _done(self, frame: _Frame, data: bytes, events: list[StreamEvent]) -> None:
        if frame.item is None:
            raise malformed(data)
        if frame.output_index not in self._items:
            self._add(frame, data, events)
        opened = self._items.pop(frame.output_index, None)
        if opened is not None:
            opened.item = frame.item
            self._close(opened, events)

    def _close(self, opened: _Open, events: list[StreamEvent]) -> None:
        item = opened.item
        block: AssistantBlock
        match opened.kind:
            case "tool_use":
                block = tool_use(item.call_id, item.name, item.arguments or "".join(opened.pieces))
            case "thinking":
                if not opened.pieces:
                    said = [piece.text for piece in (*(item.summary or ()), *(item.content or ()))]
                    self._show(opened, _BETWEEN_SUMMARIES.join(text for text in said if text), events)
                if opened.index is None and item.encrypted_content is None:
                    return
                text = "".join(opened.pieces)
                mark, secret = item.id, item.encrypted_content
                block = ThinkingBlock(text=text, signature=mark, encrypted=secret, model=self._asked)
            case _:
                self._unsaid(opened, events)
                if opened.index is None:
                    return
                model = self._asked if item.phase else None
                block = TextBlock(text="".join(opened.pieces), signature=item.phase, model=model)
        events.append(BlockFinished(index=self._start(opened, events), block=block))

    def _unsaid(self, opened: _Open, events: list[StreamEvent]) -> None:
        """The words of a message that are still owed: those never streamed, and those held back."""
        if opened.index is None and not self._stops.stopped:
            pieces = opened.item.content or ()
            self._refused = self._refused or any(piece.refusal for piece in pieces)
            if not (held := self._stops.flush()):
                held = self._stops.feed("".join(piece.text or piece.refusal or "" for piece in pieces))
            self._show(opened, held, events)
        self._show(opened, self._stops.flush(), events)

    def _finish(self, response: _Response, events: list[StreamEvent]) -> None:
        self._meet(response)
        for opened in self._items.values():
            self._close(opened, events)
        self._items.clear()
        self.finished = True
        usage = response.usage or _Usage()
        events.append(
            CallFinished(
                stop_reason=self._reason(response.incomplete_details),
                usage=_counted(usage),
                model=self._model,
                provider_id=self._provider_id,
            )
        )

    def _reason(self, incomplete: _Incomplete | None) -> StopReason:
        if self._stops.stopped:
            return StopReason.STOP_SEQUENCE
        if self._refused:
            return StopReason.REFUSAL
        if incomplete is not None:
            return _INCOMPLETE.get(incomplete.reason or "", StopReason.MAX_TOKENS)
        return StopReason.TOOL_USE if self._called else StopReason.END_TURN


def _counted(usage: _Usage) -> TokenUsage:
    details = usage.input_tokens_details or _InputDetails()
    read, written = details.cached_tokens or 0, details.cache_write_tokens or 0
    return TokenUsage(
        input=max(0, (usage.input_tokens or 0) - read - written),
        output=usage.output_tokens or 0,
        cache_read=read,
        cache_write=written,
    )
