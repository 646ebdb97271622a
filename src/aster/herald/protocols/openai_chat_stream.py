"""The answer side of Chat Completions: chunks in, events out.

The wire has no blocks, only deltas of text, reasoning and numbered calls; blocks are made of them here. A
text or thinking block ends where another kind begins; a call ends as soon as its arguments are whole and the
next one begins, or with the answer. The answer is whole when a finish reason or `[DONE]` has come.
"""

import re

import msgspec
from msgspec import Struct

from aster.contracts.blocks import BlockType, TextBlock, ThinkingBlock
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
from aster.herald.failure import FailureKind, HeraldError, kind_of_status
from aster.herald.protocols.base import SoFar, cut_off, malformed, tool_use

_CODE_KINDS = {
    "context_length_exceeded": FailureKind.OVERFLOW,
    "exceed_context_size_error": FailureKind.OVERFLOW,
    "insufficient_quota": FailureKind.AUTH,
    "billing_hard_limit_reached": FailureKind.AUTH,
    "invalid_api_key": FailureKind.AUTH,
    "authentication_error": FailureKind.AUTH,
    "missing_scope": FailureKind.AUTH,
    "model_not_found": FailureKind.BAD_REQUEST,
    "invalid_request_error": FailureKind.BAD_REQUEST,
    "rate_limit_exceeded": FailureKind.RATE_LIMITED,
    "rate_limit_error": FailureKind.RATE_LIMITED,
    "server_is_overloaded": FailureKind.OVERLOADED,
    "overloaded_error": FailureKind.OVERLOADED,
    "service_unavailable_error": FailureKind.OVERLOADED,
    "server_error": FailureKind.PROVIDER,
    "api_error": FailureKind.PROVIDER,
}
_MEDIA = re.compile(
    r"(image|audio|video|vision|file|pdf|multi-?modal)s?( \w+){0,2} (is|are) not supported"
    r"|not support( \w+){0,2} (image|audio|video|vision|file|multi-?modal)"
    r"|at most \d+ (image|audio|video)"
    r"|(invalid|unsupported|cannot (load|decode|process)) (\w+ ){0,2}(image|audio|video|pdf)",
    re.I,
)
"""How servers that have no code for it say that they do not read something attached."""
_MEDIA_CODE = re.compile(r"image|file_(too_large|parse|format|data)|unsupported_(file|media)")
_OVERFLOW = re.compile(
    r"maximum context length|context (window|length|size)|prompt is too long|too many tokens in the (prompt|input)",
    re.I,
)
_STOPS = {
    "stop": StopReason.END_TURN,
    "length": StopReason.MAX_TOKENS,
    "tool_calls": StopReason.TOOL_USE,
    "function_call": StopReason.TOOL_USE,
    "content_filter": StopReason.REFUSAL,
}


class ProviderError(Struct):
    message: str | None = None
    type: str | None = None
    code: str | int | None = None


class ErrorBody(Struct):
    error: ProviderError | str


class _PromptDetails(Struct):
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None


class _Usage(Struct):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_tokens_details: _PromptDetails | None = None


class _Function(Struct, gc=False):
    name: str | None = None
    arguments: str | None = None


class _CallDelta(Struct, gc=False):
    index: int | None = None
    id: str | None = None
    function: _Function | None = None


class _Delta(Struct, gc=False):
    content: str | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    refusal: str | None = None
    tool_calls: list[_CallDelta] | None = None


class _Choice(Struct, gc=False):
    delta: _Delta | None = None
    finish_reason: str | None = None


class _Chunk(Struct, gc=False):
    id: str | None = None
    model: str | None = None
    choices: list[_Choice] | None = None
    usage: _Usage | None = None
    error: ProviderError | str | None = None


_decode = msgspec.json.Decoder(_Chunk).decode


def failure_of(error: ProviderError | str, status: int | None = None) -> HeraldError:
    """What an error object means, by its code, then its type, then the status, and by its sentence last."""
    if isinstance(error, str):
        error = ProviderError(message=error)
    said = error.message or ""
    if isinstance(error.code, int):
        status = status or error.code
    words = [word for word in (error.code, error.type) if isinstance(word, str)]
    kind = next((_CODE_KINDS[word] for word in words if word in _CODE_KINDS), None)
    if status is not None and kind in (None, FailureKind.BAD_REQUEST, FailureKind.PROVIDER):
        kind = kind_of_status(status)
    kind = kind or FailureKind.PROVIDER
    if kind is FailureKind.BAD_REQUEST:
        if any(_MEDIA_CODE.search(word) for word in words):
            kind = FailureKind.REFUSED_MEDIA
        elif _OVERFLOW.search(said):
            kind = FailureKind.OVERFLOW
        elif _MEDIA.search(said):
            kind = FailureKind.REFUSED_MEDIA
    return HeraldError(kind, said, status=status, provider_code=words[0] if words else None)


class _Call:
    """One tool call while its arguments arrive."""

    def __init__(self, index: int, wire_index: int | None, call_id: str, name: str) -> None:
        self.index = index
        self.wire_index = wire_index
        self.id = call_id
        self.name = name
        self.arguments: list[str] = []


