"""The answer side of Gemini's `streamGenerateContent`: chunks in, events out.

A chunk holds parts of text, thought or whole function calls; neighbouring parts of one kind become one block. A
signature belongs to the part it came on and is kept with that block. Calls come without ids from older models, so
they get stable ones here. Nothing marks the end but the end of the connection, after a finish reason.
"""

import re
from typing import Any

import msgspec
from msgspec import Struct

from aster.contracts.blocks import BlockType, TextBlock, ThinkingBlock, ToolUseBlock
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
from aster.herald.protocols.base import SoFar, cut_off, malformed

MADE = "made_"
"""Begins the ids that were made here; the provider never hears them."""

_STATUS_KINDS = {
    "INVALID_ARGUMENT": FailureKind.BAD_REQUEST,
    "FAILED_PRECONDITION": FailureKind.AUTH,
    "OUT_OF_RANGE": FailureKind.BAD_REQUEST,
    "UNIMPLEMENTED": FailureKind.BAD_REQUEST,
    "NOT_FOUND": FailureKind.BAD_REQUEST,
    "UNAUTHENTICATED": FailureKind.AUTH,
    "PERMISSION_DENIED": FailureKind.AUTH,
    "RESOURCE_EXHAUSTED": FailureKind.RATE_LIMITED,
    "UNAVAILABLE": FailureKind.OVERLOADED,
    "DEADLINE_EXCEEDED": FailureKind.TIMEOUT,
    "INTERNAL": FailureKind.PROVIDER,
    "UNKNOWN": FailureKind.PROVIDER,
    "ABORTED": FailureKind.PROVIDER,
    "CANCELLED": FailureKind.PROVIDER,
}
_REASON_KINDS = {
    "API_KEY_INVALID": FailureKind.AUTH,
    "API_KEY_SERVICE_BLOCKED": FailureKind.AUTH,
    "BILLING_DISABLED": FailureKind.AUTH,
    "SERVICE_DISABLED": FailureKind.AUTH,
    "CONSUMER_SUSPENDED": FailureKind.AUTH,
}
_OVERFLOW = re.compile(r"token count .*exceeds|exceeds the maximum number of tokens|payload size exceeds", re.I)
_MEDIA = re.compile(
    r"unable to process input (image|document|file)|image is not valid|unsupported mime type|document has no pages",
    re.I,
)
_STOPS = {
    "STOP": StopReason.END_TURN,
    "FINISH_REASON_UNSPECIFIED": StopReason.END_TURN,
    "MAX_TOKENS": StopReason.MAX_TOKENS,
    "CONTINUATION": StopReason.MAX_TOKENS,
    "SAFETY": StopReason.REFUSAL,
    "RECITATION": StopReason.REFUSAL,
    "LANGUAGE": StopReason.REFUSAL,
    "BLOCKLIST": StopReason.REFUSAL,
    "PROHIBITED_CONTENT": StopReason.REFUSAL,
    "SPII": StopReason.REFUSAL,
    "IMAGE_SAFETY": StopReason.REFUSAL,
}
_SPAN = re.compile(r"(\d+(?:\.\d+)?)s")


class _Detail(Struct, rename="camel"):
    reason: str | None = None
    retry_delay: str | None = None


class ProviderError(Struct):
    code: int | None = None
    message: str = ""
    status: str = ""
    details: list[_Detail] = []


class ErrorBody(Struct):
    error: ProviderError


class _Call(Struct):
    name: str = ""
    args: dict[str, Any] | None = None
    id: str | None = None


class _Part(Struct, rename="camel", gc=False):
    text: str | None = None
    thought: bool = False
    thought_signature: str | None = None
    function_call: _Call | None = None


class _Content(Struct, gc=False):
    parts: list[_Part] | None = None


class _Candidate(Struct, rename="camel", gc=False):
    content: _Content | None = None
    finish_reason: str | None = None
    finish_message: str | None = None


class _Usage(Struct, rename="camel", gc=False):
    prompt_token_count: int | None = None
    cached_content_token_count: int | None = None
    tool_use_prompt_token_count: int | None = None
    candidates_token_count: int | None = None
    thoughts_token_count: int | None = None


class _Feedback(Struct, rename="camel"):
    block_reason: str | None = None


class _Chunk(Struct, rename="camel", gc=False):
    candidates: list[_Candidate] | None = None
    usage_metadata: _Usage | None = None
    prompt_feedback: _Feedback | None = None
    model_version: str | None = None
    response_id: str | None = None
    error: ProviderError | None = None


_decode = msgspec.json.Decoder(_Chunk).decode


def failure_of(error: ProviderError, status: int | None = None) -> HeraldError:
    """What an error object means, by the reason in its details, then its status word, then the HTTP status."""
    reason = next((detail.reason for detail in error.details if detail.reason in _REASON_KINDS), None)
    status = status or error.code
    kind = _REASON_KINDS.get(reason or "") or _STATUS_KINDS.get(error.status)
    if kind is None:
        kind = kind_of_status(status) if status else FailureKind.PROVIDER
    if kind is FailureKind.BAD_REQUEST:
        kind = _refusal(error.message)
    return HeraldError(
        kind,
        error.message,
        status=status,
        provider_code=reason or error.status or None,
        retry_after=_delay(error.details),
    )


