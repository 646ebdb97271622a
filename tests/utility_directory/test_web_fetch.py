"""`web_fetch` through the engine: what the model gets back, and what it does not."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from aster.contracts.errors import EngineError
from aster.infra.settings import Settings
from aster.testing import ModelServer, Reply, Text, ToolCall
from aster.utility_directory.web_fetch import WebFetch
from tests.live import live
from tests.utility_directory.test_web_reading import pdf
from tests.web_server import Asked, reply, web_server


@pytest.fixture
async def model() -> AsyncIterator[ModelServer]:
    async with ModelServer() as server:
        yield server


async def fetched(model: ModelServer, settings: dict[str, Any], *calls: dict[str, Any]) -> list[dict[str, Any]]:
    """The results of these calls, made by the model in one step; whichever page came first."""
    asked = {f"call-{number}": call for number, call in enumerate(calls)}
    model.enqueue(
        Reply([ToolCall("web_fetch", call, id=name) for name, call in asked.items()]), Reply([Text("done")])
    )
    async with live(model, **settings) as engine:
        frames = await engine.execute("go")
    results = {frame.data["tool_call_id"]: frame.data for frame in frames if frame.event == "tool_result"}
    return [results[name] for name in asked]


OPEN = {"fetch_allowed_private": "127.0.0.1"}


async def test_a_page_comes_back_as_text(model: ModelServer) -> None:
    def answer(asked: Asked) -> bytes:
        if asked.target == "/old":
            return reply(status=301, Location="/new")
        if asked.target == "/paper":
            return reply(pdf("From a PDF"), "application/pdf")
        return reply("<title>News</title><h1>Big</h1><p hidden>EVIL</p><p>Story.</p>")

    async with web_server(answer) as server:
        page, paper = await fetched(model, OPEN, {"url": f"{server.url}/old"}, {"url": f"{server.url}/paper"})
    assert "# Big\n\nStory." in page["output"]
    assert page["output"].startswith(f"News ({server.url}/new)")
    assert "EVIL" not in page["output"]
    data = page["data"]
    assert (data["url"], data["title"], data["status"]) == (f"{server.url}/new", "News", 200)
    assert (data["truncated"], data["redirected_from"], data["hidden_elements"]) == (
        False,
        [f"{server.url}/old"],
        1,
    )
    assert "## Page 1\n\nFrom a PDF" in paper["output"]
    assert paper["data"]["pages"] == 1


async def test_a_long_page_is_read_on(model: ModelServer) -> None:
    lines = "\n".join(f"line {number}" for number in range(400))
    async with web_server(lambda asked: reply(lines, "text/plain")) as server:
        first, *_ = await fetched(model, OPEN, {"url": server.url, "max_chars": 1000})
        data = first["data"]
        assert data["truncated"]
        assert f"offset={data['next_offset']}" in first["output"]
        rest, behind = await fetched(
            model,
            OPEN,
            {"url": server.url, "offset": data["next_offset"]},
            {"url": server.url, "offset": 1_000_000},
        )
    shown = first["output"].split("\n\n", 1)[1] + rest["output"].split("\n\n", 1)[1]
    assert shown == lines
    assert not rest["data"]["truncated"]
    assert behind["error"] == "invalid_input"


async def test_inner_addresses_are_refused(model: ModelServer) -> None:
    async with web_server(lambda asked: reply("secret")) as server:
        results = await fetched(
            model, {}, {"url": server.url}, {"url": "http://169.254.169.254/"}, {"url": "file:///etc/passwd"}
        )
    assert [result["error"] for result in results] == ["address_refused"] * 3
    assert "loopback" in results[0]["output"]
    assert server.asked == []


async def test_failures_have_their_own_words(model: ModelServer) -> None:
    def answer(asked: Asked) -> bytes:
        return reply(status=404) if asked.target == "/gone" else reply(b"\x00\x01", "image/png")

    async with web_server(answer) as server:
        gone, picture = await fetched(model, OPEN, {"url": f"{server.url}/gone"}, {"url": f"{server.url}/picture"})
    assert (gone["error"], gone["data"]["status"]) == ("http_status", 404)
    assert picture["error"] == "not_readable"
    assert "image/png" in picture["output"]


def test_wrong_lists_stop_the_start() -> None:
    with pytest.raises(EngineError, match="FETCH_BLOCKED_HOSTS"):
        WebFetch(Settings.model_validate({"fetch_blocked_hosts": "not a host"}))
