"""Intent by word and the profiles chosen from it."""

import pytest

from aster.engine_core.intent import Intent
from aster.engine_core.sampling import (
    BALANCED,
    FACTUAL,
    FREE,
    GENERAL,
    STRICT,
    Sampling,
    choose,
)
from aster.testing import ModelServer, Reply, Text, ToolCall
from tests.live import live


@pytest.mark.parametrize(
    "text",
    ["write a python function", "Run the script", "what is in main.py?", "explain analyze this", "a SQL view"],
)
def test_coding(text: str) -> None:
    assert Intent(text).coding


@pytest.mark.parametrize(
    "text",
    [
        "hello there",
        "a prescription for my codependent friend",
        "the webinar was fixed for Tuesday",
        "2 + 2 * (3 - 1) = ?",
        "the queryable universe",
        "",
    ],
)
def test_parts_of_words_do_not_count(text: str) -> None:
    assert not Intent(text).coding


@pytest.mark.parametrize(
    ("text", "first", "profile"),
    [
        ("good morning, how are you", True, GENERAL),
        ("what is the capital of France", True, FACTUAL),
        ("what is the capital of France", False, BALANCED),
        ("search the web for cats", True, BALANCED),
        ("write code to count words", True, BALANCED),
        ("brainstorm naming for the python code we build", True, FREE),
        ("write the exact sql query for the schema", True, STRICT),
    ],
)
def test_profiles(text: str, first: bool, profile: Sampling) -> None:
    assert choose(Intent(text), first) == profile


@pytest.mark.parametrize(
    ("text", "deserved"),
    [
        ("why does this deadlock", True),
        ("fix the error in app.py", True),
        ("a race condition, and why", True),
        ("why", False),
        ("summarize why the algorithm fails", False),
        ("", False),
    ],
)
def test_thought(text: str, deserved: bool) -> None:
    assert Intent(text).deserves_thought is deserved


async def test_a_model_of_ones_own_is_sampled_by_what_is_asked(model: ModelServer) -> None:
    model.enqueue(Reply([ToolCall("glob", {"pattern": "*"})]), Reply([Text("Paris")]), Reply([Text("ok")]))
    async with live(model, llm_model="home-grown", sandbox="auto") as engine:
        await engine.execute("what is the capital of France")
        await engine.execute("write the exact sql query for the schema")
    sent = [{key: call.body.get(key) for key in ("temperature", "top_k")} for call in model.calls]
    assert sent == [
        {"temperature": 0.0, "top_k": 1},
        {"temperature": 0.6, "top_k": 20},
        {"temperature": 0.3, "top_k": 10},
    ]


async def test_a_hosted_model_keeps_its_own_sampling_and_thinks_when_it_pays(model: ModelServer) -> None:
    model.enqueue(Reply([Text("hi")]), Reply([Text("because")]))
    async with live(None, llm_provider="anthropic", llm_base_url=model.url) as engine:
        await engine.execute("hello there")
        await engine.execute("why does this deadlock, analyze it")
    quiet, thinking = (call.body for call in model.calls)
    assert "temperature" not in quiet
    assert quiet.get("thinking", {}).get("type") in (None, "disabled")
    assert "thinking" in thinking
