"""Gemini's `generateContent` protocol: how a request is written and how a refusal is read.

Signatures go back on the parts they came on. Results are matched to their calls by name and order, and by id
where the provider gave one; a call that came from elsewhere says that it bears no signature, which the newer
families ask of the first call of each answer.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar
from urllib.parse import quote

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
from aster.contracts.llm import ModelRequest, ToolChoice
from aster.contracts.tools import ToolDef
from aster.herald.endpoint import Endpoint, ProtocolName
from aster.herald.failure import HeraldError, kind_of_status, retry_after
from aster.herald.profiles import effort, output_limit, profile_of
from aster.herald.protocols.base import Decoder, Encoded
from aster.herald.protocols.conversation import normalise
from aster.herald.protocols.gemini_schema import parameters, sanitised
from aster.herald.protocols.gemini_stream import MADE, ErrorBody, GeminiDecoder, failure_of
from aster.herald.protocols.media import EVERYTHING, is_text, plain_text, titled

_UNSIGNED = "skip_thought_signature_validator"
_RESOURCE = re.compile(r"((?:models|tunedModels)/)?(.+)", re.DOTALL)
_SUFFIX_TYPES = {
    "png": "image/png",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "webp": "image/webp",
    "gif": "image/gif",
    "pdf": "application/pdf",
    "txt": "text/plain",
    "wav": "audio/wav",
    "mp3": "audio/mpeg",
    "ogg": "audio/ogg",
    "flac": "audio/flac",
    "mp4": "video/mp4",
    "mov": "video/quicktime",
    "webm": "video/webm",
}


class GeminiProtocol:
    """`POST /models/{model}:streamGenerateContent`, as server-sent events."""

    name: ClassVar[ProtocolName] = "gemini"
    headers: ClassVar[Mapping[str, str]] = {}
    probe_path: ClassVar[str] = "/models"
    takes: ClassVar[frozenset[MediaKind]] = EVERYTHING

    def encode(self, request: ModelRequest, endpoint: Endpoint) -> Encoded:
        body: dict[str, Any] = {}
        if request.system.strip():
            body["systemInstruction"] = {"parts": [{"text": request.system}]}
        if request.tools:
            body["tools"] = [{"functionDeclarations": [_declaration(tool) for tool in request.tools]}]
            if request.tool_choice is not None:
                body["toolConfig"] = {"functionCallingConfig": _choice(request.tool_choice)}
        body["contents"] = _contents(request)
        body["generationConfig"] = _generation(request)
        path = f"/{_resource(request.model)}:streamGenerateContent?alt=sse"
        return Encoded(path, {}, msgspec.json.encode(body))

    def decoder(self, request: ModelRequest) -> Decoder:
        return GeminiDecoder(request.model, sum(1 for _ in _calls(request)))

    def failure(self, status: int, headers: Mapping[str, str], body: bytes) -> HeraldError:
        wait = retry_after(headers)
        try:
            decoded = msgspec.json.decode(body, type=ErrorBody | list[ErrorBody])
            error = decoded.error if isinstance(decoded, ErrorBody) else decoded[0].error
        except (msgspec.DecodeError, IndexError):
            said = body[:500].decode("utf-8", "replace")
            return HeraldError(kind_of_status(status), said, status=status, retry_after=wait)
        failure = failure_of(error, status)
        if wait is not None:
            failure.retry_after = wait
        return failure


def _resource(model: str) -> str:
    """Where the model is, as one name that leads nowhere else."""
    found = _RESOURCE.fullmatch(model)
    kind, name = (found[1], found[2]) if found else (None, model)
    return (kind or "models/") + quote(name, safe="")


def _declaration(tool: ToolDef) -> dict[str, Any]:
    said: dict[str, Any] = {"name": tool.name, "description": tool.description}
    takes = parameters(tool.input_schema)
    return said | {"parameters": takes} if takes is not None else said


def _choice(choice: ToolChoice) -> dict[str, Any]:
    said: dict[str, Any] = {"mode": "NONE" if choice.mode == "none" else "ANY"}
    return said | {"allowedFunctionNames": [choice.name]} if choice.mode == "named" else said


def _generation(request: ModelRequest) -> dict[str, Any]:
    """Limits, thinking, sampling and output form, as far as the model's family takes them."""
    profile = profile_of(request.model)
    limit = output_limit(request.model, request.max_tokens, request.thinking_budget)
    fields: dict[str, Any] = {"maxOutputTokens": limit}
    if request.stop_sequences:
        fields["stopSequences"] = request.stop_sequences
    if profile.sampling:
        if request.temperature is not None:
            fields["temperature"] = request.temperature
        if request.top_p is not None:
            fields["topP"] = request.top_p
    budget = request.thinking_budget
    if profile.thinking != "none" or (budget and not profile.known):
        thinking: dict[str, Any] = {"includeThoughts": True}
        if budget is not None and profile.thinking == "effort":
            thinking["thinkingLevel"] = effort(budget).upper()
        elif budget is not None:
            least, most = profile.thinking_tokens or (0, budget)
            thinking["thinkingBudget"] = min(max(budget, least), most)
        fields["thinkingConfig"] = thinking
    if request.output_schema is not None:
        fields |= {"responseMimeType": "application/json", "responseSchema": sanitised(request.output_schema)}
    return fields


