"""The provider's own count: asked where it is offered, once where it is not, and never waited for long."""

import json
from collections.abc import AsyncIterator

import pytest

from aster.herald.counting import answer, question
from aster.herald.endpoint import Endpoint
from aster.herald.gateway import Herald
from aster.herald.protocols.anthropic import AnthropicProtocol
from aster.herald.protocols.gemini import GeminiProtocol
from aster.herald.protocols.openai_chat import OpenAIChatProtocol
from aster.testing import ModelServer
from tests.herald.asking import asking, full_request
from tests.web_server import reply, web_server


@pytest.fixture
async def model() -> AsyncIterator[ModelServer]:
    async with ModelServer() as server:
        yield server


def test_anthropic_is_asked_with_what_it_counts_and_no_more() -> None:
    endpoint = Endpoint.anthropic("key")
    request = full_request("claude-haiku-4-5", thinking_budget=2048)
    asked = question("anthropic", AnthropicProtocol().encode(request, endpoint))
    assert asked is not None
    body = json.loads(asked[1])
    assert asked[0] == "/v1/messages/count_tokens"
    assert body.keys() <= {"model", "messages", "system", "tools", "thinking"}
    assert len(body["messages"]) == 3


def test_gemini_is_asked_with_the_whole_request() -> None:
    request = full_request("gemini-3.8-flash")
    asked = question("gemini", GeminiProtocol().encode(request, Endpoint.gemini("key")))
    assert asked is not None
    body = json.loads(asked[1])["generateContentRequest"]
    assert asked[0] == "/models/gemini-3.8-flash:countTokens"
    assert (body["model"], len(body["contents"])) == ("models/gemini-3.8-flash", 3)


def test_who_offers_no_count_is_not_asked() -> None:
    encoded = OpenAIChatProtocol().encode(asking("hi"), Endpoint.openai("key"))
    assert question("openai_chat", encoded) is None


def test_what_is_no_count_is_none() -> None:
    assert answer("anthropic", b'{"input_tokens": 12}') == 12
    for said in (b"", b"[]", b'{"input_tokens": "12"}', b'{"input_tokens": 0}', b'{"other": 1}', b"<html>"):
        assert answer("anthropic", said) is None


@pytest.mark.parametrize("protocol", ["anthropic", "gemini"])
async def test_over_the_wire(model: ModelServer, protocol: str) -> None:
    made = (
        Endpoint.anthropic("key", base_url=model.url)
        if protocol == "anthropic"
        else Endpoint.gemini("key", base_url=f"{model.url}/v1beta")
    )
    herald = Herald(made)
    counted = await herald.count(asking("word " * 1000, model="m"), 5.0)
    assert counted is not None
    assert counted > 1000
    assert len(model.counts) == 1
    assert not model.calls
    await herald.close()


async def test_whoever_does_not_offer_it_is_asked_once() -> None:
    async with web_server(lambda _: reply("no such page", status=404)) as web:
        herald = Herald(Endpoint.anthropic("key", base_url=web.url))
        assert await herald.count(asking("hi", model="m"), 5.0) is None
        assert await herald.count(asking("hi", model="m"), 5.0) is None
        assert [asked.target for asked in web.asked] == ["/v1/messages/count_tokens"]
        await herald.close()


async def test_nobody_there_is_no_count() -> None:
    herald = Herald(Endpoint.anthropic("key", base_url="http://127.0.0.1:9"))
    assert await herald.count(asking("hi", model="m"), 1.0) is None
    await herald.close()
