"""The Chat Completions protocol, judged by OpenAI's own client."""

from typing import Any

import openai
import pytest
from openai import AsyncOpenAI
from openai.types.chat import ChatCompletion, ChatCompletionChunk

from aster.testing import (
    ModelServer,
    Part,
    Ping,
    RedactedThinking,
    Reply,
    StopReason,
    StreamError,
    Text,
    Thinking,
    ToolCall,
    Usage,
)

ASK: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}


async def whole(gpt: AsyncOpenAI) -> ChatCompletion:
    return await gpt.chat.completions.create(**ASK)


async def streamed(gpt: AsyncOpenAI) -> ChatCompletion:
    async with gpt.chat.completions.stream(**ASK, stream_options={"include_usage": True}) as stream:
        return await stream.get_final_completion()


async def chunks(gpt: AsyncOpenAI, **fields: Any) -> list[ChatCompletionChunk]:
    stream = await gpt.chat.completions.create(**ASK, **fields, stream=True)
    return [chunk async for chunk in stream]


BOTH = pytest.mark.parametrize("call", [whole, streamed])


@BOTH
async def test_everything_a_message_can_hold(server: ModelServer, gpt: AsyncOpenAI, call: Any) -> None:
    parts: list[Part] = [
        Thinking("first things first"),
        RedactedThinking(),
        Text('Let me look: "ä€😀"\n'),
        ToolCall("bash", {"command": "ls -la"}, id="call_1"),
        ToolCall("read_file", {"path": "ü.txt"}),
    ]
    server.enqueue(Reply(parts, usage=Usage(input=11, output=22, cache_read=33, cache_write=44)))
    completion = await call(gpt)
    assert completion.id.startswith("chatcmpl-")
    assert completion.model == "m"
    choice = completion.choices[0]
    assert choice.finish_reason == "tool_calls"
    assert choice.message.reasoning_content == "first things first"
    assert choice.message.content == 'Let me look: "ä€😀"\n'
    bash, read = choice.message.tool_calls
    assert (bash.id, bash.function.name, bash.function.arguments) == ("call_1", "bash", '{"command":"ls -la"}')
    assert read.id.startswith("call_")
    assert read.function.arguments == '{"path":"ü.txt"}'
    usage = completion.usage
    assert (usage.prompt_tokens, usage.completion_tokens, usage.total_tokens) == (88, 22, 110)
    assert usage.prompt_tokens_details.cached_tokens == 33
    assert usage.prompt_tokens_details.cache_write_tokens == 44
    assert usage.completion_tokens_details.reasoning_tokens == 4


@pytest.mark.parametrize(
    ("reason", "finish"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("pause_turn", "stop"),
        ("max_tokens", "length"),
        ("refusal", "content_filter"),
    ],
)
async def test_stop_reasons(server: ModelServer, gpt: AsyncOpenAI, reason: StopReason, finish: str) -> None:
    server.enqueue(*[Reply([Text("half of a")], stop_reason=reason)] * 2)
    assert (await whole(gpt)).choices[0].finish_reason == finish
    assert (await chunks(gpt))[-1].choices[0].finish_reason == finish


async def test_the_chunks_come_in_the_documented_order(server: ModelServer, gpt: AsyncOpenAI) -> None:
    server.enqueue(Reply([Text("one two"), ToolCall("a", {"x": 1}), ToolCall("b", {"x": 2})]))
    seen = await chunks(gpt, stream_options={"include_usage": True})
    assert seen[0].choices[0].delta.role == "assistant"
    assert [chunk.choices[0].delta.content for chunk in seen[1:3]] == ["one ", "two"]
    openings = [
        (call.index, call.function.name if call.function else None)
        for chunk in seen[:-1]
        for call in chunk.choices[0].delta.tool_calls or []
        if call.id
    ]
    assert openings == [(0, "a"), (1, "b")]
    assert [chunk.choices[0].finish_reason for chunk in seen[:-1] if chunk.choices[0].finish_reason] == [
        "tool_calls"
    ]
    assert seen[-1].choices == []
    assert seen[-1].usage is not None
    assert all(chunk.usage is None for chunk in seen[:-1])
    assert len({chunk.id for chunk in seen}) == 1


async def test_usage_is_sent_only_when_asked_for(server: ModelServer, gpt: AsyncOpenAI) -> None:
    server.enqueue(Reply([Text("a")]))
    assert all(chunk.choices and chunk.usage is None for chunk in await chunks(gpt))


async def test_a_reply_of_calls_alone_has_no_content(server: ModelServer, gpt: AsyncOpenAI) -> None:
    server.enqueue(*[Reply([ToolCall("t", {})])] * 2)
    assert (await whole(gpt)).choices[0].message.content is None
    assert (await chunks(gpt))[0].choices[0].delta.content is None


async def test_the_stream_ends_with_done(server: ModelServer, raw: Any) -> None:
    server.enqueue(Reply([Text("a"), Ping(), Ping("still here")]))
    body = (await raw.openai("hi")).body
    assert body.endswith(b"data: [DONE]\n\n")
    assert b"\n\n: ping\n\n: still here\n\n" in body


async def test_broken_arguments_arrive_in_several_deltas(server: ModelServer, gpt: AsyncOpenAI) -> None:
    server.enqueue(*[Reply([ToolCall("bash", raw_arguments='{"command": "ls')])] * 2)
    calls = [call for c in await chunks(gpt) for call in c.choices[0].delta.tool_calls or [] if call.function]
    pieces = [call.function.arguments or "" for call in calls if call.function]
    assert len(pieces) >= 4
    assert "".join(pieces) == '{"command": "ls'
    message = (await whole(gpt)).choices[0].message
    assert message.tool_calls is not None
    assert message.tool_calls[0].type == "function"
    assert message.tool_calls[0].function.arguments == '{"command": "ls'


@pytest.mark.parametrize("arguments", ["", "x", "{}", '{"path":"a-long-enough-path"}'])
async def test_an_error_in_the_middle_of_arguments(server: ModelServer, raw: Any, arguments: str) -> None:
    gone = StreamError("server_error", "gone")
    server.enqueue(Reply([ToolCall("t", raw_arguments=arguments, midway=[gone]), Text("never")]))
    body = (await raw.openai("hi")).body
    assert b'{"error":{"message":"gone","type":"server_error"' in body.split(b"data: ")[-1]
    assert b"never" not in body


async def test_an_error_inside_the_stream_ends_it(server: ModelServer, gpt: AsyncOpenAI) -> None:
    server.enqueue(Reply([Text("so far "), StreamError("rate_limit"), Text("so good")]))
    stream = await gpt.chat.completions.create(**ASK, stream=True)
    said: list[str] = []

    async def drain() -> None:
        async for chunk in stream:
            said.append(chunk.choices[0].delta.content or "")  # noqa: PERF401 - what came before the error counts

    with pytest.raises(openai.APIError) as caught:
        await drain()
    assert "".join(said) == "so far "
    assert caught.value.code == "rate_limit_exceeded"


async def test_the_models_are_listed(server: ModelServer, gpt: AsyncOpenAI) -> None:
    server.models = ["alpha", "beta"]
    page = await gpt.models.list()
    assert [model.id for model in page.data] == ["alpha", "beta"]
