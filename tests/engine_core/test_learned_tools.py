"""An endpoint without tools of its own is found out by its refusal: the turn goes on, and it is asked only once."""

from typing import Any

import pytest

from aster.testing import Failure, ModelServer, RecordedCall, Reply, Rule, Text
from tests.engine_core.frames import events, last
from tests.engine_core.test_observations import noted
from tests.live import Live, live, text_of

CALL = '<tool_call>{"name": "glob", "arguments": {"pattern": "*"}}</tool_call>'
JINJA = Failure(500, message="tools param requires --jinja flag")
VLLM = Failure(
    400, message='"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'
)


def playing(refusal: Failure, *replies: Any) -> ModelServer:
    """An endpoint that refuses whoever offers it tools, and then answers in order."""
    left = list(replies)

    def answer(_: RecordedCall) -> Any:
        return left.pop(0)

    return ModelServer([Rule(refusal, offers="glob"), answer])


def offered(server: ModelServer) -> list[bool]:
    return ["tools" in call.body for call in server.calls]


async def tools_in_health(aster: Live) -> list[str]:
    health = (await aster.http.get("/health")).json()
    return [endpoint["tools"] for endpoint in health["subsystems"]["llm"]["endpoints"]]


@pytest.mark.parametrize("refusal", [Failure(kind="no_tools"), JINJA, VLLM], ids=["ollama", "llama.cpp", "vllm"])
async def test_the_turn_goes_on_with_tools_as_text(refusal: Failure) -> None:
    async with (
        playing(refusal, Reply([Text(CALL)]), Reply([Text("done")]), Reply([Text("again")])) as server,
        live(server) as aster,
    ):
        assert await tools_in_health(aster) == ["native"]
        frames = await aster.execute("go")
        assert (last(frames)["phase"], text_of(frames)) == ("completed", "done")
        assert [data["tool"] for data in events(frames, "tool_result")] == ["glob"]
        assert events(frames, "turn_transition")[0]["reason"] == "tool_result_continuation"
        assert offered(server) == [True, False, False]
        assert await tools_in_health(aster) == ["text"]
        assert text_of(await aster.execute("more", "t2")) == "again"
        assert offered(server) == [True, False, False, False]
        assert (await noted(aster.engine.brain, "default", "text_tools")).level == "warning"


@pytest.mark.parametrize("wire", ["responses", "anthropic", "gemini"])
async def test_every_protocol_learns(wire: str) -> None:
    async with playing(Failure(kind="no_tools"), Reply([Text("done")])) as server:
        settings: dict[str, Any] = {
            "responses": {"llm_provider": "openai", "llm_base_url": server.url, "llm_openai_api": "responses"},
            "anthropic": {"llm_provider": "anthropic", "llm_base_url": server.url},
            "gemini": {"llm_provider": "gemini", "llm_base_url": server.url},
        }
        async with live(None, **settings[wire]) as aster:
            assert text_of(await aster.execute("go")) == "done"
    assert offered(server) == [True, False]


async def test_a_wrong_guess_reports_the_first_error(model: ModelServer) -> None:
    model.enqueue(Failure(kind="no_tools"), Failure(401), Reply([Text("fine")]))
    async with live(model) as aster:
        frames = await aster.execute("go")
        (error,) = events(frames, "error")
        assert "does not support tools" in error["message"]
        assert offered(model) == [True, False]
        assert await tools_in_health(aster) == ["native"]
        assert text_of(await aster.execute("again")) == "fine"
    assert offered(model) == [True, False, True]


@pytest.mark.parametrize("chosen", ["true", "false"])
async def test_what_the_operator_chose_is_kept(chosen: str) -> None:
    async with (
        playing(Failure(kind="no_tools"), Reply([Text("done")])) as server,
        live(server, llm_text_tools=chosen) as aster,
    ):
        frames = await aster.execute("go")
        assert await tools_in_health(aster) == ["native" if chosen == "false" else "text"]
    assert last(frames)["phase"] == ("errored" if chosen == "false" else "completed")
    assert len(server.calls) == 1


async def test_a_directive_plays_such_an_endpoint(model: ModelServer) -> None:
    async with live(model) as aster:
        assert text_of(await aster.execute("[[native=false text=2]]")) == "w000001 w000002 "
    assert offered(model) == [True, False]
