"""OpenAI's Responses protocol: how a request is written and how a refusal is read.

Nothing is left with the provider (`store` is off): the whole conversation goes along each time, with the
encrypted reasoning of earlier answers in the place where it was thought. The wire has no stop sequences; the
decoder cuts the text itself.
"""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import msgspec

from aster.contracts.blocks import (
    AudioBlock,
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
from aster.contracts.llm import ModelRequest
from aster.herald.endpoint import Endpoint, ProtocolName
from aster.herald.failure import HeraldError
from aster.herald.profiles import effort, output_limit, profile_of
from aster.herald.protocols.base import Decoder, Encoded
from aster.herald.protocols.conversation import WireMessage, normalise
from aster.herald.protocols.media import is_text, plain_text, titled, unread
from aster.herald.protocols.openai_chat import OpenAIChatProtocol
from aster.herald.protocols.openai_responses_stream import OpenAIResponsesDecoder
from aster.herald.protocols.schema import closed, strict

_LEAST_OUTPUT = 16
_PHASES = frozenset({"commentary", "final_answer"})


class OpenAIResponsesProtocol:
    """`POST /responses`, streaming."""

    name: ClassVar[ProtocolName] = "openai_responses"
    headers: ClassVar[Mapping[str, str]] = {}
    probe_path: ClassVar[str] = "/models"
    takes: ClassVar[frozenset[MediaKind]] = frozenset(("image", "document"))

    def __init__(self) -> None:
        self._refusals = OpenAIChatProtocol()

    def encode(self, request: ModelRequest, endpoint: Endpoint) -> Encoded:
        limit = output_limit(request.model, request.max_tokens, request.thinking_budget)
        body: dict[str, Any] = {
            "model": request.model,
            "stream": True,
            "store": False,
            "max_output_tokens": max(limit, _LEAST_OUTPUT),
        }
        if request.system.strip():
            body["instructions"] = request.system
        if request.tools:
            body["tools"] = [
                {
                    "type": "function",
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": tool.input_schema,
                    "strict": False,
                }
                for tool in request.tools
            ]
            if request.tool_choice is not None:
                choice = request.tool_choice
                named = {"type": "function", "name": choice.name}
                body["tool_choice"] = named if choice.mode == "named" else choice.mode
        messages = normalise(request.messages, request.model, takes=self.takes)
        body["input"] = [item for message in messages for item in _items(message, endpoint)]
        if endpoint.takes_cache_key and request.cache_key is not None:
            body["prompt_cache_key"] = request.cache_key
        body |= _judgement(request)
        headers = {"x-client-request-id": request.request_id} if request.request_id else {}
        return Encoded("/responses", headers, msgspec.json.encode(body))

    def decoder(self, request: ModelRequest) -> Decoder:
        return OpenAIResponsesDecoder(request.model, request.stop_sequences)

    def failure(self, status: int, headers: Mapping[str, str], body: bytes) -> HeraldError:
        """The provider refuses in one form, whichever of its protocols is spoken."""
        return self._refusals.failure(status, headers, body)


def _judgement(request: ModelRequest) -> dict[str, Any]:
    """Thinking, sampling and output form, as far as the model's family takes them."""
    profile = profile_of(request.model)
    thinks = profile.thinking == "effort" or not profile.known
    fields: dict[str, Any] = {}
    if thinks:
        fields["include"] = ["reasoning.encrypted_content"]
    if thinks and request.thinking_budget is not None:
        fields["reasoning"] = {"effort": effort(request.thinking_budget)}
        if request.thinking_budget > 0:
            fields["reasoning"]["summary"] = "auto"
    if profile.sampling:
        if request.temperature is not None:
            fields["temperature"] = request.temperature
        if request.top_p is not None:
            fields["top_p"] = request.top_p
    if request.output_schema is not None:
        schema = closed(request.output_schema)
        answer = {"type": "json_schema", "name": "answer", "schema": schema, "strict": strict(schema)}
        fields["text"] = {"format": answer}
    return fields


def _items(message: WireMessage, endpoint: Endpoint) -> Iterator[dict[str, Any]]:
    if message.role == "assistant":
        yield from _answer(message.blocks, endpoint)
        return
    said: list[dict[str, Any]] = []
    for block in message.blocks:
        if isinstance(block, ToolResultBlock):
            yield {"type": "function_call_output", "call_id": block.tool_use_id, "output": _output(block)}
        elif isinstance(block, MediaBlock):
            said.append(_part(block))
    if said:
        yield {"role": "user", "content": said}


def _answer(blocks: list[ContentBlock], endpoint: Endpoint) -> Iterator[dict[str, Any]]:
    while isinstance(blocks[-1], ThinkingBlock):  # refused where nothing that it led to comes after it
        blocks = blocks[:-1]
    for block in blocks:
        if isinstance(block, TextBlock):
            phase = {"phase": block.signature} if block.signature in _PHASES else {}
            yield {"role": "assistant", "content": block.text, **phase}
        elif isinstance(block, ToolUseBlock):
            arguments = msgspec.json.encode(block.input).decode()
            yield {"type": "function_call", "call_id": block.id, "name": block.name, "arguments": arguments}
        elif isinstance(block, ThinkingBlock):
            yield from _reasoning(block, endpoint)


def _reasoning(block: ThinkingBlock, endpoint: Endpoint) -> Iterator[dict[str, Any]]:
    """An item whose content did not come encrypted would be looked up in a store where it is not."""
    if block.signature is None:
        return
    item: dict[str, Any] = {"type": "reasoning", "id": block.signature, "summary": []}
    if block.encrypted is not None:
        if block.text:
            item["summary"].append({"type": "summary_text", "text": block.text})
        yield {**item, "encrypted_content": block.encrypted}
    elif endpoint.echo_reasoning and block.text:
        yield {**item, "content": [{"type": "reasoning_text", "text": block.text}]}


def _output(result: ToolResultBlock) -> str | list[dict[str, Any]]:
    if all(isinstance(block, TextBlock) for block in result.content):
        return "\n".join(block.text for block in result.content if isinstance(block, TextBlock))
    return [_part(block) for block in result.content]


def _part(block: MediaBlock) -> dict[str, Any]:
    match block:
        case TextBlock():
            return {"type": "input_text", "text": block.text}
        case ImageBlock():
            return {"type": "input_image", "image_url": _url(block.source), "detail": "auto"}
        case DocumentBlock():
            return _document(block.source, block.title)
        case AudioBlock() | VideoBlock():
            return {"type": "input_text", "text": unread(block)}


def _document(source: Source, title: str | None) -> dict[str, Any]:
    if isinstance(source, UrlSource):
        return {"type": "input_file", "file_url": source.url}
    if is_text(source.media_type):
        return {"type": "input_text", "text": titled(title, plain_text(source))}
    return {"type": "input_file", "filename": title or "document", "file_data": _url(source)}


def _url(source: Source) -> str:
    if isinstance(source, UrlSource):
        return source.url
    return f"data:{source.media_type};base64,{source.data}"
