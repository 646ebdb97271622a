"""A script is data: what Python builds and what a JSON file says are the same."""

import math
from typing import Any

import msgspec
import pytest

from aster.testing import (
    Cut,
    Failure,
    Hold,
    Malformed,
    ModelServer,
    Ping,
    RedactedThinking,
    Reply,
    Rule,
    Script,
    Stall,
    StreamError,
    Text,
    Thinking,
    ToolCall,
    Usage,
)

EVERYTHING = Script(
    rules=[
        Rule(
            Reply(
                [
                    Text("a"),
                    Thinking("b", "c2ln"),
                    RedactedThinking("eA=="),
                    ToolCall("t", {"a": [1, {"b": None}]}, id="toolu_1", midway=[Stall(1.5), Cut()]),
                    ToolCall("t", raw_arguments="{"),
                    Ping(),
                    Ping("comment"),
                    Stall(),
                    Hold("here"),
                    Malformed(b"\xff\x00"),
                    StreamError("overloaded", "no"),
                    Cut(reset=True),
                ],
                stop_reason="max_tokens",
                stop_sequence="END",
                usage=Usage(1, 2, 3, 4),
                first_byte_delay=0.5,
                rate=50,
                chunk=7,
                fragment=3,
                headers={"x": "y"},
            ),
            match="hello",
            round=1,
            tool="bash",
            offers="bash",
            model="^m$",
            system="you",
            chance=0.5,
            times=2,
        ),
        Rule(Failure(429, "rate_limit", "slow down", 3, {"x": "y"}, 0.1)),
    ],
    queue=[Reply([Text("first")]), Failure(500)],
    rate=60,
)


def test_a_script_survives_json() -> None:
    assert Script.load(EVERYTHING.dump()) == EVERYTHING


def test_a_script_by_hand() -> None:
    script = Script.load(
        '{"rules": [{"match": "hi", "reply": {"type": "reply", "parts": [{"type": "text", "text": "ho"}]}}]}'
    )
    assert script == Script([Rule(Reply([Text("ho")]), match="hi")])


@pytest.mark.parametrize(
    "text",
    [
        '{"rules": [{"reply": {"type": "reply"}, "mtach": "typo"}]}',
        '{"rules": [{"reply": {"type": "unknown"}}]}',
        '{"rules": [{"reply": {"type": "failure", "kind": "nonsense"}}]}',
        "[]",
        "{",
    ],
)
def test_a_mistake_is_named(text: str) -> None:
    with pytest.raises(msgspec.DecodeError):
        Script.load(text)


@pytest.mark.parametrize("parts", [[], [Text("a")], [Text("a"), Stall(math.inf)]])
def test_stop_reason_is_derived(parts: list[Any]) -> None:
    assert Reply(parts).stopped_by == "end_turn"
    assert Reply([*parts, ToolCall("t")]).stopped_by == "tool_use"
    assert Reply([*parts, ToolCall("t")], stop_reason="max_tokens").stopped_by == "max_tokens"


async def test_a_server_plays_a_loaded_script(raw: Any, server: ModelServer) -> None:
    script = Script.load(Script([Rule(Reply([Text("ho")]), match="hi")]).dump())
    server.script(script.rules, script.queue)
    assert b'"text":"ho"' in (await raw.anthropic("hi")).body
