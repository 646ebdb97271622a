"""The server as a whole: its own routes, and many streams at once."""

import asyncio
import re
from typing import Any

import pytest
from anthropic import AsyncAnthropic
from openai import AsyncOpenAI

from aster.testing import Hold, ModelServer, Reply, Rule, Script, Text


async def test_health_counts(server: ModelServer, raw: Any) -> None:
    server.enqueue(Reply([Text("a"), Hold()]))
    held = asyncio.create_task(raw.anthropic("hi"))
    await server.wait_held()
    health = await raw.call("/health", method="GET")
    assert health.json == {"status": "ok", "calls": 1, "active": 1}
    await raw.call("/_release?name=hold")
    assert (await held).complete


async def test_a_reset_forgets_calls_that_are_not_over(server: ModelServer, raw: Any) -> None:
    server.enqueue(Reply([Text("a"), Hold()]))
    held = asyncio.create_task(raw.anthropic("hi"))
    await server.wait_held()
    await raw.call("/_reset")
    assert (await held).complete
    health = await raw.call("/health", method="GET")
    assert health.json == {"status": "ok", "calls": 0, "active": 0}


@pytest.mark.parametrize(
    ("method", "path", "status"), [("GET", "/nope", 404), ("GET", "/v1/messages", 405), ("POST", "/health", 405)]
)
async def test_unknown_routes(raw: Any, method: str, path: str, status: int) -> None:
    assert (await raw.call(path, method=method)).status == status


async def test_the_script_is_replaced_at_run_time(server: ModelServer, raw: Any) -> None:
    script = Script([Rule(Reply([Text("new")]))], queue=[Reply([Text("queued")])], rate=500)
    answer = await raw.call("/_script", script.dump())
    assert (answer.status, answer.json) == (200, {"rules": 1, "queue": 1})
    assert server.rate == 500
    assert b'"queued"' in (await raw.anthropic("hi")).body
    assert b'"new"' in (await raw.anthropic("hi")).body
    refused = await raw.call("/_script", b'{"rules": 1}')
    assert refused.status == 400
    assert "rules" in refused.json["error"]
    assert b'"new"' in (await raw.anthropic("hi")).body


async def test_calls_are_listed_and_forgotten(raw: Any) -> None:
    await raw.anthropic("hi [[text=1]]", model="some-model")
    (call,) = (await raw.call("/_calls", method="GET")).json
    assert call["body"]["model"] == "some-model"
    assert (call["text"], call["round"], call["answered_by"]) == ("hi [[text=1]]", 0, "directive")
    assert call["arrived"] <= call["first_sent"] <= call["ended"]
    await raw.call("/_reset")
    assert (await raw.call("/_calls", method="GET")).json == []


async def test_many_streams_at_once(server: ModelServer, claude: AsyncAnthropic, gpt: AsyncOpenAI) -> None:
    words = "".join(f"w{number:06d} " for number in range(1, 41))

    async def with_claude() -> str:
        async with claude.messages.stream(
            model="m", max_tokens=99, messages=[{"role": "user", "content": "[[text=40 rate=100]]"}]
        ) as stream:
            return "".join([text async for text in stream.text_stream])

    async def with_gpt() -> str:
        stream = await gpt.chat.completions.create(
            model="m", messages=[{"role": "user", "content": "[[text=40 rate=100]]"}], stream=True
        )
        return "".join([chunk.choices[0].delta.content or "" async for chunk in stream])

    answers = await asyncio.gather(*(with_claude() if n % 2 else with_gpt() for n in range(64)))
    assert answers == [words] * 64
    assert all(call.ended and not call.disconnected for call in server.calls)


async def test_a_fixed_port_can_be_taken_again(server: ModelServer) -> None:
    port = server.port
    await server.stop()
    await server.stop()
    async with ModelServer(port=port) as second:
        assert second.url == f"http://127.0.0.1:{port}"


async def test_replies_may_carry_headers(server: ModelServer, raw: Any) -> None:
    server.enqueue(Reply([Text("a")], headers={"anthropic-ratelimit-requests-remaining": "3"}))
    answer = await raw.anthropic("hi")
    assert b"anthropic-ratelimit-requests-remaining: 3" in answer.head
    assert re.search(rb"request-id: req_\w+", answer.head)
