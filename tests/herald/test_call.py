"""One call over real sockets: its events, its failures, and its end when nobody wants it any more."""

import asyncio
import gzip
import time
from collections.abc import AsyncIterator

import pytest

from aster.contracts.blocks import TextBlock, ThinkingBlock, ToolUseBlock
from aster.contracts.errors import ErrorCode
from aster.contracts.llm import BlockFinished, CallFinished, StopReason, StreamEvent, TextPart, TokenUsage
from aster.herald.endpoint import Endpoint, ProtocolName
from aster.herald.failure import FailureKind, HeraldError
from aster.herald.gateway import Herald
from aster.testing import (
    Cut,
    ErrorKind,
    Failure,
    Hold,
    Malformed,
    ModelServer,
    Ping,
    Reply,
    Stall,
    StreamError,
    Text,
    Thinking,
    ToolCall,
    Usage,
)
from tests.herald.asking import asking
from tests.herald.conftest import RawServer
from tests.herald.protocols.recorded import DONE, check_order, openai_chunk


@pytest.fixture(params=["anthropic", "openai_chat", "openai_responses", "gemini"])
def protocol(request: pytest.FixtureRequest) -> ProtocolName:
    return request.param


def _endpoint(server: ModelServer, protocol: ProtocolName) -> Endpoint:
    if protocol == "anthropic":
        return Endpoint.anthropic("sk-key", "scripted", server.url)
    if protocol == "gemini":
        return Endpoint.gemini("sk-key", "scripted", server.url)
    api = "responses" if protocol == "openai_responses" else "chat"
    return Endpoint.openai_compatible(server.url, "scripted", "sk-key", api)


@pytest.fixture
async def herald(server: ModelServer, protocol: ProtocolName) -> AsyncIterator[Herald]:
    herald = Herald(_endpoint(server, protocol), first_byte_timeout=5, idle_timeout=5)
    yield herald
    await herald.close()


async def _collect(herald: Herald, events: list[StreamEvent]) -> None:
    async with herald.stream(asking("Hi")) as call:
        async for batch in call:
            events += batch


async def _events(herald: Herald) -> list[StreamEvent]:
    events: list[StreamEvent] = []
    await _collect(herald, events)
    return events


async def _failure(herald: Herald) -> tuple[list[StreamEvent], HeraldError]:
    events: list[StreamEvent] = []
    with pytest.raises(HeraldError) as caught:
        await _collect(herald, events)
    return events, caught.value


async def test_an_answer(server: ModelServer, herald: Herald) -> None:
    parts = [Thinking("Let me think."), Ping(), Text("Hello, wörld!"), ToolCall("clock", {"zone": "UTC"}, id="c1")]
    server.enqueue(Reply(parts=parts, usage=Usage(input=3, output=4, cache_read=5)))
    events = await _events(herald)
    check_order(events)
    thinking, text, call = (event.block for event in events if isinstance(event, BlockFinished))
    assert isinstance(thinking, ThinkingBlock)
    assert thinking.text == "Let me think."
    assert text == TextBlock(text="Hello, wörld!")
    assert isinstance(call, ToolUseBlock)
    assert (call.id, call.name, call.input) == ("c1", "clock", {"zone": "UTC"})
    assert isinstance(events[-1], CallFinished)
    assert events[-1].stop_reason is StopReason.TOOL_USE
    assert events[-1].usage == TokenUsage(input=3, output=4, cache_read=5)


async def test_bytes_cut_anywhere(server: ModelServer, herald: Herald) -> None:
    parts = [Text("Grüße, 世界! " * 5), ToolCall("clock", {"zone": "Zürich"})]
    server.enqueue(Reply(parts=parts, fragment=1), Reply(parts=parts))
    cut, whole = await _events(herald), await _events(herald)
    text = [event.text for event in cut if isinstance(event, TextPart)]
    assert text == [event.text for event in whole if isinstance(event, TextPart)]
    assert len(cut) == len(whole)


async def test_arguments_that_are_no_object(server: ModelServer, herald: Herald) -> None:
    server.enqueue(Reply(parts=[ToolCall("clock", raw_arguments='{"zone": ', id="c1")]))
    if herald.endpoint.protocol == "gemini":  # its calls are objects or none at all
        _, error = await _failure(herald)
        assert (error.kind, error.retryable) == (FailureKind.PROVIDER, True)
        return
    (block,) = (event.block for event in await _events(herald) if isinstance(event, BlockFinished))
    assert block == ToolUseBlock(id="c1", name="clock", input={}, invalid='{"zone": ')


async def test_an_unthrottled_stream_comes_in_batches(server: ModelServer, herald: Herald) -> None:
    server.enqueue(Reply(parts=[Text("word " * 5000)]))
    batches = events = 0
    async with herald.stream(asking("Hi")) as call:
        async for batch in call:
            batches += 1
            events += len(batch)
    assert events >= 5000
    assert batches < 500


