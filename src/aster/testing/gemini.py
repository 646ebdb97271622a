"""Gemini's `generateContent` protocol, as its server speaks it.

A function call comes whole, in one part. What the model thought is signed not on the thought but on what it led
to: the first call after it, or the end of the text; the newer families refuse a call that comes back without. The
model and the kind of answer are in the path, so there is one wire per request.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Self
from urllib.parse import unquote

import msgspec
from msgspec import Struct, json

from aster.testing.calls import Protocol
from aster.testing.conversation import Answered, Call, Conversation, Entry, Offer, Returned, words_of_user
from aster.testing.failures import HttpAnswer, gemini_error, gemini_failure
from aster.testing.pairing import Refusals, objection
from aster.testing.script import (
    Chunk,
    Cut,
    Failure,
    Fault,
    Hold,
    Malformed,
    Ping,
    RedactedThinking,
    Reply,
    Stall,
    StopReason,
    StreamError,
    Text,
    Thinking,
    ToolCall,
)
from aster.testing.wire import Block, Envelope, Frame, Step, argument_pieces, blocks, pieces, signature_of

_PATH = re.compile(r"/v1(?:beta|alpha)?/models/([^/]+):(streamGenerateContent|generateContent)")
_SIGNING = re.compile(r"gemini-[3-9]")
_FINISH: Mapping[StopReason, str] = {
    "max_tokens": "MAX_TOKENS",
    "model_context_window_exceeded": "MAX_TOKENS",
    "refusal": "SAFETY",
}
_UNEQUAL = (
    "Please ensure that the number of function response parts is equal to the number of function call parts of the "
    "function call turn. ({ids})"
)
_REFUSALS = Refusals(
    empty="* GenerateContentRequest.contents: contents is not specified\n",
    unanswered=_UNEQUAL,
    orphaned=_UNEQUAL,
)
_UNSIGNED = (
    "Function call is missing a thought_signature in functionCall parts. This is required for tools to work "
    "correctly, and missing thought_signature may lead to degraded model performance. Additional data, function "
    "call `default_api:{name}`, position {position}."
)


class _FunctionCall(Struct):
    name: str
    id: str | None = None


class _FunctionResponse(Struct):
    name: str
    response: dict[str, Any] = {}
    id: str | None = None


class _Part(Struct, rename="camel"):
    text: str | None = None
    thought: bool = False
    thought_signature: str | None = None
    function_call: _FunctionCall | None = None
    function_response: _FunctionResponse | None = None


class _Content(Struct):
    parts: list[_Part]
    role: str = "user"


class _Declaration(Struct, rename="camel"):
    name: str
    parameters: dict[str, Any] | None = None
    parameters_json_schema: dict[str, Any] | None = None


class _Tool(Struct, rename="camel"):
    function_declarations: list[_Declaration] = []


class _Request(Struct, rename="camel"):
    contents: list[_Content]
    system_instruction: _Content | None = None
    tools: list[_Tool] = []


def _texts(content: _Content | None) -> list[str]:
    parts = content.parts if content is not None else ()
    return [part.text for part in parts if part.text and not part.thought]


class _Reading:
    """Reads contents one after the other; results find their calls by id, else by name in order."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self._open: list[Call] = []
        self._made = 0

    def take(self, content: _Content) -> None:
        if content.role == "model":
            self._open = [
                self._call(part.function_call) for part in content.parts if part.function_call is not None
            ]
            self.entries.append(Answered("".join(_texts(content)), list(self._open)))
            return
        results = [part.function_response for part in content.parts if part.function_response is not None]
        self.entries += [self._returned(result) for result in results]
        texts = _texts(content)
        if texts or not results:
            self.entries += words_of_user(texts)

    def _call(self, call: _FunctionCall) -> Call:
        self._made += 1
        return Call(call.id or f"{call.name}#{self._made}", call.name)

    def _returned(self, result: _FunctionResponse) -> Returned:
        fitting = [c for c in self._open if c.id == result.id or (result.id is None and c.name == result.name)]
        call_id = fitting[0].id if fitting else result.id or result.name
        self._open = [call for call in self._open if call.id != call_id]
        failed = "error" in result.response
        said = result.response.get("error" if failed else "output")
        text = said if isinstance(said, str) else json.encode(result.response).decode()
        return Returned(call_id, text, failed)


def _check_signatures(contents: list[_Content]) -> None:
    """The first call of every answer since the user spoke must be signed."""
    spoken = [
        n for n, c in enumerate(contents) if c.role == "user" and not any(p.function_response for p in c.parts)
    ]
    for content in contents[spoken[-1] if spoken else 0 :]:
        calls = [(n, part) for n, part in enumerate(content.parts) if part.function_call is not None]
        for position, part in calls[:1]:
            if part.function_call is not None and part.thought_signature is None:
                refusal = _UNSIGNED.format(name=part.function_call.name, position=position)
                raise msgspec.ValidationError(refusal)


def _usage(envelope: Envelope) -> dict[str, Any]:
    usage = envelope.usage
    prompt = usage.input + usage.cache_read + usage.cache_write
    counted = {
        "promptTokenCount": prompt,
        "candidatesTokenCount": usage.output - envelope.thinking_tokens,
        "totalTokenCount": prompt + usage.output,
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": prompt}],
    }
    if envelope.thinking_tokens:
        counted["thoughtsTokenCount"] = envelope.thinking_tokens
    if usage.cache_read:
        counted["cachedContentTokenCount"] = usage.cache_read
    return counted


def _arguments(call: ToolCall) -> dict[str, Any] | None:
    """The arguments as the object the wire needs; None for those that are none."""
    try:
        return json.decode(call.arguments or "{}", type=dict[str, Any])
    except msgspec.DecodeError:
        return None


