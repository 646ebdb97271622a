"""HTTP as it goes over the socket, and what happens when a side of it ends."""

import asyncio
import json
from typing import Any

import pytest

from aster.testing import Cut, Hold, Malformed, ModelServer, Reply, Stall, Text, ToolCall

BOTH = pytest.mark.parametrize("path", ["/v1/messages", "/v1/chat/completions"])


@BOTH
async def test_a_cut_stream_never_ends_properly(server: ModelServer, raw: Any, path: str) -> None:
    server.enqueue(Reply([Text("sofar "), Cut(), Text("never")]))
    answer = await raw.call(path, raw.ask("hi"))
    assert answer.status == 200
    assert not answer.complete
    assert b"sofar " in answer.body
    assert b"never" not in answer.body
    (call,) = await server.wait_calls(1, ended=True)
    assert not call.disconnected


async def test_a_cut_in_the_middle_of_arguments(server: ModelServer, raw: Any) -> None:
    server.enqueue(Reply([ToolCall("bash", {"command": "echo a long command"}, midway=[Cut()])]))
    answer = await raw.anthropic("hi")
    assert not answer.complete
    assert b"comma" in answer.body
    assert b"content_block_stop" not in answer.body


async def test_a_reset_is_an_error_of_the_transport(server: ModelServer, raw: Any) -> None:
    server.enqueue(Reply([Text("sofar "), Hold(), Cut(reset=True)]))
    reader, writer = await raw.open()
    writer.write(raw.request("/v1/messages", raw.ask("hi")))
    await asyncio.wait_for(reader.readuntil(b"sofar "), 5)
    server.release()
    with pytest.raises(ConnectionResetError):
        await asyncio.wait_for(reader.read(), 5)


async def test_a_cut_answer_without_a_stream_is_shorter_than_promised(server: ModelServer, raw: Any) -> None:
    server.enqueue(Reply([Text("word " * 50), Cut()]))
    answer = await raw.anthropic("hi", stream=False)
    length = int(answer.head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
    assert 0 < len(answer.body) < length


async def test_an_endless_stall_ends_when_the_client_leaves(server: ModelServer, raw: Any) -> None:
    server.enqueue(Reply([Text("sofar "), Stall()]))
    reader, writer = await raw.open()
    writer.write(raw.request("/v1/messages", raw.ask("hi")))
    await asyncio.wait_for(reader.readuntil(b"sofar "), 5)
    assert server.calls[0].ended is None
    assert server.calls[0].first_sent is not None
    writer.close()
    (call,) = await server.wait_calls(1, ended=True)
    assert call.disconnected
    assert call.ended is not None
    assert call.first_sent is not None
    assert call.arrived <= call.first_sent <= call.ended


async def test_a_connection_is_used_again(server: ModelServer, raw: Any) -> None:
    server.enqueue(Reply([Text("one")]), Reply([Text("two")]), Reply([Text("three")]))
    reader, writer = await raw.open()
    one, two = (raw.request("/v1/messages", raw.ask("hi"), close=False) for _ in range(2))
    writer.write(one + two)  # pipelined: answered one after the other
    first = await asyncio.wait_for(reader.readuntil(b"0\r\n\r\n"), 5)
    second = await asyncio.wait_for(reader.readuntil(b"0\r\n\r\n"), 5)
    assert b'"text":"one"' in first
    assert b'"text":"two"' in second
    writer.write(raw.request("/v1/messages", raw.ask("hi")))
    last = await asyncio.wait_for(reader.read(), 5)
    assert b'"text":"three"' in last
    assert b"connection: close" in last


async def test_a_large_body_may_wait_for_permission(server: ModelServer, raw: Any) -> None:
    server.enqueue(Reply([Text("got it")]))
    body = json.dumps(raw.ask("x" * 300_000, stream=False)).encode()
    reader, writer = await raw.open()
    head = f"POST /v1/messages HTTP/1.1\r\nexpect: 100-continue\r\ncontent-length: {len(body)}\r\n\r\n"
    writer.write(head.encode())
    assert await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 5) == b"HTTP/1.1 100 Continue\r\n\r\n"
    writer.write(body)
    assert b"200 OK" in await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 5)
    assert len(server.calls[0].text) == 300_000


async def test_what_is_not_http_is_refused(raw: Any) -> None:
    reader, writer = await raw.open()
    writer.write(b"\x16\x03\x01 this is not http\r\n\r\n")
    assert (await asyncio.wait_for(reader.read(), 5)).startswith(b"HTTP/1.1 400 ")


async def test_stopping_ends_every_connection() -> None:
    async with ModelServer() as server:
        server.enqueue(Reply([Text("a "), Stall()]))
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        body = b'{"model":"m","max_tokens":1,"stream":true,"messages":[{"role":"user","content":"hi"}]}'
        writer.write(b"POST /v1/messages HTTP/1.1\r\ncontent-length: %d\r\n\r\n%s" % (len(body), body))
        await server.wait_calls(1)
        await asyncio.wait_for(reader.readuntil(b'"a "'), 5)
    assert server.calls[0].ended is not None
    assert not server.calls[0].disconnected
    with pytest.raises(ConnectionRefusedError):
        await asyncio.open_connection("127.0.0.1", server.port)
    writer.close()


async def test_malformed_bytes_spoil_an_answer_without_a_stream(server: ModelServer, raw: Any) -> None:
    server.enqueue(Reply([Text("word " * 50), Malformed(b"\xff<html>")]))
    answer = await raw.openai("hi", stream=False)
    assert answer.status == 200
    assert answer.body.endswith(b"\xff<html>")
    assert b"content-length: %d\r\n" % len(answer.body) in answer.head
    with pytest.raises(UnicodeDecodeError):
        json.loads(answer.body)


async def test_a_bug_ends_the_connection_loudly(
    server: ModelServer, raw: Any, caplog: pytest.LogCaptureFixture
) -> None:
    server.enqueue(Reply([Text("a")], headers={"x-price": "3 €"}))
    reader, writer = await raw.open()
    writer.write(raw.request("/v1/messages", raw.ask("hi")))
    assert await asyncio.wait_for(reader.read(), 5) == b""
    assert "the model server failed to answer" in caplog.text
