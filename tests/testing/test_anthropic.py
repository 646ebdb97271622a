"""The Messages protocol, judged by Anthropic's own client."""

from typing import Any

import anthropic
import pytest
from anthropic import AsyncAnthropic
from anthropic.types import Message, TextBlock, ThinkingBlock, ToolUseBlock

from aster.testing import (
    Malformed,
    ModelServer,
    Part,
    Ping,
    RedactedThinking,
    Reply,
    Stall,
    StopReason,
    StreamError,
    Text,
    Thinking,
    ToolCall,
    Usage,
)

ASK: dict[str, Any] = {"model": "m", "max_tokens": 100, "messages": [{"role": "user", "content": "hi"}]}


async def whole(claude: AsyncAnthropic) -> Message:
    return await claude.messages.create(**ASK)


async def streamed(claude: AsyncAnthropic) -> Message:
    async with claude.messages.stream(**ASK) as stream:
        return await stream.get_final_message()


BOTH = pytest.mark.parametrize("call", [whole, streamed])


@BOTH
async def test_every_kind_of_block(server: ModelServer, claude: AsyncAnthropic, call: Any) -> None:
    parts: list[Part] = [
        Thinking("first things first", signature="c2lnbmVk"),
        RedactedThinking("b3BhcXVl"),
        Text('Let me look: "ä€😀"\n'),
        ToolCall("bash", {"command": "ls -la", "env": {"A": [1, None, True]}}, id="toolu_1"),
        ToolCall("read_file", {"path": "ü.txt"}),
    ]
    server.enqueue(Reply(parts, usage=Usage(input=11, output=22, cache_read=33, cache_write=44)))
    message = await call(claude)
    assert message.id.startswith("msg_")
    assert (message.model, message.role, message.stop_reason) == ("m", "assistant", "tool_use")
    thinking, redacted, text, bash, read = message.content
    assert (thinking.thinking, thinking.signature) == ("first things first", "c2lnbmVk")
    assert redacted.data == "b3BhcXVl"
    assert text.text == 'Let me look: "ä€😀"\n'
    assert (bash.id, bash.name, bash.input) == (
        "toolu_1",
        "bash",
        {"command": "ls -la", "env": {"A": [1, None, True]}},
    )
    assert read.id.startswith("toolu_")
    assert read.input == {"path": "ü.txt"}
    usage = message.usage
    assert (usage.input_tokens, usage.output_tokens) == (11, 22)
    assert (usage.cache_read_input_tokens, usage.cache_creation_input_tokens) == (33, 44)
    assert usage.cache_creation.ephemeral_5m_input_tokens == 44
    assert usage.output_tokens_details.thinking_tokens == 4


@BOTH
@pytest.mark.parametrize(
    "reason", ["end_turn", "max_tokens", "pause_turn", "refusal", "model_context_window_exceeded"]
)
async def test_stop_reasons(server: ModelServer, claude: AsyncAnthropic, call: Any, reason: StopReason) -> None:
    server.enqueue(Reply([Text("half of a")], stop_reason=reason))
    message = await call(claude)
    assert message.stop_reason == reason
    assert (message.stop_details is not None) == (reason == "refusal")


@BOTH
async def test_stop_sequence(server: ModelServer, claude: AsyncAnthropic, call: Any) -> None:
    server.enqueue(Reply([Text("up to")], stop_reason="stop_sequence", stop_sequence="END"))
    message = await call(claude)
    assert (message.stop_reason, message.stop_sequence) == ("stop_sequence", "END")


@BOTH
async def test_texts_between_faults_are_one_block(server: ModelServer, claude: AsyncAnthropic, call: Any) -> None:
    server.enqueue(Reply([Text("one "), Stall(0.001), Ping(), Text("block"), ToolCall("t"), Text("two")]))
    message = await call(claude)
    kinds = [block.type for block in message.content]
    assert kinds == ["text", "tool_use", "text"]
    assert isinstance(message.content[0], TextBlock)
    assert message.content[0].text == "one block"


async def test_thinking_gets_a_signature_and_may_come_in_parts(server: ModelServer, claude: AsyncAnthropic) -> None:
    server.enqueue(Reply([Thinking("a ", signature=""), Stall(0.001), Thinking("b"), Text("c")]))
    message = await streamed(claude)
    block = message.content[0]
    assert isinstance(block, ThinkingBlock)
    assert block.thinking == "a b"
    assert block.signature
    assert len(message.content) == 2


