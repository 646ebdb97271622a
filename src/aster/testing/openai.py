"""OpenAI's Chat Completions protocol, as its server (and every server compatible with it) speaks it.

A stream begins with the role, ends with a finish reason, then the usage if it was asked for, then
``[DONE]``. Thinking goes out as `reasoning_content`, the way the compatible servers send it.
"""

import time
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import msgspec
from msgspec import Struct, json

from aster.testing.calls import Protocol
from aster.testing.conversation import Answered, Call, Conversation, Entry, Offer, Returned, words_of_user
from aster.testing.failures import HttpAnswer, new_id, openai_error, openai_failure
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
from aster.testing.wire import Block, Envelope, Frame, Step, argument_pieces, blocks, pieces

_FINISH: Mapping[StopReason, str] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "pause_turn": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "content_filter",
}


_REFUSALS = Refusals(
    empty="Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array.",
    unanswered=(
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
        "'tool_call_id'. The following tool_call_ids did not have response messages: {ids}"
    ),
    orphaned=(
        "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with "
        "'tool_calls'. (tool_call_id: {ids})"
    ),
)


class _Part(Struct):
    type: str
    text: str = ""


class _Function(Struct):
    name: str
    parameters: dict[str, Any] | None = None


class _Call(Struct):
    id: str
    function: _Function


class _Message(Struct):
    role: str
    content: str | list[_Part] | None = None
    tool_calls: list[_Call] | None = None
    tool_call_id: str = ""


class _Tool(Struct):
    function: _Function


class _StreamOptions(Struct):
    include_usage: bool = False


class _Request(Struct):
    model: str
    messages: list[_Message]
    tools: list[_Tool] | None = None
    stream: bool | None = False
    stream_options: _StreamOptions | None = None


def _texts(message: _Message) -> list[str]:
    if isinstance(message.content, str):
        return [message.content]
    return [part.text for part in message.content or () if part.type == "text"]


def _entries(message: _Message) -> list[Entry]:
    texts = _texts(message)
    match message.role:
        case "assistant":
            calls = [Call(call.id, call.function.name) for call in message.tool_calls or ()]
            return [Answered("\n".join(texts), calls)]
        case "tool":
            return [Returned(message.tool_call_id, "\n".join(texts))]
        case "user":
            return [*words_of_user(texts)]
        case _:
            return []


def _usage(envelope: Envelope) -> dict[str, Any]:
    usage = envelope.usage
    prompt = usage.input + usage.cache_read + usage.cache_write
    return {
        "prompt_tokens": prompt,
        "completion_tokens": usage.output,
        "total_tokens": prompt + usage.output,
        "prompt_tokens_details": {
            "cached_tokens": usage.cache_read,
            "cache_write_tokens": usage.cache_write,
            "audio_tokens": 0,
        },
        "completion_tokens_details": {"reasoning_tokens": envelope.thinking_tokens, "audio_tokens": 0},
    }


class _Writer:
    """Writes the chunks of one stream; the tool calls of a reply are numbered in order."""

    def __init__(self, envelope: Envelope, chunk: Chunk) -> None:
        self.broken = False
        self._envelope = envelope
        self._chunk: Chunk = chunk
        self._calls = 0
        fields: dict[str, Any] = {
            "id": envelope.id,
            "object": "chat.completion.chunk",
            "created": int(time.time()),
            "model": envelope.model,
            "system_fingerprint": "fp_scripted",
        }
        self._head = b"data: " + json.encode(fields)[:-1]
        self._usage = b',"usage":null' if envelope.include_usage else b""

    def part(self, part: Block | Ping | Fault) -> Iterator[Step]:
        match part:
            case Text(text):
                yield from self._text("content", text)
            case Thinking(text):
                yield from self._text("reasoning_content", text)
            case RedactedThinking():
                pass
            case ToolCall():
                yield from self._tool_call(part)
            case Ping(comment):
                yield Frame(b": %s\n\n" % (comment or "ping").encode())
            case Malformed(data):
                yield Frame(data)
            case StreamError(kind, message):
                self.broken = True
                error = openai_error(kind, message, self._envelope.model)
                yield Frame(b"data: %s\n\n" % json.encode(error))
            case Stall() | Hold() | Cut():
                yield part

    def chunk(self, delta: dict[str, Any], finish: str | None = None, tokens: int = 0) -> Frame:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return Frame(self._head + b',"choices":[%s]%s}\n\n' % (json.encode(choice), self._usage), tokens)

    def usage(self) -> Frame:
        return Frame(self._head + b',"choices":[],"usage":%s}\n\n' % json.encode(_usage(self._envelope)))

    def _text(self, key: str, text: str) -> Iterator[Frame]:
        before = self._head + b',"choices":[{"index":0,"delta":{"%s":' % key.encode()
        after = b'},"logprobs":null,"finish_reason":null}]%s}\n\n' % self._usage
        for piece in pieces(text, self._chunk):
            yield Frame(before + json.encode(piece) + after, 1)

    def _tool_call(self, call: ToolCall) -> Iterator[Step]:
        index = self._calls
        self._calls += 1
        function = {"name": call.name, "arguments": ""}
        opening = {
            "index": index,
            "id": call.id or new_id("call_"),
            "type": "function",
            "function": function,
        }
        yield self.chunk({"tool_calls": [opening]})
        cut = argument_pieces(call, self._chunk)
        half = -(-len(cut) // 2)
        for position, piece in enumerate(cut):
            if position == half:
                yield from self._midway(call)
                if self.broken:
                    return
            yield self.chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]}, tokens=1)
        if len(cut) <= half:
            yield from self._midway(call)

    def _midway(self, call: ToolCall) -> Iterator[Step]:
        for fault in call.midway:
            yield from self.part(fault)
            if self.broken:
                return


