"""Gemini's protocol, judged by Google's own client."""

from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest
from google import genai
from google.genai import errors, types

from aster.testing import (
    Cut,
    ErrorKind,
    Failure,
    Hold,
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

TOOL = types.Tool(function_declarations=[types.FunctionDeclaration(name="bash", parameters_json_schema={})])


@pytest.fixture
async def gem(server: ModelServer) -> AsyncIterator[Any]:
    plain = httpx2.AsyncClient(verify=False)  # no certificates to load for loopback
    options = types.HttpOptions(base_url=server.url, api_version="v1beta", httpx_async_client=plain)
    client = genai.Client(api_key="test-key", http_options=options)
    yield client.aio.models
    await plain.aclose()
    client.close()


async def whole(gem: Any, contents: Any = "hi", model: str = "m", **config: Any) -> list[Any]:
    return [await gem.generate_content(model=model, contents=contents, config=config or None)]


async def streamed(gem: Any, contents: Any = "hi", model: str = "m", **config: Any) -> list[Any]:
    stream = await gem.generate_content_stream(model=model, contents=contents, config=config or None)
    return [chunk async for chunk in stream]


def parts_of(chunks: list[Any]) -> list[Any]:
    return [part for chunk in chunks for part in chunk.candidates[0].content.parts]


BOTH = pytest.mark.parametrize("call", [whole, streamed])


@BOTH
async def test_everything_an_answer_can_hold(server: ModelServer, gem: Any, call: Any) -> None:
    parts: list[Part] = [
        Thinking("first things first", signature="c2ln"),
        RedactedThinking(),
        Text('Let me look: "ä€😀"\n'),
        ToolCall("bash", {"command": "ls -la"}, id="call_1"),
        ToolCall("read_file", {"path": "ü.txt"}),
    ]
    server.enqueue(Reply(parts, usage=Usage(input=11, output=22, cache_read=33)))
    chunks = await call(gem)
    last = chunks[-1]
    assert (last.model_version, last.candidates[0].finish_reason) == ("m", "STOP")
    seen = parts_of(chunks)
    assert "".join(part.text for part in seen if part.text and part.thought) == "first things first"
    assert "".join(part.text for part in seen if part.text and not part.thought) == 'Let me look: "ä€😀"\n'
    bash, read = [part for part in seen if part.function_call]
    assert (bash.function_call.name, bash.function_call.args) == ("bash", {"command": "ls -la"})
    assert (bash.function_call.id, read.function_call.id) == ("call_1", None)
    assert [part.thought_signature for part in seen if part.thought_signature] == [b"sig"]
    assert bash.thought_signature == b"sig"
    usage = last.usage_metadata
    assert (usage.prompt_token_count, usage.cached_content_token_count) == (44, 33)
    assert usage.candidates_token_count + usage.thoughts_token_count == 22
    assert usage.thoughts_token_count == 4


@BOTH
async def test_text_is_signed_at_its_end(server: ModelServer, gem: Any, call: Any) -> None:
    server.enqueue(Reply([Thinking("hm"), Text("one two")]), Reply([Text("one")]))
    seen = parts_of(await call(gem))
    assert [bool(part.thought_signature) for part in seen] == [*[False] * (len(seen) - 1), True]
    assert not any(part.thought_signature for part in parts_of(await call(gem)))


@pytest.mark.parametrize(
    ("reason", "finish"),
    [
        ("end_turn", "STOP"),
        ("stop_sequence", "STOP"),
        ("pause_turn", "STOP"),
        ("max_tokens", "MAX_TOKENS"),
        ("refusal", "SAFETY"),
    ],
)
async def test_stop_reasons(server: ModelServer, gem: Any, reason: StopReason, finish: str) -> None:
    server.enqueue(*[Reply([Text("half of a")], stop_reason=reason)] * 2)
    for chunks in (await whole(gem), await streamed(gem)):
        assert chunks[-1].candidates[0].finish_reason == finish


@BOTH
async def test_arguments_that_are_no_object_are_no_call(server: ModelServer, gem: Any, call: Any) -> None:
    server.enqueue(Reply([Text("so"), ToolCall("bash", raw_arguments='{"command": ')]))
    chunks = await call(gem)
    assert chunks[-1].candidates[0].finish_reason == "MALFORMED_FUNCTION_CALL"
    assert not any(part.function_call for part in parts_of(chunks))


async def test_faults(server: ModelServer, raw: Any) -> None:
    gone = StreamError("overloaded", "gone")
    server.enqueue(
        Reply([Text("so far "), Ping(), Ping("here"), Hold(), gone, Text("so good")]),
        Reply([Text("so far "), ToolCall("t", {}, midway=[gone])]),
        Reply([Text("so far "), ToolCall("t", {}, midway=[Cut()])]),
    )
    server.release()
    path, ask = "/v1beta/models/m:streamGenerateContent?alt=sse", {"contents": [{"parts": [{"text": "hi"}]}]}
    one, two, three = [await raw.call(path, ask) for _ in range(3)]
    assert b"\r\n\r\n: here\r\n\r\n" in one.body
    for answer in (one, two):
        assert b'"status":"UNAVAILABLE"' in answer.body.split(b"data: ")[-1]
        assert b"so good" not in answer.body
    assert not three.complete


@pytest.mark.parametrize(
    ("status", "kind", "code", "word"),
    [
        (400, None, 400, "INVALID_ARGUMENT"),
        (None, "authentication", 400, "INVALID_ARGUMENT"),
        (None, "context_overflow", 400, "INVALID_ARGUMENT"),
        (None, "quota", 403, "PERMISSION_DENIED"),
        (403, None, 403, "PERMISSION_DENIED"),
        (404, None, 404, "NOT_FOUND"),
        (429, None, 429, "RESOURCE_EXHAUSTED"),
        (500, None, 500, "INTERNAL"),
        (503, None, 503, "UNAVAILABLE"),
        (None, "overloaded", 503, "UNAVAILABLE"),
        (None, "timeout", 504, "DEADLINE_EXCEEDED"),
    ],
)
async def test_failures(
    server: ModelServer, gem: Any, status: int | None, kind: ErrorKind | None, code: int, word: str
) -> None:
    server.enqueue(Failure(status, kind, retry_after=2))
    with pytest.raises(errors.APIError) as caught:
        await streamed(gem)
    assert (caught.value.code, caught.value.status) == (code, word)
    assert caught.value.message
    details: Any = caught.value.details
    assert details["error"]["details"][-1]["retryDelay"] == "2s"


def user(*texts: str) -> dict[str, Any]:
    return {"role": "user", "parts": [{"text": text} for text in texts]}


def called(*names: str, **fields: Any) -> dict[str, Any]:
    return {"role": "model", "parts": [{"function_call": {"name": name, "args": {}}, **fields} for name in names]}


def returned(*names: str) -> dict[str, Any]:
    parts = [{"function_response": {"name": name, "response": {"output": f"{name} ok"}}} for name in names]
    return {"role": "user", "parts": parts}


async def refused(gem: Any, *contents: dict[str, Any], model: str = "m") -> str:
    with pytest.raises(errors.ClientError) as caught:
        await whole(gem, list(contents), model)
    return str(caught.value.message)


async def test_histories_are_refused_as_the_provider_does(server: ModelServer, gem: Any) -> None:
    assert "number of function response parts" in await refused(gem, user("hi"), called("a", "b"), returned("a"))
    assert "number of function response parts" in await refused(gem, user("hi"), called("a"), returned("b"))
    unsigned = (user("hi"), called("a"), returned("a"))
    assert "missing a thought_signature" in await refused(gem, *unsigned, model="gemini-3.8-flash")
    signed = (user("hi"), called("a", thought_signature=b"sig"), returned("a"))
    server.enqueue(*[Reply([Text("ok")])] * 2)
    await whole(gem, [*signed], "gemini-3.8-flash")
    await whole(gem, [*unsigned, user("and now?")], "gemini-3.8-flash")


async def test_a_conversation_is_read(server: ModelServer, gem: Any) -> None:
    server.enqueue(Reply([Text("ok")]))
    failing = {"function_response": {"name": "bash", "id": "c2", "response": {"error": "no"}}}
    both = called("bash")
    both["parts"].append({"function_call": {"name": "bash", "args": {}, "id": "c2"}})
    results = returned("bash")
    results["parts"].append(failing)
    history = [user("list", "all"), both, results]
    await streamed(gem, history, system_instruction="be brief", tools=[TOOL])
    (call,) = server.calls
    assert (call.protocol, call.text, call.round) == ("gemini", "list\nall", 2)
    assert call.path == "/v1beta/models/m:streamGenerateContent"
    assert (call.conversation.system, call.conversation.model) == ("be brief", "m")
    assert [(r.tool, r.text, r.is_error) for r in call.conversation.results] == [
        ("bash", "bash ok", False),
        ("bash", "no", True),
    ]
    assert [offer.name for offer in call.conversation.tools] == ["bash"]


async def test_the_directive_and_the_persona(server: ModelServer, gem: Any) -> None:
    said = user('[[text=2 tools=1 parallel=2 input={"x":"$round $call"}]]')
    (first,) = await whole(gem, [said], tools=[TOOL])
    calls = [part.function_call for part in first.candidates[0].content.parts]
    assert [call.args for call in calls] == [{"x": "1 1"}, {"x": "1 2"}]
    (done,) = await whole(gem, [said, first.candidates[0].content, returned("bash", "bash")], tools=[TOOL])
    assert done.text == "w000001 w000002 "
    server.rate = None
    (persona,) = await whole(gem, "think")
    assert [bool(part.thought) for part in persona.candidates[0].content.parts] == [True, False]
    assert server.calls[-1].answered_by == "demo"


async def test_the_models_are_listed(server: ModelServer, gem: Any) -> None:
    server.models = ["alpha", "beta"]
    assert [model.name async for model in await gem.list()] == ["models/alpha", "models/beta"]


async def test_other_methods_are_not_there(raw: Any) -> None:
    assert (await raw.call("/v1beta/models/m:embedContent", {})).status == 404
    assert (await raw.call("/v1beta/models/m:generateContent", method="GET")).status == 405