async def test_the_events_come_in_the_documented_order(server: ModelServer, claude: AsyncAnthropic) -> None:
    server.enqueue(Reply([Text("one two"), ToolCall("t", {"a": 1})]))
    stream = await claude.messages.create(**ASK, stream=True)
    types = [event.type async for event in stream]
    assert types == [
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_delta",
        "content_block_stop",
        "content_block_start",
        *["content_block_delta"] * 4,
        "content_block_stop",
        "message_delta",
        "message_stop",
    ]
    assert types.count("content_block_start") == types.count("content_block_stop")


async def test_pings_and_comments_are_on_the_wire(server: ModelServer, raw: Any) -> None:
    server.enqueue(Reply([Text("a"), Ping(), Ping("still here"), Text("b")]))
    body = (await raw.anthropic("hi")).body
    assert body.count(b'event: ping\ndata: {"type":"ping"}\n\n') == 2
    assert b"\n\n: still here\n\n" in body


async def test_broken_arguments_arrive_in_several_deltas(server: ModelServer, claude: AsyncAnthropic) -> None:
    server.enqueue(Reply([ToolCall("bash", raw_arguments='{"command": "ls')]))
    stream = await claude.messages.create(**ASK, stream=True)
    deltas = [
        event.delta.partial_json
        async for event in stream
        if event.type == "content_block_delta" and event.delta.type == "input_json_delta"
    ]
    assert len(deltas) >= 4
    assert "".join(deltas) == '{"command": "ls'


async def test_broken_arguments_without_a_stream(server: ModelServer, claude: AsyncAnthropic) -> None:
    server.enqueue(Reply([ToolCall("bash", raw_arguments="{nope")]))
    message = await whole(claude)
    block = message.content[0]
    assert isinstance(block, ToolUseBlock)
    assert block.input == "{nope"


async def test_an_error_inside_the_stream_ends_it(server: ModelServer, claude: AsyncAnthropic) -> None:
    server.enqueue(Reply([Text("so far "), StreamError("overloaded"), Text("so good")]))
    stream = await claude.messages.create(**ASK, stream=True)
    seen: list[str] = []

    async def drain() -> None:
        async for event in stream:
            seen.append(event.type)  # noqa: PERF401 - what came before the error counts

    with pytest.raises(anthropic.APIStatusError) as caught:
        await drain()
    assert caught.value.type == "overloaded_error"
    assert seen[-1] == "content_block_delta"


async def test_an_error_in_the_middle_of_arguments(server: ModelServer, raw: Any) -> None:
    call = ToolCall("t", {"path": "a-long-enough-path"}, midway=[StreamError("server_error", "gone")])
    server.enqueue(Reply([call, Text("never")]))
    body = (await raw.anthropic("hi")).body
    assert body.endswith(b"}\n\n")
    assert b'"type":"api_error","message":"gone"' in body.split(b"event: ")[-1]
    assert b"never" not in body


async def test_a_stream_error_is_a_failure_of_a_call_that_does_not_stream(
    server: ModelServer, claude: AsyncAnthropic
) -> None:
    server.enqueue(Reply([Text("a"), StreamError("overloaded")]))
    with pytest.raises(anthropic.OverloadedError):
        await whole(claude)


async def test_malformed_bytes_stand_where_they_were_put(server: ModelServer, raw: Any) -> None:
    server.enqueue(Reply([Text("a"), Malformed(b"data: {broken\n\n\xff\xfe"), Text("b")]))
    body = (await raw.anthropic("hi")).body
    before, _, after = body.partition(b"data: {broken\n\n\xff\xfe")
    assert b'"text":"a"' in before
    assert b'"text":"b"' in after


async def test_tokens_are_counted_when_the_script_does_not(server: ModelServer, claude: AsyncAnthropic) -> None:
    server.enqueue(Reply([Text("one two three")]))
    usage = (await streamed(claude)).usage
    assert usage.output_tokens == 3
    assert usage.input_tokens > 10


async def test_the_models_are_listed(server: ModelServer, claude: AsyncAnthropic) -> None:
    server.models = ["alpha", "beta"]
    page = await claude.models.list()
    assert [model.id for model in page.data] == ["alpha", "beta"]
