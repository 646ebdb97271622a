"""Answers as they come over the wire, and a way to read them in any cut."""

import json
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

from aster.contracts.blocks import AssistantBlock, ToolUseBlock
from aster.contracts.llm import BlockFinished, BlockStarted, CallFinished, StreamEvent, TextPart, ThinkingPart
from aster.contracts.sse import SseParser
from aster.herald.failure import HeraldError
from aster.herald.protocols.base import Decoder


def read(decoder: Decoder, chunks: Iterable[bytes]) -> list[StreamEvent | HeraldError]:
    """What a caller sees of a stream cut like this: the events, then the failure if there is one."""
    parser = SseParser()
    seen: list[StreamEvent | HeraldError] = []
    try:
        for chunk in chunks:
            for event, data in parser.feed(chunk):
                seen += decoder.feed(event, data)
        seen += decoder.end()
    except HeraldError as error:
        seen.append(error)
    return seen


def cut(stream: bytes, places: Sequence[int]) -> list[bytes]:
    bounds = [0, *sorted(places), len(stream)]
    return [stream[a:b] for a, b in pairwise(bounds)]


def blocks_of(seen: Sequence[object]) -> list[AssistantBlock]:
    return [event.block for event in seen if isinstance(event, BlockFinished)]


def finish_of(seen: Sequence[object]) -> CallFinished:
    last = seen[-1]
    assert isinstance(last, CallFinished)
    return last


def check_order(seen: Sequence[object]) -> None:
    """Blocks are numbered without gaps, opened before they are spoken of, and add up to what was streamed."""
    started = [event for event in seen if isinstance(event, BlockStarted)]
    assert [event.index for event in started] == list(range(len(started)))
    streamed: dict[int, str] = {}
    finished: set[int] = set()
    for event in seen:
        if isinstance(event, BlockStarted):
            streamed[event.index] = ""
        elif isinstance(event, (TextPart, ThinkingPart)):
            assert event.index not in finished
            streamed[event.index] += event.text
        elif isinstance(event, BlockFinished):
            assert event.index not in finished
            finished.add(event.index)
            text = "" if isinstance(event.block, ToolUseBlock) else event.block.text
            assert streamed[event.index] == text


def anthropic_frame(kind: str, **fields: Any) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n".encode()


def _block(index: int, start: dict[str, Any], *deltas: dict[str, Any]) -> bytes:
    frames = [anthropic_frame("content_block_start", index=index, content_block=start)]
    frames += [anthropic_frame("content_block_delta", index=index, delta=delta) for delta in deltas]
    return b"".join([*frames, anthropic_frame("content_block_stop", index=index)])


def anthropic_answer(*blocks: bytes, stop: str = "tool_use") -> bytes:
    cached = {"cache_creation_input_tokens": 30, "cache_read_input_tokens": 500}
    usage = {"input_tokens": 12, "output_tokens": 1, **cached}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-x", "usage": usage}
    delta = {"stop_reason": stop, "stop_sequence": None}
    return b"".join(
        [
            anthropic_frame("message_start", message=message),
            anthropic_frame("ping"),
            *blocks,
            anthropic_frame("message_delta", delta=delta, usage={"output_tokens": 89}),
            anthropic_frame("message_stop"),
        ]
    )


ANTHROPIC = anthropic_answer(
    _block(
        0,
        {"type": "thinking", "thinking": "", "signature": ""},
        {"type": "thinking_delta", "thinking": "First, "},
        {"type": "thinking_delta", "thinking": "think — 考える."},
        {"type": "signature_delta", "signature": "EqQBCg=="},
    ),
    _block(1, {"type": "redacted_thinking", "data": "b3BhcXVl"}),
    _block(
        2,
        {"type": "text", "text": ""},
        {"type": "text_delta", "text": "I'll look\u2028 "},
        {"type": "text_delta", "text": "both up."},
    ),
    _block(
        3,
        {"type": "tool_use", "id": "toolu_1", "name": "weather", "input": {}},
        {"type": "input_json_delta", "partial_json": ""},
        {"type": "input_json_delta", "partial_json": '{"city": "Zü'},
        {"type": "input_json_delta", "partial_json": 'rich"}'},
    ),
    _block(4, {"type": "tool_use", "id": "toolu_2", "name": "clock", "input": {}}),
    _block(
        5,
        {"type": "tool_use", "id": "toolu_3", "name": "weather", "input": {}},
        {"type": "input_json_delta", "partial_json": "[1"},
    ),
)


def openai_chunk(delta: dict[str, Any] | None = None, finish: str | None = None, **fields: Any) -> bytes:
    choices = [] if delta is None else [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}]
    body = {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "gpt-x",
        "choices": choices,
    }
    return f"data: {json.dumps({**body, **fields})}\n\n".encode()


def _call(index: int, call_id: str | None = None, name: str | None = None, arguments: str = "") -> dict[str, Any]:
    call: dict[str, Any] = {"index": index, "function": {"arguments": arguments}}
    if call_id is not None:
        call |= {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}
    return {"tool_calls": [call]}


def call_delta(index: int, call_id: str | None = None, name: str | None = None, arguments: str = "") -> bytes:
    return openai_chunk(_call(index, call_id, name, arguments))


USAGE = {
    "prompt_tokens": 542,
    "completion_tokens": 89,
    "total_tokens": 631,
    "prompt_tokens_details": {"cached_tokens": 500, "cache_write_tokens": 30},
}
DONE = b"data: [DONE]\n\n"
OPENAI = b"".join(
    [
        openai_chunk({"role": "assistant", "content": "", "refusal": None}, usage=None),
        openai_chunk({"reasoning_content": "First, "}),
        b": keep-alive\n\n",
        openai_chunk({"reasoning_content": "think — 考える."}),
        openai_chunk({"content": "I'll look\u2028 "}),
        openai_chunk({"content": "both up."}),
        call_delta(0, "call_1", "weather"),
        call_delta(0, arguments='{"city": "Zü'),
        call_delta(0, arguments='rich"}'),
        call_delta(1, "call_2", "clock"),
        call_delta(2, "call_3", "weather", "[1"),
        openai_chunk({}, "tool_calls"),
        openai_chunk(usage=USAGE),
        DONE,
    ]
)