def _refusal(message: str) -> FailureKind:
    """Gemini has one status for every bad request, so the sentence is all there is to tell these apart."""
    if _OVERFLOW.search(message):
        return FailureKind.OVERFLOW
    return FailureKind.REFUSED_MEDIA if _MEDIA.search(message) else FailureKind.BAD_REQUEST


def _delay(details: list[_Detail]) -> float | None:
    """Seconds to wait, as `RetryInfo` says."""
    spans = (_SPAN.fullmatch(detail.retry_delay) for detail in details if detail.retry_delay)
    return next((float(span[1]) for span in spans if span), None)


class GeminiDecoder:
    """One answer: at most one text or thinking block is open; `calls_before` keeps the ids made here apart."""

    def __init__(self, model: str, calls_before: int = 0) -> None:
        self.finished = False
        self._asked = model
        self._model = model
        self._provider_id: str | None = None
        self._usage = _Usage()
        self._stop: StopReason | None = None
        self._blocks = 0
        self._kind: BlockType | None = None
        self._index = 0
        self._pieces: list[str] = []
        self._characters = 0
        self._signature: str | None = None
        self._calls = calls_before
        self._called = False

    def feed(self, event: str, data: bytes) -> list[StreamEvent]:
        try:
            chunk = _decode(data)
        except msgspec.DecodeError:
            raise malformed(data) from None
        if chunk.error is not None:
            raise failure_of(chunk.error)
        if self._provider_id is None:
            self._provider_id = chunk.response_id or None
        self._model = chunk.model_version or self._model
        if chunk.usage_metadata is not None:
            self._usage = chunk.usage_metadata
        if chunk.prompt_feedback is not None and chunk.prompt_feedback.block_reason:
            self._stop = StopReason.REFUSAL
        events: list[StreamEvent] = []
        for candidate in (chunk.candidates or ())[:1]:
            for part in (candidate.content.parts or ()) if candidate.content is not None else ():
                self._part(part, events)
            if candidate.finish_reason is not None:
                self._stop = _stopped(candidate)
        return events

    def end(self) -> list[StreamEvent]:
        if self.finished:
            return []
        if self._stop is None:
            raise cut_off()
        events: list[StreamEvent] = []
        self._close(events)
        stop = self._stop
        if self._called and stop is StopReason.END_TURN:
            stop = StopReason.TOOL_USE
        self.finished = True
        usage = _counted(self._usage)
        events.append(CallFinished(stop_reason=stop, usage=usage, model=self._model, provider_id=self._provider_id))
        return events

    def so_far(self) -> SoFar:
        return SoFar(_counted(self._usage), self._characters)

    def _part(self, part: _Part, events: list[StreamEvent]) -> None:
        if part.function_call is not None:
            self._call(part.function_call, part.thought_signature, events)
            return
        if part.text:
            kind: BlockType = "thinking" if part.thought else "text"
            if self._kind != kind:
                self._switch(kind, events)
            self._characters += len(part.text)
            self._pieces.append(part.text)
            said = ThinkingPart if part.thought else TextPart
            events.append(said(index=self._index, text=part.text))
        if part.thought_signature and self._kind is not None:
            self._signature = part.thought_signature

    def _switch(self, kind: BlockType, events: list[StreamEvent]) -> None:
        self._close(events)
        self._kind = kind
        self._index = self._blocks
        self._blocks += 1
        events.append(BlockStarted(index=self._index, block_type=kind))

    def _close(self, events: list[StreamEvent]) -> None:
        kind, self._kind = self._kind, None
        if kind is None:
            return
        text, signature = "".join(self._pieces), self._signature
        self._pieces, self._signature = [], None
        if kind == "thinking":
            block = ThinkingBlock(text=text, signature=signature, model=self._asked)
        else:
            block = TextBlock(text=text, signature=signature, model=self._asked if signature else None)
        events.append(BlockFinished(index=self._index, block=block))

    def _call(self, call: _Call, signature: str | None, events: list[StreamEvent]) -> None:
        self._close(events)
        self._calls += 1
        self._called = True
        call_id = call.id or f"{MADE}{self._provider_id or 'call'}_{self._calls}"
        index = self._blocks
        self._blocks += 1
        events.append(BlockStarted(index=index, block_type="tool_use", tool_name=call.name, tool_call_id=call_id))
        block = ToolUseBlock(
            id=call_id,
            name=call.name,
            input=call.args or {},
            signature=signature,
            model=self._asked if signature else None,
        )
        events.append(BlockFinished(index=index, block=block))


def _stopped(candidate: _Candidate) -> StopReason:
    """Why the model stopped; a call or an answer that it could not write properly is a failure."""
    reason = candidate.finish_reason or ""
    if reason in _STOPS:
        return _STOPS[reason]
    said = candidate.finish_message or f"the model stopped because of {reason}"
    raise HeraldError(FailureKind.PROVIDER, said, provider_code=reason)


def _counted(usage: _Usage) -> TokenUsage:
    read = usage.cached_content_token_count or 0
    prompt = (usage.prompt_token_count or 0) + (usage.tool_use_prompt_token_count or 0)
    return TokenUsage(
        input=max(0, prompt - read),
        output=(usage.candidates_token_count or 0) + (usage.thoughts_token_count or 0),
        cache_read=read,
    )
