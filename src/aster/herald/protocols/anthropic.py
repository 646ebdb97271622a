"""Anthropic's Messages protocol: how a request is written and how a refusal is read.

The version header stays at the one that every compatible server knows; what newer models no longer take
(sampling, thinking budgets) is left out by their profile, not by the version.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, ClassVar

import msgspec

from aster.contracts.blocks import (
    AudioBlock,
    Base64Source,
    ContentBlock,
    DocumentBlock,
    ImageBlock,
    MediaKind,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
    VideoBlock,
)
from aster.contracts.llm import ModelRequest, ToolChoice
from aster.herald.endpoint import Endpoint, ProtocolName
from aster.herald.failure import FailureKind, HeraldError, kind_of_status, retry_after
from aster.herald.profiles import effort, output_limit, profile_of
from aster.herald.protocols.anthropic_stream import AnthropicDecoder, ErrorBody, kind_of_type
from aster.herald.protocols.base import Decoder, Encoded
from aster.herald.protocols.conversation import WireMessage, normalise
from aster.herald.protocols.media import is_text, plain_text, unread
from aster.herald.protocols.schema import closed

_EPHEMERAL = {"type": "ephemeral"}
_LEAST_BUDGET = 1024
_OVERFLOW = re.compile(
    r"prompt is too long|exceeds? (the )?(model's )?(maximum )?context|context (window|limit)", re.I
)
_MEDIA = re.compile(
    r"messages\.\d+\.content\.\d+(\.\w+)*\.(image|document)\b|could not process (image|pdf|document)", re.I
)


class AnthropicProtocol:
    """`POST /v1/messages`, streaming."""

    name: ClassVar[ProtocolName] = "anthropic"
    headers: ClassVar[Mapping[str, str]] = {"anthropic-version": "2023-06-01"}
    probe_path: ClassVar[str] = "/v1/models"
    takes: ClassVar[frozenset[MediaKind]] = frozenset(("image", "document"))

    def encode(self, request: ModelRequest, endpoint: Endpoint) -> Encoded:
        upto, before = (request.cache_upto, request.cache_before) if request.cache_marks else (0, 0)
        messages = normalise(request.messages, request.model, upto, self.takes, cache_before=before)
        body: dict[str, Any] = {
            "model": request.model,
            "max_tokens": output_limit(request.model, request.max_tokens, request.thinking_budget),
            "stream": True,
        }
        if request.tools:
            tools: list[dict[str, Any]] = [
                {"name": tool.name, "description": tool.description, "input_schema": tool.input_schema}
                for tool in request.tools
            ]
            body["tools"] = tools
            if request.tool_choice is not None:
                body["tool_choice"] = _choice(request.tool_choice)
        if request.system.strip():
            body["system"] = _system(request)
        if request.cache_marks:
            _mark_frame(body)
        body["messages"] = [_message(message) for message in messages]
        if request.stop_sequences:
            body["stop_sequences"] = request.stop_sequences
        body |= _judgement(request, messages, body["max_tokens"])
        return Encoded("/v1/messages", {}, msgspec.json.encode(body))

    def decoder(self, request: ModelRequest) -> Decoder:
        return AnthropicDecoder(request.model)

    def failure(self, status: int, headers: Mapping[str, str], body: bytes) -> HeraldError:
        try:
            error = msgspec.json.decode(body, type=ErrorBody).error
        except msgspec.DecodeError:
            said = body[:500].decode("utf-8", "replace")
            return HeraldError(kind_of_status(status), said, status=status, retry_after=retry_after(headers))
        kind = kind_of_type(error.type) or kind_of_status(status)
        if kind is FailureKind.BAD_REQUEST:
            kind = _refusal(error.message)
        wait = retry_after(headers)
        if wait is None and kind is FailureKind.RATE_LIMITED:
            wait = _until_reset(headers)
        return HeraldError(kind, error.message, status=status, provider_code=error.type, retry_after=wait)


def _choice(choice: ToolChoice) -> dict[str, Any]:
    if choice.mode == "named":
        return {"type": "tool", "name": choice.name}
    return {"type": "none" if choice.mode == "none" else "any"}


def _system(request: ModelRequest) -> list[dict[str, Any]]:
    """The instructions; what all conversations share stands in a block of its own."""
    shared, own = request.system[: request.system_shared], request.system[request.system_shared :]
    return [{"type": "text", "text": text} for text in (shared, own) if text.strip()]


def _mark_frame(body: dict[str, Any]) -> None:
    """Two of the four marks there are, on the ends of what stands before the messages: what all conversations share,
    and what this one has to itself; without the latter, the tools and the instructions."""
    system: list[dict[str, Any]] = body.get("system", [])
    for marked in (body.get("tools", [])[-1:] + system)[-2:]:
        marked["cache_control"] = _EPHEMERAL


def _judgement(request: ModelRequest, messages: list[WireMessage], max_tokens: int) -> dict[str, Any]:
    """Thinking, sampling and output form, as far as the model's family takes them."""
    profile = profile_of(request.model)
    fields: dict[str, Any] = {}
    output: dict[str, Any] = {}
    budget = request.thinking_budget
    if budget is not None and profile.thinking == "adaptive":
        output["effort"] = effort(budget)
        if budget > 0:
            fields["thinking"] = {"type": "adaptive", "display": "summarized"}
    elif budget and (profile.thinking == "budget" or not profile.known) and not _mid_loop_unthought(messages):
        tokens = min(max(budget, _LEAST_BUDGET), max_tokens - 1)
        if tokens >= _LEAST_BUDGET:
            fields["thinking"] = {"type": "enabled", "budget_tokens": tokens}
    if request.output_schema is not None:
        output["format"] = {"type": "json_schema", "schema": closed(request.output_schema)}
    if output:
        fields["output_config"] = output
    if profile.sampling and "thinking" not in fields:
        if request.temperature is not None:
            fields["temperature"] = request.temperature
        elif request.top_p is not None:
            fields["top_p"] = request.top_p
    return fields


