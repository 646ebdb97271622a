"""OpenAI's Chat Completions protocol, as OpenAI and everyone compatible with it speak it.

What differs between them is a fact of the endpoint (the name of the output limit, whether reasoning is wanted
back) or of the model's family (sampling, effort), never a branch on somebody's name.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

import msgspec

from aster.contracts.blocks import (
    AudioBlock,
    Base64Source,
    ContentBlock,
    DocumentBlock,
    ImageBlock,
    MediaBlock,
    MediaKind,
    Source,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
    UrlSource,
    VideoBlock,
)
from aster.contracts.llm import ModelRequest, ToolChoice
from aster.contracts.tools import ToolDef
from aster.herald.endpoint import Endpoint, ProtocolName
from aster.herald.failure import FailureKind, HeraldError, kind_of_status, retry_after
from aster.herald.profiles import effort, output_limit, profile_of
from aster.herald.protocols.base import Decoder, Encoded
from aster.herald.protocols.conversation import WireMessage, normalise
from aster.herald.protocols.media import AUDIO_FORMATS, is_text, plain_text, titled, unread
from aster.herald.protocols.openai_chat_stream import ErrorBody, OpenAIChatDecoder, failure_of
from aster.herald.protocols.schema import closed, strict

_SPAN = re.compile(r"(?:(\d+)h)?(?:(\d+)m(?!s))?(?:([\d.]+)s)?(?:([\d.]+)ms)?")


class OpenAIChatProtocol:
    """`POST /chat/completions`, streaming."""

    name: ClassVar[ProtocolName] = "openai_chat"
    headers: ClassVar[Mapping[str, str]] = {}
    probe_path: ClassVar[str] = "/models"
    takes: ClassVar[frozenset[MediaKind]] = frozenset(("image", "audio"))

    def encode(self, request: ModelRequest, endpoint: Endpoint) -> Encoded:
        body: dict[str, Any] = {
            "model": request.model,
            "stream": True,
            "stream_options": {"include_usage": True},
            endpoint.limit_field: output_limit(request.model, request.max_tokens, request.thinking_budget),
        }
        if request.tools:
            body["tools"] = [_tool(tool) for tool in request.tools]
            if request.tool_choice is not None:
                body["tool_choice"] = _choice(request.tool_choice)
        messages: list[dict[str, Any]] = []
        if request.system.strip():
            messages.append({"role": "system", "content": request.system})
        for message in normalise(request.messages, request.model, takes=self.takes):
            messages.extend(_messages(message, endpoint))
        body["messages"] = messages
        if endpoint.takes_cache_key and request.cache_key is not None:
            body["prompt_cache_key"] = request.cache_key
        body |= _judgement(request)
        headers = {"x-client-request-id": request.request_id} if request.request_id else {}
        return Encoded("/chat/completions", headers, msgspec.json.encode(body))

    def decoder(self, request: ModelRequest) -> Decoder:
        return OpenAIChatDecoder(request.model)

    def failure(self, status: int, headers: Mapping[str, str], body: bytes) -> HeraldError:
        wait = retry_after(headers)
        try:
            error = msgspec.json.decode(body, type=ErrorBody).error
        except msgspec.DecodeError:
            said = body[:500].decode("utf-8", "replace")
            return HeraldError(kind_of_status(status), said, status=status, retry_after=wait)
        failure = failure_of(error, status)
        failure.retry_after = wait
        if wait is None and failure.kind is FailureKind.RATE_LIMITED:
            failure.retry_after = _until_reset(headers)
        return failure


def _tool(tool: ToolDef) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.input_schema}
    return {"type": "function", "function": function}


def _choice(choice: ToolChoice) -> Any:
    return {"type": "function", "function": {"name": choice.name}} if choice.mode == "named" else choice.mode


def _judgement(request: ModelRequest) -> dict[str, Any]:
    """Thinking, sampling and output form, as far as the model's family takes them."""
    profile = profile_of(request.model)
    fields: dict[str, Any] = {}
    if request.tools and not profile.effort_with_tools:
        fields["reasoning_effort"] = "none"
    elif request.thinking_budget is not None and (profile.thinking == "effort" or not profile.known):
        fields["reasoning_effort"] = effort(request.thinking_budget)
    if profile.sampling:
        if request.temperature is not None:
            fields["temperature"] = request.temperature
        if request.top_p is not None:
            fields["top_p"] = request.top_p
        if request.top_k is not None and not profile.known:
            fields["top_k"] = request.top_k
        if request.presence_penalty:
            fields["presence_penalty"] = request.presence_penalty
        if request.stop_sequences:
            fields["stop"] = request.stop_sequences
    if request.output_schema is not None:
        schema = closed(request.output_schema)
        answer = {"name": "answer", "schema": schema, "strict": strict(schema)}
        fields["response_format"] = {"type": "json_schema", "json_schema": answer}
    return fields


