"""One conversation, four wires: whatever protocol a model speaks, the thread comes out the same."""

import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from aster.testing import ModelServer, Reply, Text, Thinking, ToolCall, Usage
from tests.herald.asking import PNG
from tests.live import live

PICTURE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}
FILES = {"one.txt": "eins\n", "two.txt": "zwei — 二\n"}
CALLS = [ToolCall("read_file", {"path": name}) for name in FILES]
CONVERSATION = [
    Reply(
        [Thinking("The picture shows numbers.\n\nThe files may too."), Text("Two files, then. "), *CALLS],
        usage=Usage(input=900, output=60),
    ),
    Reply(
        [Thinking("They do."), Text("The picture shows the num")],
        stop_reason="max_tokens",
        usage=Usage(input=100, output=9, cache_read=900),
    ),
    Reply([Text("bers in the files.")], usage=Usage(input=50, output=3, cache_read=1000)),
    Reply([Text("You are welcome.")], usage=Usage(input=20, output=4, cache_read=1050)),
]

SIGNATURES = ("signature", "encrypted")
VARIES = {
    *("task_id", "turn_id", "message_id", "request_id", "parent_turn_id", "follows_turn_id", "idempotency_key"),
    *("timestamp", "duration_ms", "first_token_ms", "model", "cost_usd", "endpoint", *SIGNATURES),
}
"""Ids, times, the model with its place and price, and the provider's own marks."""


class Wire(NamedTuple):
    """A protocol: how it is configured, what its server calls it, and where it keeps thinking that goes back."""

    settings: dict[str, str]
    name: str
    returned: str | None


WIRES = {
    "anthropic": Wire({"llm_provider": "anthropic", "llm_model": "claude-sonnet-5-5"}, "anthropic", "signature"),
    "openai_chat": Wire({"llm_provider": "openai_compatible", "llm_model": "gpt-4o"}, "openai", None),
    "openai_responses": Wire(
        {"llm_provider": "openai", "llm_openai_api": "responses", "llm_model": "gpt-6-sol"},
        "responses",
        "encrypted_content",
    ),
    "gemini": Wire({"llm_provider": "gemini", "llm_model": "gemini-3.8-flash"}, "gemini", "thoughtSignature"),
}


@pytest.fixture
async def model() -> AsyncIterator[ModelServer]:
    async with ModelServer() as running:
        yield running


async def _converse(wire: Wire, model: ModelServer, place: Path) -> list[dict[str, Any]]:
    """Holds the conversation over this wire; the data of every event of its thread."""
    model.enqueue(*CONVERSATION)
    for name, text in FILES.items():
        (place / name).write_text(text)
    usual = {"llm_base_url": model.url, "allowed_roots": str(place), "token_budget_enabled": True}
    async with live(None, **usual, **wire.settings) as engine:
        await engine.execute("What is in the picture?", media=[PICTURE], super_thinking=True)
        await engine.execute("Thanks.")
        return [frame.data for frame in await engine.replay(task_id="t1", after_seq=0)]


def _contents(thread: list[dict[str, Any]]) -> list[Any]:
    """The thread without what may differ: the pieces of one block as one, results side by side in call order. What a
    call was shown differs too, by the model's window and by its signatures."""
    calls: dict[str, str] = {}
    contents: list[dict[str, Any]] = []
    for data in thread:
        if data["type"] == "context_manifest":
            continue
        event = _plain(data, calls)
        same = ("type", "block_index", "step")
        if event["type"].endswith("_delta") and contents and all(contents[-1].get(k) == event.get(k) for k in same):
            contents[-1]["text"] += event["text"]
        else:
            contents.append(event)
    for event in contents:
        event.pop("seq")
    results = iter(sorted((e for e in contents if e["type"] == "tool_result"), key=lambda e: e["tool_call_id"]))
    return [next(results) if event["type"] == "tool_result" else event for event in contents]


def _plain(value: Any, calls: dict[str, str]) -> Any:
    if isinstance(value, list):
        return [_plain(item, calls) for item in value]
    if not isinstance(value, dict):
        return value
    plain: dict[str, Any] = {}
    for key, item in value.items():
        if key in VARIES:
            continue
        if key in ("tool_call_id", "tool_use_id") or (key == "id" and value.get("type") == "tool_use"):
            plain[key] = calls.setdefault(item, f"call {len(calls) + 1}") if item else item
        elif key != "id":
            plain[key] = _plain(item, calls)
    return plain


async def test_every_protocol_gives_the_same_thread(tmp_path: Path) -> None:
    threads: dict[str, list[Any]] = {}
    for protocol, wire in WIRES.items():
        async with ModelServer() as model:
            threads[protocol] = _contents(await _converse(wire, model, tmp_path))
            assert {call.protocol for call in model.calls} == {wire.name}
    first = threads["anthropic"]
    assert [event["type"] for event in first].count("tool_result") == 2
    said = next(event for event in first if event["type"] == "user_message")
    assert [part["type"] for part in said["content"]] == ["image", "text"]
    usage = [event for event in first if event["type"] == "usage"]
    assert [event.get("cache_hit_tokens", 0) for event in usage] == [0, 900, 1000, 1050]
    assert [event["stop_reason"] for event in usage] == ["tool_use", "max_tokens", "end_turn", "end_turn"]
    assert any(event["type"] == "thinking_delta" for event in first)
    for protocol, thread in threads.items():
        assert thread == first, protocol


@pytest.mark.parametrize("protocol", WIRES)
async def test_what_was_said_goes_back_as_the_protocol_wants_it(
    model: ModelServer, protocol: str, tmp_path: Path
) -> None:
    wire = WIRES[protocol]
    thread = await _converse(wire, model, tmp_path)
    first, second, third, fourth = (repr(call.body) for call in model.calls)
    assert all(PNG in body for body in (first, second, third, fourth))
    marks = {
        block[name]
        for event in thread
        if isinstance(block := event.get("block"), dict)
        for name in SIGNATURES
        if block.get(name) and not re.match(r"rs_", block[name])
    }
    assert bool(marks) == (wire.returned is not None)
    if wire.returned is not None:
        assert wire.returned in second
        assert all(mark in fourth for mark in marks)
    results = model.calls[1].conversation.results
    assert [result.tool for result in results] == ["read_file", "read_file"]
    assert [result.is_error for result in results] == [False, False]
