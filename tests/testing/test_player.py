"""When the bytes leave: the schedule, the silences, and a client that does not read."""

import asyncio
import time
from typing import Any

import pytest
from anthropic import AsyncAnthropic
from openai import AsyncOpenAI

from aster.testing import Hold, ModelServer, Reply, Stall, Text

ASK: dict[str, Any] = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]}


async def test_tokens_keep_to_the_clock(server: ModelServer, raw: Any) -> None:
    server.enqueue(Reply([Text("w " * 50)], rate=200))
    answer = await raw.anthropic("hi")
    assert [chunk.count(b'"w "') for chunk in answer.chunks].count(1) > 40  # nearly every token on its own
    (call,) = server.calls
    assert call.ended is not None
    assert call.first_sent is not None
    assert 0.245 <= call.ended - call.first_sent + 0.001 < 0.9


async def test_a_blocked_loop_does_not_make_the_rest_late(server: ModelServer, raw: Any) -> None:
    server.enqueue(Reply([Text("w " * 50)], rate=100))
    reader, writer = await raw.open()
    writer.write(raw.request("/v1/messages", raw.ask("hi")))
    await asyncio.wait_for(reader.readuntil(b'"w "'), 5)
    time.sleep(0.4)  # 40 tokens become due while nothing can be sent
    rest = await asyncio.wait_for(reader.read(), 5)
    assert rest.count(b'"w "') == 49
    (call,) = await server.wait_calls(1, ended=True)
    assert call.ended is not None
    assert call.first_sent is not None
    assert 0.48 < call.ended - call.first_sent < 0.85


async def test_the_first_byte_waits(server: ModelServer, claude: AsyncAnthropic) -> None:
    server.enqueue(Reply([Text("late")], first_byte_delay=0.05))
    await claude.messages.create(**ASK)
    (call,) = server.calls
    assert call.first_sent is not None
    assert call.first_sent - call.arrived >= 0.05


async def test_an_answer_without_a_stream_takes_as_long(server: ModelServer, gpt: AsyncOpenAI) -> None:
    server.enqueue(Reply([Text("w " * 10), Stall(0.05)], rate=100))
    await gpt.chat.completions.create(model="m", messages=[{"role": "user", "content": "hi"}])
    (call,) = server.calls
    assert call.ended is not None
    assert call.ended - call.arrived >= 0.145


async def test_the_rate_of_the_server_is_the_default(raw: Any, server: ModelServer) -> None:
    server.rate = 100
    server.enqueue(Reply([Text("w " * 10)]), Reply([Text("w " * 1000)], rate=0))
    await raw.anthropic("hi")
    await raw.anthropic("hi")
    slow, fast = [(call.ended or 0) - call.arrived for call in server.calls]
    assert slow >= 0.09
    assert fast < slow * 5


async def test_a_hold_waits_for_its_release(server: ModelServer, claude: AsyncAnthropic) -> None:
    server.enqueue(Reply([Text("before "), Hold("gate"), Text("after")]))
    async with claude.messages.stream(**ASK) as stream:
        texts = stream.text_stream
        assert await anext(texts) == "before "
        await server.wait_held("gate")
        server.release("gate")
        assert await anext(texts) == "after"


async def test_waiting_for_a_hold_that_never_comes(server: ModelServer) -> None:
    with pytest.raises(TimeoutError, match="1 streams at hold 'gate': saw 0"):
        await server.wait_held("gate", timeout=0.01)


async def test_a_reset_lets_go_and_closes_again(server: ModelServer, raw: Any) -> None:
    server.enqueue(*[Reply([Text("a "), Hold(), Text("b")])] * 2)
    first = asyncio.create_task(raw.anthropic("hi"))
    await server.wait_held()
    server.reset()
    assert (await first).complete
    second = asyncio.create_task(raw.anthropic("hi"))
    await server.wait_held()
    server.release()
    assert (await second).complete


@pytest.mark.parametrize("size", [1, 7])
async def test_bytes_may_be_cut_anywhere(server: ModelServer, raw: Any, size: int) -> None:
    reply = Reply([Text("ä€😀 \u2028 end")], fragment=size)
    server.enqueue(reply, Reply(reply.parts))
    cut, uncut = await raw.anthropic("hi"), await raw.anthropic("hi")
    assert {len(chunk) for chunk in cut.chunks[:-2]} == {size}
    assert cut.body.partition(b"content_block_start")[2] == uncut.body.partition(b"content_block_start")[2]


@pytest.mark.parametrize(("chunk", "count"), [("word", 3), ("all", 1), (2, 6), (1, 11)])
async def test_text_is_cut_as_the_reply_says(server: ModelServer, raw: Any, chunk: Any, count: int) -> None:
    server.enqueue(Reply([Text("one two thr")], chunk=chunk))
    answer = await raw.anthropic("hi")
    assert answer.body.count(b"text_delta") == count


async def test_a_client_that_does_not_read_is_waited_for(server: ModelServer, raw: Any) -> None:
    server.enqueue(Reply([Text("word " * 100_000), Hold("written")]))
    reader, writer = await raw.open()
    writer.write(raw.request("/v1/messages", raw.ask("hi")))
    with pytest.raises(TimeoutError):
        await server.wait_held("written", timeout=0.5)
    server.release("written")
    received = 0
    while data := await asyncio.wait_for(reader.read(1 << 16), 5):
        received += len(data)
    assert received > 10_000_000
    await server.wait_held("written")


async def test_an_unthrottled_stream_gives_way(server: ModelServer, raw: Any) -> None:
    server.enqueue(Reply([Text("word " * 4000)]))
    call = asyncio.create_task(raw.anthropic("hi"))
    (record,) = await server.wait_calls(1)
    turns = 0
    while record.ended is None:
        turns += 1
        await asyncio.sleep(0)
    assert turns > 20  # half a megabyte in batches of 16 kilobytes
    assert (await call).complete