def _messages(message: WireMessage, endpoint: Endpoint) -> Iterable[dict[str, Any]]:
    if message.role == "assistant":
        yield _assistant(message.blocks, endpoint)
        return
    rest: list[dict[str, Any]] = []
    for block in message.blocks:
        if isinstance(block, ToolResultBlock):
            texts, media = _split_result(block)
            yield {"role": "tool", "tool_call_id": block.tool_use_id, "content": texts}
            rest.extend(media)
        elif isinstance(block, MediaBlock):
            rest.append(_part(block))
    if len(rest) == 1 and rest[0]["type"] == "text":
        yield {"role": "user", "content": rest[0]["text"]}
    elif rest:
        yield {"role": "user", "content": rest}


def _assistant(blocks: list[ContentBlock], endpoint: Endpoint) -> dict[str, Any]:
    text = "".join(block.text for block in blocks if isinstance(block, TextBlock))
    message: dict[str, Any] = {"role": "assistant", "content": text or None}
    if endpoint.echo_reasoning:
        thought = "".join(block.text for block in blocks if isinstance(block, ThinkingBlock))
        if thought:
            message["reasoning_content"] = thought
    calls = [_call(block) for block in blocks if isinstance(block, ToolUseBlock)]
    if calls:
        message["tool_calls"] = calls
    return message


def _call(block: ToolUseBlock) -> dict[str, Any]:
    arguments = msgspec.json.encode(block.input).decode()
    return {"id": block.id, "type": "function", "function": {"name": block.name, "arguments": arguments}}


def _split_result(result: ToolResultBlock) -> tuple[str, list[dict[str, Any]]]:
    """A tool message holds text alone; what else the tool returned follows in a message of the user."""
    texts = [block.text for block in result.content if isinstance(block, TextBlock)]
    media = [_part(block) for block in result.content if not isinstance(block, TextBlock)]
    if media:
        texts.append(f"(attached below: {len(media)} file(s) from this tool)")
        media.insert(0, {"type": "text", "text": f"Attached by the tool call {result.tool_use_id}:"})
    return "\n".join(texts), media


def _part(block: MediaBlock) -> dict[str, Any]:
    match block:
        case TextBlock():
            return {"type": "text", "text": block.text}
        case ImageBlock():
            return {"type": "image_url", "image_url": {"url": _url(block.source)}}
        case DocumentBlock(source=Base64Source() as source):
            return _document(source, block.title)
        case AudioBlock(source=Base64Source(media_type=kind, data=data)) if kind in AUDIO_FORMATS:
            return {"type": "input_audio", "input_audio": {"data": data, "format": AUDIO_FORMATS[kind]}}
        case DocumentBlock() | AudioBlock() | VideoBlock():
            return {"type": "text", "text": unread(block)}


def _document(source: Base64Source, title: str | None) -> dict[str, Any]:
    if is_text(source.media_type):
        return {"type": "text", "text": titled(title, plain_text(source))}
    return {"type": "file", "file": {"filename": title or "document", "file_data": _url(source)}}


def _url(source: Source) -> str:
    if isinstance(source, UrlSource):
        return source.url
    return f"data:{source.media_type};base64,{source.data}"


def _until_reset(headers: Mapping[str, str]) -> float | None:
    """Seconds until the last exhausted limit is reset, from `x-ratelimit-reset-*` headers (`1m30s`, `644ms`)."""
    waits: list[float] = []
    for limit in ("requests", "tokens"):
        span = _SPAN.fullmatch(headers.get(f"x-ratelimit-reset-{limit}", ""))
        if span and headers.get(f"x-ratelimit-remaining-{limit}") == "0":
            hours, minutes, seconds, milliseconds = (float(group or 0) for group in span.groups())
            waits.append(hours * 3600 + minutes * 60 + seconds + milliseconds / 1000)
    return max(waits, default=None)
