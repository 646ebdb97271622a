"""Tools for models that have none of their own: asked for in the prompt, called in text, never shown as text."""

import json

import pytest

from aster.testing import ModelServer, Reply, Text
from tests.engine_core.frames import blocks, events, last
from tests.live import live, text_of

CALL = '<tool_call>{"name": "write_file", "arguments": {"path": "a.txt", "content": "x < y && z"}}</tool_call>'
READ = "<tool_call><function=read_file><parameter=path>\na.txt\n</parameter></function></tool_call>"


@pytest.mark.parametrize("fragment", [1, 7, None], ids=["byte by byte", "in sevens", "whole"])
async def test_calls_in_text_run_like_any_other(model: ModelServer, fragment: int | None) -> None:
    model.enqueue(
        Reply([Text(f"I write it. {CALL}")], fragment=fragment),
        Reply([Text(READ)], fragment=fragment),
        Reply([Text("It says x < y && z.")], fragment=fragment),
    )
    async with live(model, llm_text_tools="true", sandbox="auto") as engine:
        frames = await engine.execute("go")
    assert last(frames)["phase"] == "completed"
    results = [(data["tool"], data.get("error")) for data in events(frames, "tool_result")]
    assert results == [("write_file", None), ("read_file", None)]
    assert events(frames, "tool_result")[1]["output"] == "x < y && z"
    assert "tool_call" not in text_of(frames)
    assert text_of(frames).startswith("I write it.")
    assert [block["name"] for block in blocks(frames, "tool_use")] == ["write_file", "read_file"]
    assert all("tools" not in call.body for call in model.calls)
    system = model.calls[0].body["messages"][0]["content"]
    assert "write_file" in system
    assert [call.body["messages"][0] for call in model.calls] == [model.calls[0].body["messages"][0]] * 3
    assert all(message["role"] != "tool" for message in model.calls[-1].body["messages"])
    assert "x < y && z" in json.dumps(model.calls[-1].body["messages"])


async def test_a_broken_call_gets_a_hint_and_the_turn_goes_on(model: ModelServer) -> None:
    model.enqueue(
        Reply([Text('<tool_call>{"name": "read_file", "arguments": {"path": "a.t')]),
        Reply([Text("I give up.")]),
    )
    async with live(model, llm_text_tools="true", sandbox="auto") as engine:
        frames = await engine.execute("go")
    assert last(frames)["phase"] == "completed"
    assert "<tool_call>" not in text_of(frames)
    assert len(model.calls) == 2


async def test_text_about_calls_is_only_text(model: ModelServer) -> None:
    said = 'Write `<tool_call>` around it. In JSON: {"name": "nobody", "arguments": {}}.'
    model.enqueue(Reply([Text(said)]))
    async with live(model, llm_text_tools="true", sandbox="auto") as engine:
        frames = await engine.execute("how do I call a tool?")
    assert text_of(frames) == said
    assert events(frames, "tool_call") == []
