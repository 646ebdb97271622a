"""`web_search` against engines that speak the real formats."""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from typing import Any

import pytest

from aster.contracts.tools import OutcomeClass
from aster.infra.settings import Settings
from aster.testing import ModelServer, Reply, Text, ToolCall
from aster.utility_directory.web_search import WebSearch
from tests.live import live
from tests.utility_directory.conftest import Bench
from tests.web_server import Asked, WebServer, reply, web_server

BRAVE = {
    "type": "search",
    "query": {"original": "aster", "more_results_available": True},
    "mixed": {"type": "mixed", "main": [{"type": "web", "index": 0, "all": False}]},
    "web": {
        "type": "search",
        "family_friendly": True,
        "results": [
            {
                "title": "Asters &amp; <strong>more</strong>",
                "url": "https://flowers.example/aster",
                "is_source_local": False,
                "description": "A <strong>flower</strong> of autumn.\u200b",
                "page_age": "2024-05-01T10:00:00",
                "profile": {"name": "Flowers", "long_name": "flowers.example"},
                "language": "en",
                "meta_url": {"scheme": "https", "hostname": "flowers.example"},
                "age": "May 1, 2024",
            },
            {"title": "Bad", "url": "javascript:alert(1)", "description": "x"},
            {"title": "Second", "url": "https://second.example/", "description": None},
        ],
    },
}
TAVILY = {
    "query": "aster",
    "follow_up_questions": None,
    "answer": None,
    "images": [],
    "results": [
        {
            "title": "From Tavily",
            "url": "https://tavily.example/a",
            "content": "Content of it.",
            "score": 0.98,
            "raw_content": None,
            "published_date": "Wed, 01 May 2024 10:00:00 GMT",
        }
    ],
    "response_time": 1.2,
    "request_id": "x",
}


@pytest.fixture
async def model() -> AsyncIterator[ModelServer]:
    async with ModelServer() as server:
        yield server


class Engines:
    """Both engines, answering as told."""

    brave: WebServer
    tavily: WebServer

    def __init__(self, brave: Callable[[Asked], bytes], tavily: Callable[[Asked], bytes]) -> None:
        self._answers = (brave, tavily)
        self._open = AsyncExitStack()

    async def __aenter__(self) -> "Engines":
        self.brave, self.tavily = [await self._open.enter_async_context(web_server(one)) for one in self._answers]
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._open.aclose()

    async def search(self, model: ModelServer, *keys: str, **call: Any) -> dict[str, Any]:
        settings: dict[str, Any] = {"brave_base_url": self.brave.url, "tavily_base_url": f"{self.tavily.url}/"}
        settings |= {f"{name}_api_key": f"key-of-{name}" for name in keys}
        model.enqueue(Reply([ToolCall("web_search", {"query": "aster flower", **call})]), Reply([Text("done")]))
        async with live(model, **settings) as engine:
            frames = await engine.execute("go")
        return next(frame.data for frame in frames if frame.event == "tool_result")


def said(answer: Any) -> Callable[[Asked], bytes]:
    return lambda asked: reply(json.dumps(answer), "application/json")


def fails(status: int, **headers: str) -> Callable[[Asked], bytes]:
    return lambda asked: reply('{"error": {"code": "X"}}', "application/json", status, **headers)


async def test_brave_is_asked_first(model: ModelServer) -> None:
    async with Engines(said(BRAVE), said(TAVILY)) as engines:
        result = await engines.search(model, "brave", "tavily", count=5)
    asked = engines.brave.asked[0]
    assert asked.target.startswith("/res/v1/web/search?q=aster+flower&count=5")
    assert asked.headers["x-subscription-token"] == "key-of-brave"
    assert engines.tavily.asked == []
    assert result["data"]["results"] == [
        {
            "title": "Asters & more",
            "url": "https://flowers.example/aster",
            "snippet": "A flower of autumn.",
            "published_at": "2024-05-01T10:00:00",
        },
        {"title": "Second", "url": "https://second.example/", "snippet": "", "published_at": None},
    ]
    assert result["output"].startswith("1. Asters & more (2024-05-01T10:00:00)\n   https://flowers.example/aster")


@pytest.mark.parametrize(
    "brave", [fails(429, Retry_After="60"), fails(422), fails(500), lambda asked: b"", said([])]
)
async def test_tavily_is_asked_when_brave_fails(model: ModelServer, brave: Callable[[Asked], bytes]) -> None:
    async with Engines(brave, said(TAVILY)) as engines:
        result = await engines.search(model, "brave", "tavily")
    asked = engines.tavily.asked[0]
    assert (asked.method, asked.target) == ("POST", "/search")
    assert asked.headers["authorization"] == "Bearer key-of-tavily"
    assert json.loads(asked.body) == {"query": "aster flower", "max_results": 10}
    assert result["data"]["engine"] == "Tavily"
    assert result["data"]["results"][0]["published_at"] == "2024-05-01T10:00:00+00:00"


async def test_tavily_alone_is_enough(model: ModelServer) -> None:
    async with Engines(fails(500), said(TAVILY)) as engines:
        result = await engines.search(model, "tavily")
    assert engines.brave.asked == []
    assert "From Tavily" in result["output"]


async def test_without_a_key_the_model_is_told_what_is_missing(model: ModelServer) -> None:
    async with Engines(said(BRAVE), said(TAVILY)) as engines:
        result = await engines.search(model)
    assert result["error"] == "not_configured"
    assert "BRAVE_API_KEY" in result["output"]
    assert "TAVILY_API_KEY" in result["output"]


@pytest.mark.parametrize(
    ("brave", "tavily", "reason"),
    [(401, 403, "unauthorized"), (422, 432, "http_status"), (403, 432, "unauthorized")],
)
async def test_a_refused_key_is_final(model: ModelServer, brave: int, tavily: int, reason: str) -> None:
    async with Engines(fails(brave), fails(tavily)) as engines:
        result = await engines.search(model, "brave", "tavily")
    assert result["error"] == reason
    assert "key-of" not in result["output"]
    assert len(engines.brave.asked) == len(engines.tavily.asked) == 1


async def test_a_limit_may_pass(model: ModelServer, bench: Bench) -> None:
    async with Engines(fails(429, Retry_After="60"), fails(500)) as engines:
        result = await engines.search(model, "brave")
        settings = {"brave_base_url": engines.brave.url, "brave_api_key": "key-of-brave"}
        outcome = await WebSearch(Settings.model_validate(settings)).run({"query": "x"}, bench.context)
    assert (result["error"], result["data"]["failures"]) == (
        "http_status",
        [{"reason": "http_status", "status": 429}],
    )
    assert (outcome.failure, outcome.retry_safe, outcome.retry_after) == (OutcomeClass.RETRYABLE, True, 60.0)


async def test_nothing_found(model: ModelServer) -> None:
    async with Engines(said({"type": "search"}), said(TAVILY)) as engines:
        result = await engines.search(model, "brave")
    assert "No results" in result["output"]
    assert result["data"]["results"] == []
