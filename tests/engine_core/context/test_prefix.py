"""The beginning of a prompt is the same byte for byte from call to call, whatever changes meanwhile: the clock, what
memory knows, working memory, the list of steps, results of tools. Whoever puts the date on top breaks this."""

import json
from itertools import pairwise
from typing import Any

import pytest

from aster.engine_core.boundary import RECALLED
from aster.testing import ModelServer, Reply, Text, ToolCall
from tests.live import Live, live

START_MS = 1_793_000_000_000
HOUR_MS = 3_600_000
WIRES = {
    "anthropic": {"llm_provider": "anthropic", "llm_model": "claude-sonnet-5-5"},
    "openai_chat": {"llm_provider": "openai_compatible", "llm_model": "gpt-4o"},
    "openai_responses": {"llm_provider": "openai", "llm_openai_api": "responses", "llm_model": "gpt-6-sol"},
    "gemini": {"llm_provider": "gemini", "llm_model": "gemini-3.8-flash"},
}
FRAMES = ("system", "instructions", "tools", "systemInstruction")
TODO = ToolCall("todo_write", {"todos": [{"content": "look", "status": "in_progress", "activeForm": "looking"}]})
TURNS = (
    [Text("Noted.")],
    [TODO],
    [ToolCall("write_file", {"path": "a.txt", "content": "eins"})],
    [ToolCall("read_file", {"path": "a.txt"}), ToolCall("glob", {"pattern": "*"})],
    [ToolCall("memory_write", {"text": "The person's boat is called Ida."})],
    [ToolCall("working_memory_write", {"text": "a.txt says eins"})],
    [Text("Done.")],
    [Text("Ida.")],
    [ToolCall("read_file", {"path": "missing.txt"})],
    [Text("It is not there.")],
)
SAID = (
    "Good morning to you.",
    "Make a list, write a file and look at it.",
    "What is the name of my boat in the harbour of Husum?",
    "Read missing.txt.",
)


class Ticking:
    """A clock that is an hour later whenever somebody looks."""

    def __init__(self) -> None:
        self.now = START_MS

    def __call__(self) -> int:
        self.now += HOUR_MS
        return self.now


def unmarked(value: Any) -> Any:
    """Without cache marks: they say where a prefix ends, and are no part of it."""
    if isinstance(value, dict):
        return {key: unmarked(item) for key, item in value.items() if key != "cache_control"}
    return [unmarked(item) for item in value] if isinstance(value, list) else value


def frame(body: dict[str, Any]) -> bytes:
    """What stands before the conversation."""
    return json.dumps([unmarked(body[name]) for name in FRAMES if name in body]).encode()


def conversation(body: dict[str, Any]) -> list[bytes]:
    """The messages of a request, byte for byte."""
    messages = next(body[name] for name in ("messages", "input", "contents") if name in body)
    return [json.dumps(unmarked(message)).encode() for message in messages]


async def talk(engine: Live, model: ModelServer, said: tuple[str, ...] = SAID) -> list[dict[str, Any]]:
    await engine.execute("Remember that my boat Ida lies in the harbour of Husum.", "elsewhere")
    model.enqueue(*(Reply(list(parts)) for parts in TURNS))
    for message in said:
        await engine.execute(message, permission_mode="bypass")
    return [call.body for call in model.calls[1:]]


@pytest.mark.parametrize("wire", WIRES)
async def test_nothing_that_changes_moves_the_beginning_of_a_prompt(model: ModelServer, wire: str) -> None:
    asked = {**WIRES[wire], "llm_base_url": model.url, "time_zone": "UTC"}
    async with live(
        None, now=Ticking(), embeddings_provider="off", permission_bypass_allowed=True, **asked
    ) as engine:
        bodies = await talk(engine, model)
    assert len(bodies) == len(TURNS)
    assert len({frame(body) for body in bodies}) == 1
    for before, after in pairwise(bodies):
        shown, then = conversation(before), conversation(after)
        assert then[: len(shown)] == shown
        assert len(then) > len(shown)
    assert RECALLED in json.dumps(bodies[-1]), "memory had nothing to say: the test shows less than it claims"


async def test_the_time_is_told_with_each_message_and_nowhere_else(model: ModelServer) -> None:
    async with live(
        model, now=Ticking(), time_zone="UTC", embeddings_provider="off", permission_bypass_allowed=True
    ) as engine:
        bodies = await talk(engine, model)
    assert b"2026-10" not in frame(bodies[-1])
    told = [one for one in conversation(bodies[-1]) if b"<time>" in one]
    assert len(told) == len(SAID)
    assert len({one.split(b"</time>")[0] for one in told}) == len(SAID)
    assert b"<time>Monday 2026-10-26 " in told[0]


async def test_the_time_can_be_told_in_another_zone_or_not_at_all(model: ModelServer) -> None:
    async with live(model, now=lambda: START_MS, time_zone="Asia/Kolkata") as engine:
        await engine.execute("hi")
    assert model.calls[-1].body["messages"][-1]["content"] == "<time>Monday 2026-10-26 13:03 UTC+05:30</time>\nhi"
    async with live(model, time_zone="off") as engine:
        await engine.execute("hi")
    assert model.calls[-1].body["messages"][-1]["content"] == "hi"