def _calls(request: ModelRequest) -> Iterator[ToolUseBlock]:
    for message in request.messages:
        yield from (block for block in message.content if isinstance(block, ToolUseBlock))


def _contents(request: ModelRequest) -> list[dict[str, Any]]:
    names = {call.id: call.name for call in _calls(request)}
    signs_calls = profile_of(request.model).thinking == "effort"
    contents: list[dict[str, Any]] = []
    for message in normalise(request.messages, request.model, takes=EVERYTHING):
        if message.role == "assistant":
            parts = list(_answer(message.blocks, signs_calls=signs_calls))
            contents.append({"role": "model", "parts": parts})
        else:
            contents.append({"role": "user", "parts": list(_said(message.blocks, names))})
    return contents


def _answer(blocks: list[ContentBlock], *, signs_calls: bool) -> Iterator[dict[str, Any]]:
    first = True
    for block in blocks:
        if isinstance(block, TextBlock):
            yield _signed({"text": block.text}, block.signature)
        elif isinstance(block, ThinkingBlock) and block.signature is not None:
            yield _signed({"text": block.text, "thought": True}, block.signature)
        elif isinstance(block, ToolUseBlock):
            call = {"name": block.name, "args": block.input, **_own_id(block.id)}
            unsigned = _UNSIGNED if first and signs_calls else None
            yield _signed({"functionCall": call}, block.signature or unsigned)
            first = False


def _signed(part: dict[str, Any], signature: str | None) -> dict[str, Any]:
    return part | {"thoughtSignature": signature} if signature is not None else part


def _own_id(call_id: str) -> dict[str, str]:
    return {} if call_id.startswith(MADE) else {"id": call_id}


def _said(blocks: list[ContentBlock], names: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """What the user said; media that a tool returned stand behind all results."""
    attached: list[dict[str, Any]] = []
    rest: list[dict[str, Any]] = []
    for block in blocks:
        if isinstance(block, ToolResultBlock):
            name = names.get(block.tool_use_id, "")
            media = [_part(part) for part in block.content if not isinstance(part, TextBlock)]
            if media:
                attached += [{"text": f"Attached by the tool {name}:"}, *media]
            yield {"functionResponse": {"name": name, "response": _outcome(block), **_own_id(block.tool_use_id)}}
        elif isinstance(block, MediaBlock):
            rest.append(_part(block))
    yield from attached
    yield from rest


def _outcome(result: ToolResultBlock) -> dict[str, Any]:
    text = "\n".join(part.text for part in result.content if isinstance(part, TextBlock))
    return {"error" if result.is_error else "output": text}


def _part(block: MediaBlock) -> dict[str, Any]:
    match block:
        case TextBlock():
            return {"text": block.text}
        case ImageBlock():
            return _data(block.source, "image/jpeg")
        case DocumentBlock():
            source = block.source
            if not isinstance(source, UrlSource) and is_text(source.media_type):
                return {"text": titled(block.title, plain_text(source))}
            return _data(source, "application/pdf")
        case AudioBlock():
            return _data(block.source, "audio/mpeg")
        case VideoBlock():
            return _data(block.source, "video/mp4")


def _data(source: Source, usual: str) -> dict[str, Any]:
    if not isinstance(source, UrlSource):
        return {"inlineData": {"mimeType": source.media_type, "data": source.data}}
    suffix = source.url.partition("?")[0].rpartition(".")[2].lower()
    return {"fileData": {"mimeType": _SUFFIX_TYPES.get(suffix, usual), "fileUri": source.url}}
