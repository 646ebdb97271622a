"""Anthropic's Messages protocol, as its server speaks it.

Blocks are numbered and never interleaved: a block is closed before the next one opens, and a reply that is
not cut always ends with `message_delta` and `message_stop`.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, ClassVar

import msgspec
from msgspec import Struct, json

from aster.testing.calls import Protocol
from aster.testing.conversation import Answered, Call, Conversation, Entry, Offer, Returned, words_of_user
from aster.testing.failures import HttpAnswer, anthropic_error, anthropic_failure, new_id
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
    StreamError,
    Text,
    Thinking,
    ToolCall,
)
from aster.testing.wire import (
    Block,
    Envelope,
    Frame,
    Step,
    argument_pieces,
    blocks,
    pieces,
    signature_of,
)

_REFUSALS = Refusals(
    empty="messages: at least one message is required",
    unanswered=(
        "messages: `tool_use` ids were found without `tool_result` blocks immediately after: {ids}. Each "
        "`tool_use` block must have a corresponding `tool_result` block in the next message."
    ),
    orphaned=(
        "messages: unexpected `tool_use_id` found in `tool_result` blocks: {ids}. Each `tool_result` block "
        "must have a corresponding `tool_use` block in the previous message."
    ),
)


class _Block(Struct):
    type: str
    text: str = ""
    id: str = ""
    name: str = ""
    tool_use_id: str = ""
    content: "str | list[_Block] | None" = None
    is_error: bool | None = None


class _Message(Struct):
    role: str
    content: str | list[_Block]


class _Tool(Struct):
    name: str = ""
    input_schema: dict[str, Any] = {}


class _Request(Struct):
    model: str
    max_tokens: int
    messages: list[_Message]
    system: str | list[_Block] = ""
    tools: list[_Tool] = []
    stream: bool = False


def _text_of(content: str | list[_Block] | None) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(block.text for block in content or () if block.type == "text")


def _entries(message: _Message) -> list[Entry]:
    content = [_Block("text", message.content)] if isinstance(message.content, str) else message.content
    if message.role == "system":
        return []
    if message.role == "assistant":
        calls = [Call(block.id, block.name) for block in content if block.type == "tool_use"]
        return [Answered(_text_of(content), calls)]
    entries: list[Entry] = []
    for is_result, group in groupby(content, key=lambda block: block.type == "tool_result"):
        if is_result:
            entries += [
                Returned(block.tool_use_id, _text_of(block.content), bool(block.is_error)) for block in group
            ]
        else:
            entries += words_of_user([block.text for block in group if block.type == "text"])
    return entries


def _event(name: str, **fields: Any) -> bytes:
    return b"event: %s\ndata: %s\n\n" % (name.encode(), json.encode({"type": name, **fields}))


def _delta(index: int, kind: str, key: str, values: Sequence[str]) -> Iterator[Frame]:
    head = (
        b'event: content_block_delta\ndata: {"type":"content_block_delta","index":%d,"delta":{"type":"%s","%s":'
        % (index, kind.encode(), key.encode())
    )
    for value in values:
        yield Frame(head + json.encode(value) + b"}}\n\n", 1)


def _usage(envelope: Envelope) -> dict[str, Any]:
    usage = envelope.usage
    return {
        "input_tokens": usage.input,
        "cache_creation_input_tokens": usage.cache_write,
        "cache_read_input_tokens": usage.cache_read,
        "output_tokens": usage.output,
        "output_tokens_details": {"thinking_tokens": envelope.thinking_tokens},
    }


def _stop(reply: Reply) -> dict[str, Any]:
    reason = reply.stopped_by
    stop: dict[str, Any] = {"stop_reason": reason, "stop_sequence": reply.stop_sequence}
    if reason == "refusal":
        stop["stop_details"] = {"type": "refusal", "category": None, "explanation": None}
    return stop


def _message(envelope: Envelope, content: list[Any], stop: dict[str, Any], usage: dict[str, Any]) -> dict[str, Any]:
    cache = {"ephemeral_5m_input_tokens": envelope.usage.cache_write, "ephemeral_1h_input_tokens": 0}
    return {
        "id": envelope.id,
        "type": "message",
        "role": "assistant",
        "model": envelope.model,
        "content": content,
        **stop,
        "usage": {**usage, "cache_creation": cache, "service_tier": "standard"},
    }


def _whole_block(block: Block) -> dict[str, Any]:
    match block:
        case Text(text):
            return {"type": "text", "text": text}
        case Thinking(text):
            return {"type": "thinking", "thinking": text, "signature": signature_of(block)}
        case RedactedThinking(data):
            return {"type": "redacted_thinking", "data": data}
        case ToolCall(name):
            try:
                arguments = json.decode(block.arguments)
            except msgspec.DecodeError:
                arguments = block.arguments
            return {"type": "tool_use", "id": block.id or new_id("toolu_"), "name": name, "input": arguments}


class _Writer:
    """Writes the blocks of one stream: at most one is open, and it knows its number."""

    def __init__(self, envelope: Envelope, chunk: Chunk) -> None:
        self._envelope = envelope
        self._chunk: Chunk = chunk
        self._index = -1
        self.broken = False
        self._open: type[Text | Thinking] | None = None

    def part(self, part: Block | Ping | Fault) -> Iterator[Step]:
        match part:
            case Text(text):
                if self._open is not Text:
                    yield from self._start({"type": "text", "text": ""}, Text)
                yield from _delta(self._index, "text_delta", "text", pieces(text, self._chunk))
            case Thinking(text):
                yield from self._thinking(part, text)
            case RedactedThinking(data):
                yield from self._start({"type": "redacted_thinking", "data": data}, Text)
                yield from self.close()
            case ToolCall():
                yield from self._tool_call(part)
            case Ping(comment):
                yield Frame(_event("ping") if comment is None else b": %s\n\n" % comment.encode())
            case Malformed(data):
                yield Frame(data)
            case StreamError(kind, message):
                self.broken = True
                error = anthropic_error(kind, message, self._envelope.model, new_id("req_"))
                yield Frame(b"event: error\ndata: %s\n\n" % json.encode(error))
            case Stall() | Hold() | Cut():
                yield part

    def close(self) -> Iterator[Step]:
        if self._open is not None:
            self._open = None
            yield Frame(_event("content_block_stop", index=self._index))

    def _start(self, block: dict[str, Any], kind: type[Text | Thinking]) -> Iterator[Step]:
        yield from self.close()
        self._index += 1
        self._open = kind
        yield Frame(_event("content_block_start", index=self._index, content_block=block))
        if self._index == 0:
            yield Frame(_event("ping"))

    def _thinking(self, part: Thinking, text: str) -> Iterator[Step]:
        if self._open is not Thinking:
            yield from self._start({"type": "thinking", "thinking": "", "signature": ""}, Thinking)
        yield from _delta(self._index, "thinking_delta", "thinking", pieces(text, self._chunk))
        if signature := signature_of(part):
            yield Frame(
                _event(
                    "content_block_delta",
                    index=self._index,
                    delta={"type": "signature_delta", "signature": signature},
                )
            )
            yield from self.close()

    def _tool_call(self, call: ToolCall) -> Iterator[Step]:
        head: dict[str, Any] = {
            "type": "tool_use",
            "id": call.id or new_id("toolu_"),
            "name": call.name,
            "input": {},
        }
        yield from self._start(head, Text)
        cut = argument_pieces(call, self._chunk)
        half = -(-len(cut) // 2)
        yield from _delta(self._index, "input_json_delta", "partial_json", ["", *cut[:half]])
        for fault in call.midway:
            yield from self.part(fault)
            if self.broken:
                return
        yield from _delta(self._index, "input_json_delta", "partial_json", cut[half:])
        yield from self.close()


class AnthropicWire:
    """`POST /v1/messages`."""

    name: ClassVar[Protocol] = "anthropic"
    id_prefix: ClassVar[str] = "msg_"

    def read(self, body: dict[str, Any], size: int) -> Conversation:
        request = msgspec.convert(body, _Request)
        system = [request.system, *(m.content for m in request.messages if m.role == "system")]
        return Conversation(
            model=request.model,
            system="\n".join(text for content in system if (text := _text_of(content))),
            entries=[entry for message in request.messages for entry in _entries(message)],
            tools=[Offer(tool.name, tool.input_schema) for tool in request.tools if tool.name],
            stream=request.stream,
            prompt_tokens=size // 4,
        )

    def objection(self, conversation: Conversation) -> str | None:
        return objection(conversation.entries, _REFUSALS)

    def headers(self, envelope_id: str) -> dict[str, str]:
        return {"request-id": envelope_id.replace("msg_", "req_")}

    def stream(self, reply: Reply, envelope: Envelope) -> Iterator[Step]:
        usage = _usage(envelope)
        unstopped: dict[str, Any] = {"stop_reason": None, "stop_sequence": None}
        started = {**usage, "output_tokens": 1, "output_tokens_details": None}
        yield Frame(_event("message_start", message=_message(envelope, [], unstopped, started)))
        writer = _Writer(envelope, reply.chunk)
        for part in reply.parts:
            yield from writer.part(part)
            if writer.broken:
                return
        yield from writer.close()
        yield Frame(_event("message_delta", delta=_stop(reply), usage=usage))
        yield Frame(_event("message_stop"))

    def whole(self, reply: Reply, envelope: Envelope) -> bytes:
        content = [_whole_block(block) for block in blocks(reply)]
        return json.encode(_message(envelope, content, _stop(reply), _usage(envelope)))

    def failure(self, failure: Failure, model: str) -> HttpAnswer:
        return anthropic_failure(failure, model)