def _whole_message(reply: Reply) -> dict[str, Any]:
    content = [block for block in blocks(reply) if not isinstance(block, RedactedThinking)]
    texts = [block.text for block in content if isinstance(block, Text)]
    thoughts = [block.text for block in content if isinstance(block, Thinking)]
    calls = [
        {
            "id": block.id or new_id("call_"),
            "type": "function",
            "function": {"name": block.name, "arguments": block.arguments},
        }
        for block in content
        if isinstance(block, ToolCall)
    ]
    message: dict[str, Any] = {
        "role": "assistant",
        "content": "".join(texts) if texts or not calls else None,
        "refusal": None,
        "annotations": [],
    }
    if thoughts:
        message["reasoning_content"] = "".join(thoughts)
    if calls:
        message["tool_calls"] = calls
    return message


class OpenAIWire:
    """`POST /v1/chat/completions`."""

    name: ClassVar[Protocol] = "openai"
    id_prefix: ClassVar[str] = "chatcmpl-"

    def read(self, body: dict[str, Any], size: int) -> Conversation:
        request = msgspec.convert(body, _Request)
        system = [m for m in request.messages if m.role in ("system", "developer")]
        options = request.stream_options
        return Conversation(
            model=request.model,
            system="\n".join(text for message in system for text in _texts(message)),
            entries=[entry for message in request.messages for entry in _entries(message)],
            tools=[Offer(t.function.name, t.function.parameters or {}) for t in request.tools or ()],
            stream=bool(request.stream),
            include_usage=options is not None and options.include_usage,
            prompt_tokens=size // 4,
        )

    def objection(self, conversation: Conversation) -> str | None:
        return objection(conversation.entries, _REFUSALS)

    def headers(self, envelope_id: str) -> dict[str, str]:
        return {"x-request-id": envelope_id.replace("chatcmpl-", "req_"), "openai-version": "2020-10-01"}

    def stream(self, reply: Reply, envelope: Envelope) -> Iterator[Step]:
        writer = _Writer(envelope, reply.chunk)
        silent = reply.stopped_by == "tool_use" and not any(isinstance(part, Text) for part in reply.parts)
        yield writer.chunk({"role": "assistant", "content": None if silent else "", "refusal": None})
        for part in reply.parts:
            yield from writer.part(part)
            if writer.broken:
                return
        yield writer.chunk({}, _FINISH[reply.stopped_by])
        if envelope.include_usage:
            yield writer.usage()
        yield Frame(b"data: [DONE]\n\n")

    def whole(self, reply: Reply, envelope: Envelope) -> bytes:
        choice = {
            "index": 0,
            "message": _whole_message(reply),
            "logprobs": None,
            "finish_reason": _FINISH[reply.stopped_by],
        }
        return json.encode(
            {
                "id": envelope.id,
                "object": "chat.completion",
                "created": int(time.time()),
                "model": envelope.model,
                "choices": [choice],
                "usage": _usage(envelope),
                "service_tier": "default",
                "system_fingerprint": "fp_scripted",
            }
        )

    def failure(self, failure: Failure, model: str) -> HttpAnswer:
        return openai_failure(failure, model)
