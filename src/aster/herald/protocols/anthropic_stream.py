"""The answer side of Anthropic's Messages protocol: frames in, events out.

Blocks come one after the other, each opened and closed; only what we asked for is reported, renumbered
without gaps. The answer is whole when `message_stop` has come, and not before.
"""

import msgspec
from msgspec import Struct

from aster.contracts.blocks import TextBlock, ThinkingBlock, ToolUseBlock
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

_TYPE_KINDS = {
    "invalid_request_error": FailureKind.BAD_REQUEST,
    "authentication_error": FailureKind.AUTH,
    "billing_error": FailureKind.AUTH,
    "permission_error": FailureKind.AUTH,
    "not_found_error": FailureKind.BAD_REQUEST,
    "request_too_large": FailureKind.OVERFLOW,
    "rate_limit_error": FailureKind.RATE_LIMITED,
    "timeout_error": FailureKind.TIMEOUT,
    "overloaded_error": FailureKind.OVERLOADED,
    "api_error": FailureKind.PROVIDER,
}
_STOPS = {
    "end_turn": StopReason.END_TURN,
    "tool_use": StopReason.TOOL_USE,
    "max_tokens": StopReason.MAX_TOKENS,
    "model_context_window_exceeded": StopReason.MAX_TOKENS,
    "stop_sequence": StopReason.STOP_SEQUENCE,
    "pause_turn": StopReason.PAUSE_TURN,
    "refusal": StopReason.REFUSAL,
}


class ProviderError(Struct):
    type: str = "api_error"
    message: str = ""


class ErrorBody(Struct):
    error: ProviderError


class _Usage(Struct):
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None


class _Message(Struct):
    id: str | None = None
    model: str = ""
    usage: _Usage | None = None


class _Block(Struct):
    type: str
    text: str = ""
    thinking: str = ""
    signature: str = ""
    data: str = ""
    id: str = ""
    name: str = ""
    input: msgspec.Raw = msgspec.Raw()


class _Delta(Struct, gc=False):
    type: str = ""
    text: str = ""
    thinking: str = ""
    signature: str = ""
    partial_json: str = ""
    stop_reason: str | None = None


class _Frame(Struct, gc=False):
    type: str
    delta: _Delta | None = None
    content_block: _Block | None = None
    message: _Message | None = None
    usage: _Usage | None = None
    error: ProviderError | None = None


_decode = msgspec.json.Decoder(_Frame).decode


def kind_of_type(error_type: str) -> FailureKind | None:
    """What a provider's `error.type` means; None for one we have not met."""
    return _TYPE_KINDS.get(error_type)


class AnthropicDecoder:
    """One answer. At most one block is open; its pieces are collected until it is closed."""

    def __init__(self, model: str) -> None:
        self.finished = False
        self._asked = model
        self._model = model
        self._provider_id: str | None = None
        self._usage = _Usage()
        self._stop: StopReason | None = None
        self._index = -1
        self._open: _Block | None = None
        self._pieces: list[str] = []
        self._characters = 0
        self._signature = ""

    def feed(self, event: str, data: bytes) -> list[StreamEvent]:
        try:
            frame = _decode(data)
        except msgspec.DecodeError:
            raise malformed(data) from None
        match frame.type:
            case "content_block_delta":
                return self._delta(frame.delta, data)
            case "content_block_start":
                return self._start(frame.content_block, data)
            case "content_block_stop":
                return self._close()
            case "message_start":
                if frame.message is not None:
                    self._provider_id = frame.message.id
                    self._model = frame.message.model or self._asked
                    self._count(frame.message.usage)
            case "message_delta":
                if frame.delta is not None and frame.delta.stop_reason is not None:
                    self._stop = _STOPS.get(frame.delta.stop_reason, StopReason.END_TURN)
                self._count(frame.usage)
            case "message_stop":
                return self._finish()
            case "error":
                error = frame.error or ProviderError()
                kind = kind_of_type(error.type) or FailureKind.PROVIDER
                raise HeraldError(kind, error.message, provider_code=error.type)
            case _:
                pass
        return []

    def end(self) -> list[StreamEvent]:
        if self.finished:
            return []
        raise cut_off()

    def so_far(self) -> SoFar:
        return SoFar(self._counted(), self._characters)

    def _delta(self, delta: _Delta | None, data: bytes) -> list[StreamEvent]:
        if self._open is None:
            return []
        if delta is None:
            raise malformed(data)
        if delta.type == "text_delta":
            self._characters += len(delta.text)
            self._pieces.append(delta.text)
            return [TextPart(index=self._index, text=delta.text)] if delta.text else []
        if delta.type == "thinking_delta":
            self._characters += len(delta.thinking)
            self._pieces.append(delta.thinking)
            return [ThinkingPart(index=self._index, text=delta.thinking)] if delta.thinking else []
        if delta.type == "input_json_delta":
            self._characters += len(delta.partial_json)
            self._pieces.append(delta.partial_json)
        elif delta.type == "signature_delta":
            self._signature += delta.signature
        return []

    def _start(self, block: _Block | None, data: bytes) -> list[StreamEvent]:
        if block is None:
            raise malformed(data)
        events = self._close()
        first = block.text if block.type == "text" else block.thinking
        self._pieces = [first]
        self._signature = block.signature
        match block.type:
            case "text":
                started = BlockStarted(index=self._index + 1, block_type="text")
            case "thinking" | "redacted_thinking":
                started = BlockStarted(index=self._index + 1, block_type="thinking")
            case "tool_use":
                started = BlockStarted(
                    index=self._index + 1, block_type="tool_use", tool_name=block.name, tool_call_id=block.id
                )
            case _:
                return events
        self._open = block
        self._index += 1
        events.append(started)
        if first:
            part = TextPart if block.type == "text" else ThinkingPart
            events.append(part(index=self._index, text=first))
        return events

    def _close(self) -> list[StreamEvent]:
        block, self._open = self._open, None
        return [] if block is None else [BlockFinished(index=self._index, block=self._whole(block))]

    def _whole(self, block: _Block) -> TextBlock | ThinkingBlock | ToolUseBlock:
        text = "".join(self._pieces)
        match block.type:
            case "tool_use":
                return tool_use(block.id, block.name, text or bytes(block.input).decode())
            case "redacted_thinking":
                return ThinkingBlock(text="", encrypted=block.data, model=self._asked)
            case "thinking":
                return ThinkingBlock(text=text, signature=self._signature or None, model=self._asked)
            case _:
                return TextBlock(text=text)

    def _count(self, usage: _Usage | None) -> None:
        if usage is not None:
            for name in _Usage.__struct_fields__:
                if (value := getattr(usage, name)) is not None:
                    setattr(self._usage, name, value)

    def _counted(self) -> TokenUsage:
        return TokenUsage(
            input=self._usage.input_tokens or 0,
            output=self._usage.output_tokens or 0,
            cache_read=self._usage.cache_read_input_tokens or 0,
            cache_write=self._usage.cache_creation_input_tokens or 0,
        )

    def _finish(self) -> list[StreamEvent]:
        if self._stop is None:
            raise cut_off()
        self.finished = True
        usage = self._counted()
        end = CallFinished(stop_reason=self._stop, usage=usage, model=self._model, provider_id=self._provider_id)
        return [*self._close(), end]