async def test_the_key_and_the_protocol_go_along(server: ModelServer, herald: Herald) -> None:
    server.enqueue(Reply(parts=[Text("a")]))
    await _events(herald)
    headers = server.calls[0].headers
    assert "sk-key" in "".join(headers.get(name, "") for name in ("x-api-key", "authorization", "x-goog-api-key"))
    assert headers["accept-encoding"] == "identity"
    assert headers["content-type"] == "application/json"
    assert ("anthropic-version" in headers) == (herald.endpoint.protocol == "anthropic")


@pytest.mark.parametrize(
    ("kind", "expected", "code"),
    [
        ("invalid_request", "bad_request", ErrorCode.LLM_PROVIDER_ERROR),
        ("context_overflow", "overflow", ErrorCode.CONTEXT_OVERFLOW),
        ("too_large", "overflow", ErrorCode.CONTEXT_OVERFLOW),
        ("authentication", "auth", ErrorCode.LLM_PROVIDER_ERROR),
        ("permission", "auth", ErrorCode.LLM_PROVIDER_ERROR),
        ("quota", "auth", ErrorCode.LLM_PROVIDER_ERROR),
        ("not_found", "bad_request", ErrorCode.LLM_PROVIDER_ERROR),
        ("rate_limit", "rate_limited", ErrorCode.LLM_RATE_LIMITED),
        ("server_error", "provider", ErrorCode.LLM_PROVIDER_ERROR),
        ("timeout", "timeout", ErrorCode.LLM_TIMEOUT),
        ("overloaded", "overloaded", ErrorCode.LLM_PROVIDER_ERROR),
    ],
)
async def test_refusals(
    server: ModelServer, herald: Herald, kind: ErrorKind, expected: str, code: ErrorCode
) -> None:
    server.enqueue(Failure(kind=kind, retry_after=2))
    events, error = await _failure(herald)
    assert events == []
    assert (error.kind, error.code, error.retry_after) == (expected, code, 2.0)
    assert herald.last_call is not None
    assert (herald.last_call.ok, herald.last_call.kind) == (False, expected)


async def test_the_wait_is_found_in_the_providers_own_headers(server: ModelServer, herald: Herald) -> None:
    server.enqueue(Failure(kind="rate_limit"))
    _, error = await _failure(herald)
    assert error.retry_after is not None
    assert 0 <= error.retry_after <= 1


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        (StreamError("overloaded"), FailureKind.OVERLOADED),
        (StreamError("server_error"), FailureKind.PROVIDER),
        (StreamError("rate_limit"), FailureKind.RATE_LIMITED),
        (Malformed(b"data: {nope\n\n"), FailureKind.PROVIDER),
        (Cut(), FailureKind.TRANSPORT),
        (Cut(reset=True), FailureKind.TRANSPORT),
    ],
)
async def test_failures_in_the_middle_come_after_what_was_said(
    server: ModelServer, herald: Herald, fault: StreamError | Malformed | Cut, expected: FailureKind
) -> None:
    server.enqueue(Reply(parts=[Text("half a sent"), fault, Text("ence")]))
    events, error = await _failure(herald)
    assert error.kind is expected
    said = "".join(event.text for event in events if isinstance(event, TextPart))
    assert said == "half a sent" or (isinstance(fault, Cut) and fault.reset and "half a sent".startswith(said))
    assert not any(isinstance(event, CallFinished) for event in events)


async def test_silence_is_a_timeout(server: ModelServer, protocol: ProtocolName) -> None:
    herald = Herald(_endpoint(server, protocol), first_byte_timeout=0.25, idle_timeout=0.2)
    server.enqueue(Reply(first_byte_delay=30), Reply(parts=[Text("some"), Stall()]))
    _, first = await _failure(herald)
    assert (first.kind, first.code) == (FailureKind.TIMEOUT, ErrorCode.LLM_TIMEOUT)
    assert "0.25 s" in first.message
    events, second = await _failure(herald)
    assert second.kind is FailureKind.TIMEOUT
    assert "0.2 s" in second.message
    assert any(isinstance(event, TextPart) for event in events)
    await herald.close()


async def test_a_server_that_is_not_there(protocol: ProtocolName) -> None:
    gone = Endpoint.openai_compatible("http://127.0.0.1:9/v1", "m")
    _, error = await _failure(Herald(gone))
    assert (error.kind, error.retryable) == (FailureKind.TRANSPORT, True)


async def test_leaving_the_stream_ends_the_call_upstream(server: ModelServer, herald: Herald) -> None:
    server.enqueue(Reply(parts=[Text("some words"), Hold()]))
    async with herald.stream(asking("Hi")) as call:
        await anext(call)
        await server.wait_held()
        left = time.monotonic()
    (recorded,) = await server.wait_calls(1, ended=True)
    assert recorded.disconnected
    assert recorded.ended is not None
    assert recorded.ended - left < 0.5
    assert herald.last_call is None


async def test_cancelling_ends_the_call_upstream(server: ModelServer, herald: Herald) -> None:
    server.enqueue(Reply(parts=[Text("some words"), Hold()]), Reply(first_byte_delay=30))
    task = asyncio.create_task(_events(herald))
    await server.wait_held()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (await server.wait_calls(1, ended=True))[0].disconnected
    waiting = asyncio.create_task(_events(herald))
    await server.wait_calls(2)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    server.enqueue(Reply(parts=[Text("still fine")]))
    assert (await _events(herald))[-1]


