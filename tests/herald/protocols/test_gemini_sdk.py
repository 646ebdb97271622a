"""Google's own client as the judge: what we send is what it sends, what we read is what it reads."""

import json
import re
from typing import Any

import httpx2
import pytest
from google import genai
from google.genai import types

from aster.contracts.blocks import TextBlock, ThinkingBlock, ToolUseBlock
from aster.contracts.llm import ModelRequest
from aster.herald.endpoint import Endpoint
from aster.herald.gateway import Herald
from aster.herald.protocols import PROTOCOLS
from aster.testing import ModelServer, Reply, Text, Thinking, ToolCall, Usage
from tests.herald.asking import asking, full_request

_SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}


def _body(request: ModelRequest) -> dict[str, Any]:
    endpoint = Endpoint.gemini("key")
    return json.loads(PROTOCOLS[endpoint.protocol].encode(request, endpoint).body)


def _config(body: dict[str, Any]) -> types.GenerateContentConfig:
    """What our body says, in the client's own types; they take nothing that they do not know."""
    fields = {**body["generationConfig"], "automaticFunctionCalling": {"disable": True}}
    for name in ("systemInstruction", "tools"):
        if name in body:
            fields[name] = body[name]
    return types.GenerateContentConfig.model_validate(fields)


def _contents(body: dict[str, Any]) -> list[types.Content]:
    return [types.Content.model_validate(content) for content in body["contents"]]


@pytest.mark.parametrize(
    "request_",
    [
        asking("Hi", system="s", model="gemini-3.8-flash"),
        *(
            full_request(model, thinking_budget=5000, output_schema=_SCHEMA, temperature=0.5, top_p=0.9)
            for model in ("gemini-2.5-pro", "gemini-3.8-flash")
        ),
    ],
)
async def test_googles_client_sends_and_reads_the_same(request_: ModelRequest) -> None:
    reply = Reply(
        parts=[
            Thinking("Hm."),
            Text("Let me see."),
            ToolCall("weather", {"city": "Bern"}),
            ToolCall("clock", id="own"),
        ],
        usage=Usage(input=5, output=7, cache_read=11),
    )
    body = _body(request_)
    plain = httpx2.AsyncClient(verify=False)
    async with ModelServer() as server:
        server.enqueue(reply, reply)
        herald = Herald(Endpoint.gemini("key", base_url=server.url))
        ours = await herald.complete(request_)
        options = types.HttpOptions(base_url=server.url, api_version="v1beta", httpx_async_client=plain)
        client = genai.Client(api_key="key", http_options=options)
        stream = await client.aio.models.generate_content_stream(
            model=request_.model, contents=_contents(body), config=_config(body)
        )
        theirs = [chunk async for chunk in stream]
        await herald.close()
        await plain.aclose()
        client.close()
    mine, sdk = server.calls
    assert mine.path == sdk.path
    for name in ("x-goog-api-key", "content-type"):
        assert mine.headers[name] == sdk.headers[name]
    assert _canonical(mine.body) == _canonical(sdk.body)
    _same_answer(ours.blocks, theirs)
    usage = theirs[-1].usage_metadata
    assert usage is not None
    assert usage.prompt_token_count == ours.usage.input_total == 16
    assert (ours.usage.input, ours.usage.cache_read, ours.usage.output) == (5, 11, 7)


def _canonical(body: Any) -> Any:
    """With every name in the one of the two spellings that the provider documents."""
    if isinstance(body, list):
        return [_canonical(item) for item in body]
    if not isinstance(body, dict):
        return body
    return {re.sub(r"_([a-z])", lambda found: found[1].upper(), key): _canonical(v) for key, v in body.items()}


def _same_answer(blocks: tuple[Any, ...], theirs: list[Any]) -> None:
    parts = [part for chunk in theirs for part in chunk.candidates[0].content.parts]
    thought, text, *calls = blocks
    assert isinstance(thought, ThinkingBlock)
    assert isinstance(text, TextBlock)
    assert thought.text == "".join(part.text for part in parts if part.thought)
    assert text.text == "".join(part.text for part in parts if part.text and not part.thought)
    named = [part for part in parts if part.function_call]
    assert len(named) == len(calls) == 2
    for call, part in zip(calls, named, strict=True):
        assert isinstance(call, ToolUseBlock)
        assert (call.name, call.input) == (part.function_call.name, part.function_call.args)
        assert bool(call.signature) == bool(part.thought_signature)
        assert call.id == (part.function_call.id or call.id)