def _mid_loop_unthought(messages: list[WireMessage]) -> bool:
    """Whether results answer calls made without thinking; a budget is refused until that loop is over."""
    if len(messages) < 2 or not isinstance(messages[-1].blocks[0], ToolResultBlock):
        return False
    first = messages[-2].blocks[0]
    return not isinstance(first, ThinkingBlock) or _thinking(first) is None


def _message(message: WireMessage) -> dict[str, Any]:
    blocks = message.blocks
    while isinstance(blocks[-1], ThinkingBlock):
        blocks = blocks[:-1]
    content: list[dict[str, Any]] = []
    for block in blocks:
        if (encoded := _block(block)) is not None:
            if block is message.mark:
                encoded["cache_control"] = _EPHEMERAL
            content.append(encoded)
    return {"role": message.role, "content": content}


def _block(block: ContentBlock) -> dict[str, Any] | None:
    match block:
        case TextBlock():
            return {"type": "text", "text": block.text}
        case ThinkingBlock():
            return _thinking(block)
        case ToolUseBlock():
            return {"type": "tool_use", "id": block.id, "name": block.name, "input": block.input}
        case ToolResultBlock():
            content = [_block(part) for part in block.content if not _empty(part)]
            result: dict[str, Any] = {"type": "tool_result", "tool_use_id": block.tool_use_id, "content": content}
            return result | {"is_error": True} if block.is_error else result
        case ImageBlock():
            return {"type": "image", "source": msgspec.to_builtins(block.source)}
        case DocumentBlock():
            return _document(block)
        case AudioBlock() | VideoBlock():
            return {"type": "text", "text": unread(block)}


def _thinking(block: ThinkingBlock) -> dict[str, Any] | None:
    if block.encrypted is not None:
        return {"type": "redacted_thinking", "data": block.encrypted}
    if block.signature is not None:
        return {"type": "thinking", "thinking": block.text, "signature": block.signature}
    return None


def _empty(block: ContentBlock) -> bool:
    return isinstance(block, TextBlock) and not block.text.strip()


def _document(block: DocumentBlock) -> dict[str, Any]:
    source: Any = msgspec.to_builtins(block.source)
    if isinstance(block.source, Base64Source) and is_text(block.source.media_type):
        source = {"type": "text", "media_type": "text/plain", "data": plain_text(block.source)}
    document = {"type": "document", "source": source}
    return document | {"title": block.title} if block.title else document


def _refusal(message: str) -> FailureKind:
    """Anthropic has one type for every bad request, so the sentence is all there is to tell these apart."""
    if _OVERFLOW.search(message):
        return FailureKind.OVERFLOW
    return FailureKind.REFUSED_MEDIA if _MEDIA.search(message) else FailureKind.BAD_REQUEST


def _until_reset(headers: Mapping[str, str]) -> float | None:
    """Seconds until the last exhausted limit is reset, from `anthropic-ratelimit-*` headers."""
    waits: list[float] = []
    for name, value in headers.items():
        if name.startswith("anthropic-ratelimit-") and name.endswith("-reset"):
            if headers.get(name.removesuffix("reset") + "remaining") != "0":
                continue
            try:
                waits.append((datetime.fromisoformat(value) - datetime.now(UTC)).total_seconds())
            except (ValueError, TypeError):
                continue
    return max(0.0, *waits) if waits else None
