"""OpenAI's own client as the judge: what we send is what it takes, what we read is what it reads."""

import json
from typing import Any

import pytest
from openai import AsyncOpenAI
from openai.types.responses.response_create_params import ResponseCreateParamsStreaming

from aster.contracts.blocks import TextBlock, ThinkingBlock, ToolUseBlock
from aster.contracts.llm import ModelRequest
from aster.herald.endpoint import Endpoint
from aster.herald.gateway import Herald
from aster.herald.protocols import PROTOCOLS
from aster.testing import ModelServer, RedactedThinking, Reply, Text, Thinking, ToolCall, Usage
from tests.herald.asking import asking, assistant, full_request
from tests.herald.protocols.typed_dicts import misfit

_SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
_THOUGHT = ThinkingBlock(text="hm", signature="rs_1", encrypted="x", model="gpt-6-sol")
_SAID = TextBlock(text="so", signature="commentary", model="gpt-6-sol")


def _body(endpoint: Endpoint, request: ModelRequest) -> dict[str, Any]:
    return json.loads(PROTOCOLS[endpoint.protocol].encode(request, endpoint).body)


@pytest.mark.parametrize(
    "request_",
    [
        asking("Hi", system="s", model="gpt-4o"),
        asking("Hi", assistant(_THOUGHT, _SAID), "Go on.", model="gpt-6-sol"),
        *(full_request(model, thinking_budget=5000, output_schema=_SCHEMA) for model in ("gpt-4o", "gpt-6-sol")),
    ],
)
def test_what_we_send_is_what_openai_describes(request_: ModelRequest) -> None:
    body = _body(Endpoint.openai("key", api="responses"), request_)
    assert misfit(body, ResponseCreateParamsStreaming) is None
    body["input"][0]["colour"] = "red"
    assert "colour" in str(misfit(body, ResponseCreateParamsStreaming))


async def test_openais_client_sends_and_reads_the_same() -> None:
    reply = Reply(
        parts=[
            Thinking("Hm."),
            RedactedThinking("c2VjcmV0"),
            Text("Let me see."),
            ToolCall("weather", {"city": "Bern"}),
            ToolCall("clock"),
        ],
        usage=Usage(input=5, output=7, cache_read=11, cache_write=13),
    )
    request = full_request("gpt-6-sol", thinking_budget=2000)
    async with ModelServer() as server:
        server.enqueue(reply, reply)
        herald = Herald(Endpoint.openai_compatible(server.url, "gpt-6-sol", "key", "responses"))
        ours = await herald.complete(request)
        said = _body(herald.endpoint, request)
        del said["stream"]
        async with (
            AsyncOpenAI(base_url=server.url + "/v1", api_key="key", max_retries=0) as client,
            client.responses.stream(**said) as stream,
        ):
            theirs = await stream.get_final_response()
        await herald.close()
    mine, sdk = server.calls
    assert mine.body == sdk.body
    for name in ("authorization", "content-type"):
        assert mine.headers[name] == sdk.headers[name]
    thought, redacted, text, *calls = ours.blocks
    read: list[Any] = theirs.output
    for block, item in zip((thought, redacted), read[:2], strict=True):
        assert isinstance(block, ThinkingBlock)
        assert block.text == "".join(part.text for part in item.summary)
        assert (block.encrypted, item.id[:3]) == (item.encrypted_content, "rs_")
    assert isinstance(text, TextBlock)
    assert text.text == theirs.output_text
    assert [(item.name, json.loads(item.arguments)) for item in read[3:]] == [
        (call.name, call.input) for call in calls if isinstance(call, ToolUseBlock)
    ]
    assert theirs.usage is not None
    assert theirs.usage.input_tokens == ours.usage.input_total == 29
    assert (ours.usage.input, ours.usage.cache_read, ours.usage.cache_write, ours.usage.output) == (5, 11, 13, 7)
