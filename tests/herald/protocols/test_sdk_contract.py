"""The providers' own clients as judges: what we send is what they take, what we read is what they read."""

import json
from typing import Any

import pytest
from anthropic import AsyncAnthropic
from anthropic.types.message_create_params import MessageCreateParamsStreaming
from openai import AsyncOpenAI
from openai.types.chat.completion_create_params import CompletionCreateParamsStreaming

from aster.contracts.blocks import TextBlock, ThinkingBlock, ToolUseBlock
from aster.contracts.llm import ModelRequest
from aster.herald.endpoint import Endpoint
from aster.herald.gateway import Herald
from aster.herald.protocols import PROTOCOLS
from aster.testing import ModelServer, RedactedThinking, Reply, Text, Thinking, ToolCall, Usage
from tests.herald.asking import asking, full_request
from tests.herald.protocols.typed_dicts import misfit

_SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}


def _requests(*models: str) -> list[ModelRequest]:
    every = [full_request(model, thinking_budget=5000, output_schema=_SCHEMA) for model in models]
    return [asking("Hi", system="s", model=models[0]), *every]


def _body(endpoint: Endpoint, request: ModelRequest) -> dict[str, Any]:
    return json.loads(PROTOCOLS[endpoint.protocol].encode(request, endpoint).body)


@pytest.mark.parametrize("request_", _requests("claude-haiku-4-5", "claude-sonnet-5-5", "claude-opus-4-6"))
def test_what_we_send_is_what_anthropic_describes(request_: ModelRequest) -> None:
    assert misfit(_body(Endpoint.anthropic("key"), request_), MessageCreateParamsStreaming) is None


@pytest.mark.parametrize("request_", _requests("gpt-4o", "gpt-5", "gpt-6-sol"))
def test_what_we_send_is_what_openai_describes(request_: ModelRequest) -> None:
    assert misfit(_body(Endpoint.openai("key"), request_), CompletionCreateParamsStreaming) is None


def test_the_judge_is_awake() -> None:
    body = _body(Endpoint.anthropic("key"), full_request("claude-haiku-4-5"))
    body["messages"][2]["content"][0]["content"][1]["source"]["colour"] = "red"
    assert "colour" in str(misfit(body, MessageCreateParamsStreaming))
    del body["messages"]
    assert "messages" in str(misfit(body, MessageCreateParamsStreaming))


async def test_anthropics_client_sends_and_reads_the_same() -> None:
    reply = Reply(
        parts=[Thinking("Hm."), RedactedThinking("c2VjcmV0"), Text("Let me see."), ToolCall("weather", {"a": 1})],
        usage=Usage(input=5, output=7, cache_read=11, cache_write=13),
    )
    request = full_request("claude-haiku-4-5", thinking_budget=2000)
    async with ModelServer() as server:
        server.enqueue(reply, reply)
        herald = Herald(Endpoint.anthropic("key", base_url=server.url))
        ours = await herald.complete(request)
        said = _body(herald.endpoint, request)
        del said["stream"]
        async with (
            AsyncAnthropic(base_url=server.url, api_key="key", max_retries=0) as client,
            client.messages.stream(**said) as stream,
        ):
            theirs = await stream.get_final_message()
        await herald.close()
    mine, sdk = server.calls
    assert mine.body == sdk.body
    for name in ("authorization", "content-type"):
        assert mine.headers[name] == sdk.headers[name]
    thinking, redacted, text, call = ours.blocks
    assert isinstance(thinking, ThinkingBlock)
    assert isinstance(redacted, ThinkingBlock)
    assert isinstance(text, TextBlock)
    assert isinstance(call, ToolUseBlock)
    assert [b.model_dump(exclude_none=True) for b in theirs.content][:3] == [
        {"type": "thinking", "thinking": thinking.text, "signature": thinking.signature},
        {"type": "redacted_thinking", "data": redacted.encrypted},
        {"type": "text", "text": text.text},
    ]
    assert theirs.content[3].type == "tool_use"
    assert (theirs.content[3].name, theirs.content[3].input) == (call.name, call.input)
    assert theirs.stop_reason == ours.stop_reason
    assert (theirs.usage.input_tokens, theirs.usage.output_tokens) == (ours.usage.input, ours.usage.output)
    assert theirs.usage.cache_read_input_tokens == ours.usage.cache_read == 11
    assert theirs.usage.cache_creation_input_tokens == ours.usage.cache_write == 13


async def test_openais_client_sends_and_reads_the_same() -> None:
    reply = Reply(
        parts=[Text("Let me see."), ToolCall("weather", {"city": "Bern"}), ToolCall("clock")],
        usage=Usage(input=5, output=7, cache_read=11),
    )
    request = full_request("gpt-4o")
    async with ModelServer() as server:
        server.enqueue(reply, reply)
        herald = Herald(Endpoint.openai_compatible(server.url, "gpt-4o", "key"))
        ours = await herald.complete(request)
        said = _body(herald.endpoint, request)
        del said["stream"]
        async with (
            AsyncOpenAI(base_url=server.url + "/v1", api_key="key", max_retries=0) as client,
            client.chat.completions.stream(**said) as stream,
        ):
            theirs = await stream.get_final_completion()
        await herald.close()
    mine, sdk = server.calls
    assert mine.body == sdk.body
    for name in ("authorization", "content-type"):
        assert mine.headers[name] == sdk.headers[name]
    message = theirs.choices[0].message
    text, *calls = ours.blocks
    assert isinstance(text, TextBlock)
    assert message.content == text.text
    assert [(c.function.name, json.loads(c.function.arguments)) for c in message.tool_calls or []] == [
        (call.name, call.input) for call in calls if isinstance(call, ToolUseBlock)
    ]
    assert theirs.usage is not None
    assert theirs.usage.prompt_tokens == ours.usage.input_total == 16
    assert (ours.usage.input, ours.usage.cache_read, ours.usage.output) == (5, 11, 7)
