"""What the rest of the engine sees of Herald: whole answers, health, and no key."""

import asyncio

import httpx2
import pytest

from aster.contracts.blocks import TextBlock, ToolUseBlock
from aster.contracts.llm import LLMResponse, StopReason, TokenUsage
from aster.herald.endpoint import Endpoint
from aster.herald.failure import HeraldError
from aster.herald.gateway import Herald
from aster.herald.transport import KeepAliveTransport
from aster.testing import Failure, ModelServer, Reply, Text, ToolCall, Usage
from tests.herald.asking import asking
from tests.herald.conftest import RawServer


def _herald(server: ModelServer) -> Herald:
    return Herald(Endpoint.openai_compatible(server.url, "usual-model", "sk-key"))


async def test_complete_drains_the_stream(server: ModelServer) -> None:
    herald = _herald(server)
    server.enqueue(Reply(parts=[Text("Hi!"), ToolCall("clock", id="c")], usage=Usage(input=1, output=2)))
    assert await herald.complete(asking("Hi")) == LLMResponse(
        blocks=(TextBlock(text="Hi!"), ToolUseBlock(id="c", name="clock", input={})),
        stop_reason=StopReason.TOOL_USE,
        usage=TokenUsage(input=1, output=2),
        model="scripted",
    )
    await herald.close()


async def test_a_request_without_a_model_takes_the_endpoints(server: ModelServer) -> None:
    herald = _herald(server)
    server.enqueue(Reply(parts=[Text("a")]))
    await herald.complete(asking("Hi", model=""))
    assert server.calls[0].body["model"] == "usual-model"
    await herald.close()


async def test_the_last_call_is_remembered(server: ModelServer) -> None:
    herald = _herald(server)
    assert herald.last_call is None
    server.enqueue(Reply(parts=[Text("Hi!")]), Failure(401, message="who is sk-key?"))
    await herald.complete(asking("Hi"))
    assert herald.last_call is not None
    assert herald.last_call.ok
    with pytest.raises(HeraldError):
        await herald.complete(asking("Hi"))
    assert (herald.last_call.ok, herald.last_call.kind) == (False, "auth")
    assert "sk-key" not in repr(herald.last_call)
    assert "sk-key" not in repr(vars(herald)["endpoint"])
    await herald.close()


async def test_probe_finds_a_provider(server: ModelServer) -> None:
    for endpoint in (
        Endpoint.openai_compatible(server.url, "m"),
        Endpoint.openai_compatible(server.url, "m", api="responses"),
        Endpoint.anthropic("k", "m", server.url),
        Endpoint.gemini("k", "m", server.url),
    ):
        herald = Herald(endpoint)
        probe = await herald.probe()
        assert (probe.reachable, probe.problem) == (True, None)
        assert 0 < probe.latency_ms < 5000
        await herald.close()
    assert server.calls == []


async def test_probe_says_what_is_wrong(raw_server: RawServer) -> None:
    answers = [b"HTTP/1.1 401 No\r\n\r\n", b"HTTP/1.1 503 No\r\n\r\n", b"HTTP/1.1 404 No\r\n\r\n", b"nonsense", b""]

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answers.pop(0))

    async with raw_server(handle) as url:
        herald = Herald(Endpoint.openai_compatible(url, "m"))
        refused, busy, unknown, nonsense, silent = [await herald.probe() for _ in range(5)]
        await herald.close()
    assert refused.reachable
    assert "LLM_API_KEY" in str(refused.problem)
    assert busy.reachable
    assert "overloaded" in str(busy.problem)
    assert (unknown.reachable, unknown.problem) == (True, None)
    assert (nonsense.reachable, silent.reachable) == (False, False)
    assert nonsense.problem
    assert silent.problem


async def test_probe_finds_a_wrong_key_behind_a_bad_request(raw_server: RawServer) -> None:
    body = b'{"error":{"code":400,"status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}'

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 400 No\r\ncontent-length: %d\r\n\r\n%s" % (len(body), body))

    async with raw_server(handle) as url:
        herald = Herald(Endpoint.gemini("k", "m", url))
        probe = await herald.probe()
        await herald.close()
    assert probe.reachable
    assert "LLM_API_KEY" in str(probe.problem)


async def test_probe_never_raises_and_never_hangs(raw_server: RawServer) -> None:
    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()

    async with raw_server(handle) as url:
        herald = Herald(Endpoint.openai_compatible(url, "m"))
        probe = await herald.probe(timeout=0.05)
        assert (probe.reachable, "0.05 s" in str(probe.problem)) == (False, True)
        await herald.close()
    gone = await Herald(Endpoint.openai_compatible("http://127.0.0.1:9/v1", "m")).probe()
    assert not gone.reachable
    assert gone.problem


async def test_one_transport_serves_several_and_httpx2s_own_fits(server: ModelServer) -> None:
    for transport in (KeepAliveTransport(), httpx2.AsyncHTTPTransport(trust_env=False)):
        one = Herald(Endpoint.openai_compatible(server.url, "m"), transport=transport)
        two = Herald(Endpoint.anthropic(None, "m", server.url), transport=transport)
        server.enqueue(Reply(parts=[Text("a")]), Reply(parts=[Text("b")]))
        assert (await one.complete(asking("Hi"))).blocks == (TextBlock(text="a"),)
        assert (await two.complete(asking("Hi"))).blocks == (TextBlock(text="b"),)
        await one.close()


async def test_many_streams_at_once(server: ModelServer) -> None:
    herald = _herald(server)
    server.enqueue(*[Reply(parts=[Text("word " * 20)])] * 200)
    answers = await asyncio.gather(*(herald.complete(asking("Hi")) for _ in range(200)))
    assert {answer.blocks for answer in answers} == {(TextBlock(text="word " * 20),)}
    await herald.close()
