"""OpenAI's Responses protocol, as its server speaks it.

An answer is a list of items: each is added, filled and done before the next one begins, and a reply that is not
cut ends with the whole response. Thinking is a reasoning item with a summary and encrypted content; sent back, an
item without that content is refused, as the provider refuses it when nothing is stored.
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
from aster.testing.wire import Block, Envelope, Frame, Step, argument_pieces, blocks, pieces, signature_of

_INCOMPLETE: Mapping[StopReason, str] = {
    "max_tokens": "max_output_tokens",
    "model_context_window_exceeded": "max_output_tokens",
    "refusal": "content_filter",
}
_FAILED = ("server_error", "rate_limit")
_REFUSALS = Refusals(
    empty="Missing required parameter: 'input'.",
    unanswered="No tool output found for function call {ids}.",
    orphaned="No tool call found for function call output with call_id {ids}.",
)
_NOT_STORED = (
    "Item with id '{id}' not found. Items are not persisted when `store` is set to false. Try again with `store` "
    "set to true, or remove this item from your input."
)
_DANGLING = "Item '{id}' of type 'reasoning' was provided without its required following item."


class _Part(Struct):
    type: str
    text: str = ""


class _Item(Struct):
    type: str = "message"
    role: str = ""
    content: str | list[_Part] | None = None
    id: str = ""
    call_id: str = ""
    name: str = ""
    output: str | list[_Part] | None = None
    encrypted_content: str | None = None

    @property
    def answers(self) -> bool:
        return self.type == "function_call" or self.role == "assistant"


class _Tool(Struct):
    name: str = ""
    parameters: dict[str, Any] | None = None


class _Request(Struct):
    model: str
    input: str | list[_Item] = ""
    instructions: str | None = None
    tools: list[_Tool] | None = None
    stream: bool | None = False
    store: bool | None = True


def _texts(content: str | list[_Part] | None) -> list[str]:
    if isinstance(content, str):
        return [content]
    return [part.text for part in content or () if part.type in ("input_text", "output_text", "text")]


def _entries(items: list[_Item]) -> list[Entry]:
    """The items as entries; what one answer was made of becomes one entry again."""
    entries: list[Entry] = []
    texts: list[str] = []
    calls: list[Call] = []

    def settle() -> None:
        if texts or calls:
            entries.append(Answered("\n".join(texts), list(calls)))
            texts.clear()
            calls.clear()

    for item in items:
        if item.type == "function_call":
            calls.append(Call(item.call_id, item.name))
        elif item.role == "assistant":
            texts += _texts(item.content)
        elif item.type == "function_call_output":
            settle()
            entries.append(Returned(item.call_id, "\n".join(_texts(item.output))))
        elif item.role == "user":
            settle()
            entries += words_of_user(_texts(item.content))
    settle()
    return entries


def _check_reasoning(items: list[_Item], *, stored: bool) -> None:
    for item, after in zip(items, [*items[1:], None], strict=True):
        if item.type != "reasoning":
            continue
        if not stored and item.encrypted_content is None and not item.content:
            raise msgspec.ValidationError(_NOT_STORED.format(id=item.id))
        if after is None or not (after.answers or after.type == "reasoning"):
            raise msgspec.ValidationError(_DANGLING.format(id=item.id))


def _usage(envelope: Envelope) -> dict[str, Any]:
    usage = envelope.usage
    prompt = usage.input + usage.cache_read + usage.cache_write
    return {
        "input_tokens": prompt,
        "input_tokens_details": {"cached_tokens": usage.cache_read, "cache_write_tokens": usage.cache_write},
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": envelope.thinking_tokens},
        "total_tokens": prompt + usage.output,
    }


def _response(envelope: Envelope, created: int, **fields: Any) -> dict[str, Any]:
    return {
        "id": envelope.id,
        "object": "response",
        "created_at": created,
        "status": "in_progress",
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "model": envelope.model,
        "output": [],
        "parallel_tool_calls": True,
        "store": False,
        "temperature": 1.0,
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
        "usage": None,
        **fields,
    }


def _ending(reply: Reply, envelope: Envelope, output: list[dict[str, Any]]) -> dict[str, Any]:
    reason = _INCOMPLETE.get(reply.stopped_by)
    return {
        "status": "completed" if reason is None else "incomplete",
        "incomplete_details": None if reason is None else {"reason": reason},
        "output": output,
        "usage": _usage(envelope),
    }


def _text_part(text: str) -> dict[str, Any]:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def _message(item_id: str, text: str | None, status: str) -> dict[str, Any]:
    content = [] if text is None else [_text_part(text)]
    return {"id": item_id, "type": "message", "status": status, "role": "assistant", "content": content}


def _reasoning(item_id: str, text: str, encrypted: str | None) -> dict[str, Any]:
    summary = [{"type": "summary_text", "text": text}] if text else []
    return {"id": item_id, "type": "reasoning", "summary": summary, "encrypted_content": encrypted}


def _function_call(item_id: str, call_id: str, name: str, arguments: str, status: str) -> dict[str, Any]:
    call = {"call_id": call_id, "name": name, "arguments": arguments, "status": status}
    return {"id": item_id, "type": "function_call", **call}


def _whole_item(block: Block) -> dict[str, Any]:
    match block:
        case Text(text):
            return _message(new_id("msg_"), text, "completed")
        case Thinking(text):
            return _reasoning(new_id("rs_"), text, signature_of(block) or None)
        case RedactedThinking(data):
            return _reasoning(new_id("rs_"), "", data)
        case ToolCall(name):
            call_id = block.id or new_id("call_")
            return _function_call(new_id("fc_"), call_id, name, block.arguments, "completed")


class _Writer:
    """Writes the items of one stream; at most one, a message, is left open between two parts."""

    def __init__(self, envelope: Envelope, chunk: Chunk) -> None:
        self.broken = False
        self.output: list[dict[str, Any]] = []
        self._envelope = envelope
        self._chunk: Chunk = chunk
        self._number = -1
        self._open: str | None = None
        self._said: list[str] = []
        self._created = int(time.time())

    def part(self, part: Block | Ping | Fault) -> Iterator[Step]:
        match part:
            case Text(text):
                yield from self._text(text)
            case Thinking(text):
                yield from self._thinking(text, signature_of(part) or None)
            case RedactedThinking(data):
                yield from self._thinking("", data)
            case ToolCall():
                yield from self._tool_call(part)
            case Ping(comment):
                yield Frame(b": %s\n\n" % (comment or "ping").encode())
            case Malformed(data):
                yield Frame(data)
            case StreamError():
                self.broken = True
                yield self._error(part)
            case Stall() | Hold() | Cut():
                yield part

    def event(self, kind: str, /, tokens: int = 0, **fields: Any) -> Frame:
        self._number += 1
        data = json.encode({"type": kind, "sequence_number": self._number, **fields})
        return Frame(b"event: %s\ndata: %s\n\n" % (kind.encode(), data), tokens)

    def response(self, kind: str, /, **fields: Any) -> Frame:
        return self.event(kind, response=_response(self._envelope, self._created, **fields))

    def close(self, status: str = "completed") -> Iterator[Step]:
        if self._open is None:
            return
        item_id, self._open = self._open, None
        text = "".join(self._said)
        self._said = []
        at: dict[str, Any] = {"item_id": item_id, "output_index": len(self.output), "content_index": 0}
        yield self.event("response.output_text.done", **at, text=text, logprobs=[])
        yield self.event("response.content_part.done", **at, part=_text_part(text))
        yield self._done(_message(item_id, text, status))

    def _added(self, item: dict[str, Any]) -> Frame:
        return self.event("response.output_item.added", output_index=len(self.output), item=item)

    def _done(self, item: dict[str, Any]) -> Frame:
        frame = self.event("response.output_item.done", output_index=len(self.output), item=item)
        self.output.append(item)
        return frame

    def _text(self, text: str) -> Iterator[Step]:
        fresh, self._open = self._open is None, self._open or new_id("msg_")
        at: dict[str, Any] = {"item_id": self._open, "output_index": len(self.output), "content_index": 0}
        if fresh:
            yield self._added(_message(self._open, None, "in_progress"))
            yield self.event("response.content_part.added", **at, part=_text_part(""))
        for piece in pieces(text, self._chunk):
            self._said.append(piece)
            yield self.event("response.output_text.delta", 1, **at, delta=piece, logprobs=[])

    def _thinking(self, text: str, encrypted: str | None) -> Iterator[Step]:
        yield from self.close()
        item_id = new_id("rs_")
        yield self._added(_reasoning(item_id, "", encrypted and "unfinished"))
        at: dict[str, Any] = {"item_id": item_id, "output_index": len(self.output), "summary_index": 0}
        if text:
            part = {"type": "summary_text", "text": ""}
            yield self.event("response.reasoning_summary_part.added", **at, part=part)
            for piece in pieces(text, self._chunk):
                yield self.event("response.reasoning_summary_text.delta", 1, **at, delta=piece)
            yield self.event("response.reasoning_summary_text.done", **at, text=text)
            yield self.event("response.reasoning_summary_part.done", **at, part={**part, "text": text})
        yield self._done(_reasoning(item_id, text, encrypted))

    def _tool_call(self, call: ToolCall) -> Iterator[Step]:
        yield from self.close()
        item_id, call_id = new_id("fc_"), call.id or new_id("call_")
        yield self._added(_function_call(item_id, call_id, call.name, "", "in_progress"))
        at: dict[str, Any] = {"item_id": item_id, "output_index": len(self.output)}
        cut = argument_pieces(call, self._chunk)
        half = -(-len(cut) // 2)
        for piece in cut[:half]:
            yield self.event("response.function_call_arguments.delta", 1, **at, delta=piece)
        for fault in call.midway:
            yield from self.part(fault)
            if self.broken:
                return
        for piece in cut[half:]:
            yield self.event("response.function_call_arguments.delta", 1, **at, delta=piece)
        yield self.event("response.function_call_arguments.done", **at, name=call.name, arguments=call.arguments)
        yield self._done(_function_call(item_id, call_id, call.name, call.arguments, "completed"))

    def _error(self, fault: StreamError) -> Frame:
        """A failed response where the provider has a code for it, an error event otherwise."""
        error = openai_error(fault.kind, fault.message, self._envelope.model)["error"]
        said = {"code": error["code"] or error["type"], "message": error["message"]}
        if fault.kind in _FAILED:
            return self.response("response.failed", status="failed", error=said, output=self.output)
        return self.event("error", **said, param=error["param"])


class ResponsesWire:
    """`POST /v1/responses`."""

    name: ClassVar[Protocol] = "responses"
    id_prefix: ClassVar[str] = "resp_"

    def read(self, body: dict[str, Any], size: int) -> Conversation:
        request = msgspec.convert(body, _Request)
        items = [_Item(role="user", content=request.input)] if isinstance(request.input, str) else request.input
        _check_reasoning(items, stored=request.store is not False)
        system = [text for item in items if item.role in ("system", "developer") for text in _texts(item.content)]
        return Conversation(
            model=request.model,
            system="\n".join(filter(None, [request.instructions, *system])),
            entries=_entries(items),
            tools=[Offer(tool.name, tool.parameters or {}) for tool in request.tools or () if tool.name],
            stream=bool(request.stream),
            prompt_tokens=size // 4,
        )

    def objection(self, conversation: Conversation) -> str | None:
        return objection(conversation.entries, _REFUSALS)

    def headers(self, envelope_id: str) -> dict[str, str]:
        return {"x-request-id": envelope_id.replace("resp_", "req_"), "openai-version": "2020-10-01"}

    def stream(self, reply: Reply, envelope: Envelope) -> Iterator[Step]:
        writer = _Writer(envelope, reply.chunk)
        yield writer.response("response.created")
        yield writer.response("response.in_progress")
        for part in reply.parts:
            yield from writer.part(part)
            if writer.broken:
                return
        ended = "completed" if reply.stopped_by not in _INCOMPLETE else "incomplete"
        yield from writer.close(ended)
        yield writer.response(f"response.{ended}", **_ending(reply, envelope, writer.output))

    def whole(self, reply: Reply, envelope: Envelope) -> bytes:
        output = [_whole_item(block) for block in blocks(reply)]
        return json.encode(_response(envelope, int(time.time()), **_ending(reply, envelope, output)))

    def failure(self, failure: Failure, model: str) -> HttpAnswer:
        return openai_failure(failure, model)