def _call_part(call: ToolCall, arguments: dict[str, Any]) -> dict[str, Any]:
    said: dict[str, Any] = {"name": call.name, "args": arguments}
    return {"functionCall": said | {"id": call.id} if call.id else said}


def _ending(reply: Reply) -> dict[str, Any]:
    """Why the model stopped; a call it could not write properly is such a reason."""
    broken = [part for part in reply.parts if isinstance(part, ToolCall) and _arguments(part) is None]
    if broken:
        said = f"Malformed function call: {broken[0].name}({broken[0].arguments}"
        return {"finishReason": "MALFORMED_FUNCTION_CALL", "finishMessage": said}
    return {"finishReason": _FINISH.get(reply.stopped_by, "STOP")}


class _Writer:
    """Writes the chunks of one stream; `signature` waits for the part that it belongs on."""

    def __init__(self, envelope: Envelope, chunk: Chunk) -> None:
        self.broken = False
        self.signature = ""
        self._envelope = envelope
        self._chunk: Chunk = chunk

    def part(self, part: Block | Ping | Fault) -> Iterator[Step]:
        match part:
            case Text(text):
                yield from (self.chunk({"text": piece}, tokens=1) for piece in pieces(text, self._chunk))
            case Thinking(text):
                self.signature = signature_of(part)
                said = pieces(text, self._chunk)
                yield from (self.chunk({"text": piece, "thought": True}, tokens=1) for piece in said)
            case RedactedThinking():
                pass
            case ToolCall():
                yield from self._tool_call(part)
            case Ping(comment):
                yield Frame(b": %s\r\n\r\n" % comment.encode() if comment is not None else b"")
            case Malformed(data):
                yield Frame(data)
            case StreamError(kind, message):
                self.broken = True
                _, error = gemini_error(kind, message, self._envelope.model)
                yield Frame(b"data: %s\r\n\r\n" % json.encode(error))
            case Stall() | Hold() | Cut():
                yield part

    def chunk(self, part: dict[str, Any], tokens: int = 0, **ending: Any) -> Frame:
        usage = {"usageMetadata": _usage(self._envelope)} if ending else {}
        body = _answer(self._envelope, [part], **ending) | usage
        return Frame(b"data: %s\r\n\r\n" % json.encode(body), tokens)

    def signed(self, part: dict[str, Any]) -> dict[str, Any]:
        signature, self.signature = self.signature, ""
        return part | {"thoughtSignature": signature} if signature else part

    def _tool_call(self, call: ToolCall) -> Iterator[Step]:
        for fault in call.midway:
            yield from self.part(fault)
            if self.broken:
                return
        arguments = _arguments(call)
        if arguments is not None:
            tokens = len(argument_pieces(call, self._chunk))
            yield self.chunk(self.signed(_call_part(call, arguments)), tokens)


def _answer(envelope: Envelope, parts: list[dict[str, Any]], **ending: Any) -> dict[str, Any]:
    candidate = {"content": {"parts": parts, "role": "model"}, **ending, "index": 0}
    return {"candidates": [candidate], "modelVersion": envelope.model, "responseId": envelope.id}


class GeminiWire:
    """`POST /v1beta/models/{model}:streamGenerateContent` and `:generateContent`."""

    name: ClassVar[Protocol] = "gemini"
    id_prefix: ClassVar[str] = ""

    def __init__(self, model: str, *, stream: bool) -> None:
        self._model = model
        self._stream = stream

    @classmethod
    def at(cls, path: str) -> Self | None:
        """The wire that is spoken at a path; None when it is not this one."""
        found = _PATH.fullmatch(path)
        return cls(unquote(found[1]), stream=found[2] == "streamGenerateContent") if found else None

    def read(self, body: dict[str, Any], size: int) -> Conversation:
        request = msgspec.convert(body, _Request)
        if _SIGNING.match(self._model):
            _check_signatures(request.contents)
        reading = _Reading()
        for content in request.contents:
            reading.take(content)
        offers = [
            Offer(said.name, said.parameters or said.parameters_json_schema or {})
            for tool in request.tools
            for said in tool.function_declarations
        ]
        return Conversation(
            model=self._model,
            system="\n".join(_texts(request.system_instruction)),
            entries=reading.entries,
            tools=offers,
            stream=self._stream,
            prompt_tokens=size // 4,
        )

    def objection(self, conversation: Conversation) -> str | None:
        return objection(conversation.entries, _REFUSALS)

    def headers(self, envelope_id: str) -> dict[str, str]:
        return {"server": "scaffolding on HTTPServer2"}

    def stream(self, reply: Reply, envelope: Envelope) -> Iterator[Step]:
        writer = _Writer(envelope, reply.chunk)
        for part in reply.parts:
            yield from writer.part(part)
            if writer.broken:
                return
        yield writer.chunk(writer.signed({"text": ""}), **_ending(reply))

    def whole(self, reply: Reply, envelope: Envelope) -> bytes:
        writer = _Writer(envelope, reply.chunk)
        parts: list[dict[str, Any]] = []
        for block in blocks(reply):
            match block:
                case Text(text):
                    parts.append({"text": text})
                case Thinking(text):
                    writer.signature = signature_of(block)
                    parts.append({"text": text, "thought": True})
                case ToolCall() if (arguments := _arguments(block)) is not None:
                    parts.append(writer.signed(_call_part(block, arguments)))
                case _:
                    pass
        if parts:
            parts[-1] = writer.signed(parts[-1])
        return json.encode(_answer(envelope, parts, **_ending(reply)) | {"usageMetadata": _usage(envelope)})

    def failure(self, failure: Failure, model: str) -> HttpAnswer:
        return gemini_failure(failure, model or self._model)
