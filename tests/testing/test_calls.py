"""The record of what was asked."""

import asyncio
from typing import Any

import pytest
from anthropic import AsyncAnthropic
from openai import AsyncOpenAI

from aster.testing import ModelServer, Reply, Text


async def test_a_call_is_recorded_as_it_came(server: ModelServer, claude: AsyncAnthropic, gpt: AsyncOpenAI) -> None:
    server.enqueue(*[Reply([Text("a")])] * 2)
    await claude.messages.create(model="m1", max_tokens=7, messages=[{"role": "user", "content": "hi"}])
    await gpt.chat.completions.create(model="m2", messages=[{"role": "user", "content": "ho"}])
    first, second = server.calls
    assert (first.protocol, first.path) == ("anthropic", "/v1/messages")
    assert "test-key" in first.headers["authorization"]
    assert first.body["max_tokens"] == 7
    assert (second.protocol, second.path) == ("openai", "/v1/chat/completions")
    assert second.headers["authorization"] == "Bearer test-key"
    assert second.text == "ho"
    assert first.ended is not None
    assert first.ended <= second.arrived
    assert (first.status, first.disconnected) == (200, False)


async def test_waiting_for_calls(server: ModelServer, raw: Any) -> None:
    server.enqueue(*[Reply([Text("a")])] * 2)
    waiting = asyncio.create_task(server.wait_calls(2, ended=True))
    await raw.anthropic("one")
    assert not waiting.done()
    await raw.anthropic("two")
    assert [call.text for call in await waiting] == ["one", "two"]


async def test_waiting_in_vain(server: ModelServer) -> None:
    with pytest.raises(TimeoutError, match="for 1 calls: 0 arrived, 0 ended"):
        await server.wait_calls(1, timeout=0.01)


async def test_only_the_newest_are_kept(raw: Any, server: ModelServer) -> None:
    async with ModelServer(keep=2) as small:
        raw._server = small
        for number in range(5):
            await raw.anthropic(f"{number} [[text=1]]")
        assert [call.text[0] for call in await small.wait_calls(5)] == ["3", "4"]


async def test_a_request_that_cannot_be_read_is_recorded_too(server: ModelServer, raw: Any) -> None:
    for body in (
        b"{",
        b"[]",
        b'{"model":"m","messages":[]}',
        b'{"model":"m","max_tokens":1,"messages":[{"role":1}]}',
    ):
        answer = await raw.call("/v1/messages", body)
        assert answer.status == 400
        assert answer.json["error"]["type"] == "invalid_request_error"
    assert len(server.calls) == 4
    assert {call.status for call in server.calls} == {400}