async def test_a_consumer_that_fails_ends_the_call_upstream(server: ModelServer, herald: Herald) -> None:
    server.enqueue(Reply(parts=[Text("some words"), Hold()]))

    async def fail() -> None:
        async with herald.stream(asking("Hi")) as call:
            await anext(call)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail()
    assert (await server.wait_calls(1, ended=True))[0].disconnected


def _http(kind: str, body: bytes, more: str = "") -> bytes:
    head = f"HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {len(body)}\r\n{more}\r\n"
    return head.encode() + body


async def _against(raw_server: RawServer, answer: bytes) -> Herald | HeraldError:
    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        await writer.drain()
        await reader.read()

    async with raw_server(handle) as url:
        herald = Herald(Endpoint.openai_compatible(url, "m", "sk-secret"))
        try:
            await herald.complete(asking("Hi"))
        except HeraldError as error:
            return error
        finally:
            await herald.close()
        return herald


async def test_connections_are_reused_after_answers_and_after_refusals(raw_server: RawServer) -> None:
    answer = _http("text/event-stream", openai_chunk({"content": "a"}, "stop") + DONE)
    answers = [answer, answer, b"HTTP/1.1 429 Slow\r\ncontent-length: 2\r\n\r\n{}", answer]
    connections = 0

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        while answers:
            head = await reader.readuntil(b"\r\n\r\n")
            await reader.readexactly(int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]))
            writer.write(answers.pop(0))

    async with raw_server(handle) as url:
        herald = Herald(Endpoint.openai_compatible(url, "m"))
        assert len(await _events(herald)) == 4
        async with herald.stream(asking("Hi")) as call:
            assert isinstance((await anext(call))[-1], CallFinished)
        assert (await _failure(herald))[1].kind is FailureKind.RATE_LIMITED
        assert len(await _events(herald)) == 4
        await herald.close()
    assert connections == 1


async def test_an_answer_whose_connection_does_not_end(raw_server: RawServer) -> None:
    body = openai_chunk({"content": "a"}, "stop") + DONE
    answer = _http("text/event-stream", body).replace(b"length: ", b"length: 9")
    started = time.monotonic()
    assert isinstance(await _against(raw_server, answer), Herald)
    assert time.monotonic() - started < 2


async def test_a_body_that_ends_properly_but_too_early(raw_server: RawServer) -> None:
    error = await _against(raw_server, _http("text/event-stream", openai_chunk({"content": "a"})))
    assert isinstance(error, HeraldError)
    assert error.kind is FailureKind.TRANSPORT


async def test_closing_herald_ends_what_is_under_way(server: ModelServer, herald: Herald) -> None:
    server.enqueue(Reply(parts=[Text("some words"), Hold()]))
    task = asyncio.create_task(_failure(herald))
    await server.wait_held()
    await herald.close()
    assert (await task)[1].kind is FailureKind.TRANSPORT


async def test_a_refused_image(raw_server: RawServer) -> None:
    body = b'{"error":{"message":"no","type":"invalid_request_error","code":"invalid_image_format"}}'
    error = await _against(raw_server, b"HTTP/1.1 400 No\r\ncontent-length: %d\r\n\r\n%s" % (len(body), body))
    assert isinstance(error, HeraldError)
    assert error.kind is FailureKind.REFUSED_MEDIA


async def test_a_page_instead_of_a_stream(raw_server: RawServer) -> None:
    error = await _against(raw_server, _http("text/html", b"<h1>Welcome</h1>"))
    assert isinstance(error, HeraldError)
    assert error.kind is FailureKind.BAD_REQUEST
    assert "LLM_BASE_URL" in error.message


async def test_a_stream_compressed_against_our_wish(raw_server: RawServer) -> None:
    body = gzip.compress(openai_chunk({"content": "a"}, "stop") + DONE)
    answered = await _against(raw_server, _http("text/event-stream", body, "content-encoding: gzip\r\n"))
    assert isinstance(answered, Herald)


async def test_a_provider_that_repeats_the_key(raw_server: RawServer) -> None:
    body = b'{"error":{"message":"bad key sk-secret","code":"invalid_api_key"}}'
    refused = b"HTTP/1.1 401 No\r\ncontent-length: %d\r\n\r\n%s" % (len(body), body)
    streamed = _http("text/event-stream", b"data: " + body + b"\n\n")
    for answer in (refused, streamed):
        error = await _against(raw_server, answer)
        assert isinstance(error, HeraldError)
        assert error.kind is FailureKind.AUTH
        assert "sk-secret" not in f"{error!r}{error.body()}{error.args}"


async def test_an_endless_error_page_is_not_read_to_its_end(raw_server: RawServer) -> None:
    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 500 Oh\r\n\r\n")
        while True:
            writer.write(b"no " * 10_000)
            await writer.drain()

    async with raw_server(handle) as url:
        herald = Herald(Endpoint.openai_compatible(url, "m"))
        _, error = await _failure(herald)
        assert error.kind is FailureKind.PROVIDER
        await herald.close()