class OpenAIChatDecoder:
    """One answer: at most one text or thinking block is open, and any number of calls."""

    def __init__(self, model: str) -> None:
        self.finished = False
        self._asked = model
        self._model = model
        self._provider_id: str | None = None
        self._usage = TokenUsage()
        self._stop: StopReason | None = None
        self._blocks = 0
        self._kind: BlockType | None = None
        self._index = 0
        self._pieces: list[str] = []
        self._characters = 0
        self._calls: list[_Call] = []
        self._called = False
        self._refused = False

    def feed(self, event: str, data: bytes) -> list[StreamEvent]:
        if data == b"[DONE]":
            return self._finish()
        try:
            chunk = _decode(data)
        except msgspec.DecodeError:
            raise malformed(data) from None
        if chunk.error is not None or event == "error":
            raise failure_of(chunk.error or data.decode())
        if chunk.usage is not None:
            self._usage = _counted(chunk.usage)
        if not chunk.choices:
            return []
        if self._provider_id is None:
            self._provider_id = chunk.id
            self._model = chunk.model or self._asked
        choice = chunk.choices[0]
        events: list[StreamEvent] = []
        if choice.delta is not None:
            self._delta(choice.delta, events)
        if choice.finish_reason == "error":
            raise HeraldError(FailureKind.PROVIDER, "the provider ended the answer with an error")
        if choice.finish_reason:
            self._stop = _STOPS.get(choice.finish_reason, StopReason.END_TURN)
            self._close_all(events)
        return events

    def end(self) -> list[StreamEvent]:
        if self.finished:
            return []
        if self._stop is None:
            raise cut_off()
        return self._finish()

    def so_far(self) -> SoFar:
        return SoFar(self._usage, self._characters)

    def _delta(self, delta: _Delta, events: list[StreamEvent]) -> None:
        if thought := delta.reasoning_content or delta.reasoning:
            self._characters += len(thought)
            if self._kind != "thinking":
                self._switch("thinking", events)
            self._pieces.append(thought)
            events.append(ThinkingPart(index=self._index, text=thought))
        if text := delta.content or delta.refusal:
            if not delta.content:
                self._refused = True
            self._characters += len(text)
            if self._kind != "text":
                self._switch("text", events)
            self._pieces.append(text)
            events.append(TextPart(index=self._index, text=text))
        if delta.tool_calls:
            for call in delta.tool_calls:
                self._call_delta(call, events)

    def _switch(self, kind: BlockType, events: list[StreamEvent]) -> None:
        self._close_text(events)
        self._kind = kind
        self._index = self._blocks
        self._blocks += 1
        events.append(BlockStarted(index=self._index, block_type=kind))

    def _close_text(self, events: list[StreamEvent]) -> None:
        if self._kind is None:
            return
        text = "".join(self._pieces)
        thinking = self._kind == "thinking"
        block = ThinkingBlock(text=text, model=self._asked) if thinking else TextBlock(text=text)
        events.append(BlockFinished(index=self._index, block=block))
        self._kind = None
        self._pieces = []

    def _call_delta(self, delta: _CallDelta, events: list[StreamEvent]) -> None:
        function = delta.function or _Function()
        call = self._call_for(delta)
        if call is None:
            if not (delta.id or function.name):
                return
            self._close_text(events)
            self._close_whole_calls(events)
            call_id = delta.id or f"call_{self._blocks}"
            call = _Call(self._blocks, delta.index, call_id, function.name or "")
            self._blocks += 1
            self._calls.append(call)
            self._called = True
            events.append(
                BlockStarted(index=call.index, block_type="tool_use", tool_name=call.name, tool_call_id=call.id)
            )
        call.name = call.name or function.name or ""
        if function.arguments:
            self._characters += len(function.arguments)
            call.arguments.append(function.arguments)

    def _call_for(self, delta: _CallDelta) -> _Call | None:
        """The open call that a delta continues; a new id is a new call, for servers that number badly."""
        for call in reversed(self._calls):
            if delta.id and delta.id != call.id:
                continue
            if delta.index is None or delta.index == call.wire_index:
                return call
        return None

    def _close_whole_calls(self, events: list[StreamEvent]) -> None:
        still_open: list[_Call] = []
        for call in self._calls:
            block = tool_use(call.id, call.name, "".join(call.arguments))
            if call.arguments and block.invalid is None:
                events.append(BlockFinished(index=call.index, block=block))
            else:
                still_open.append(call)
        self._calls = still_open

    def _close_all(self, events: list[StreamEvent]) -> None:
        self._close_text(events)
        for call in self._calls:
            block = tool_use(call.id, call.name, "".join(call.arguments))
            events.append(BlockFinished(index=call.index, block=block))
        self._calls = []

    def _finish(self) -> list[StreamEvent]:
        if self.finished:
            return []
        events: list[StreamEvent] = []
        self._close_all(events)
        stop = self._stop or StopReason.END_TURN
        if self._refused:
            stop = StopReason.REFUSAL
        elif self._called and stop is StopReason.END_TURN:
            stop = StopReason.TOOL_USE
        self.finished = True
        events.append(
            CallFinished(stop_reason=stop, usage=self._usage, model=self._model, provider_id=self._provider_id)
        )
        return events


def _counted(usage: _Usage) -> TokenUsage:
    details = usage.prompt_tokens_details or _PromptDetails()
    read, written = details.cached_tokens or 0, details.cache_write_tokens or 0
    return TokenUsage(
        input=max(0, (usage.prompt_tokens or 0) - read - written),
        output=usage.completion_tokens or 0,
        cache_read=read,
        cache_write=written,
    )
