"""The script inside the message: what it says, and that it needs no memory."""

import json
import math
from typing import Any

import pytest

from aster.testing import Failure, ModelServer
from aster.testing.directive import Directive, numbered_words, parse

TOOLS = [{"name": "bash", "input_schema": {"type": "object"}}]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("hello", None),
        ("a wiki [[link]] is none", None),
        ("[[text=3]]", Directive(text=3)),
        ("go [[ text=3\nrate=2.5 ]] now", Directive(text=3, rate=2.5)),
        ('[[input={"a":"]] b"} tool=t]]', Directive(input={"a": "]] b"}, tool="t")),
        ("[[text=1]] [[text=2]]", Directive(text=2)),
        ('[[usage=[1,2,3,4] id="a b"]]', Directive(usage=(1, 2, 3, 4), id="a b")),
        ("[[stall=inf chunk=4]]", Directive(stall=math.inf, chunk=4)),
        ("[[chunk=all cut=reset error=overloaded]]", Directive(chunk="all", cut="reset", error="overloaded")),
    ],
)
def test_reading(text: str, expected: Directive | None) -> None:
    assert parse(text) == expected


@pytest.mark.parametrize(
    "text", ["[[text=many]]", "[[txet=3]]", "[[text=3", "[[text=3 and so on]]", "[[input={broken]]", "[[text=]]"]
)
async def test_a_mistake_is_answered_with_its_reason(raw: Any, text: str) -> None:
    answer = await raw.anthropic(text)
    assert answer.status == 400
    assert answer.json["error"]["message"].startswith("The directive cannot be read: ")


async def converse(raw: Any, path: str, text: str, rounds: int) -> list[Any]:
    """Plays the client of a whole turn: sends back a result for every call, and collects the replies."""
    openai = path.endswith("completions")
    tools: list[Any] = [{"type": "function", "function": {"name": "bash", "parameters": {}}}] if openai else TOOLS
    messages: list[Any] = [{"role": "user", "content": text}]
    replies: list[Any] = []
    for _ in range(rounds):
        body = {**raw.ask("", stream=False), "messages": messages, "tools": tools}
        reply = (await raw.call(path, body)).json
        message = reply["choices"][0]["message"] if openai else {"role": "assistant", "content": reply["content"]}
        replies.append(message)
        messages.append(message)
        if openai:
            ids = [call["id"] for call in message.get("tool_calls", [])]
            messages += [{"role": "tool", "tool_call_id": id_, "content": "ok"} for id_ in ids]
        else:
            ids = [block["id"] for block in message["content"] if block["type"] == "tool_use"]
            results = [{"type": "tool_result", "tool_use_id": id_, "content": "ok"} for id_ in ids]
            reminder = {"type": "text", "text": "<reminder>be brief</reminder>"}
            messages += [{"role": "user", "content": [*results, reminder]}] if results else []
    return replies


async def test_rounds_of_tools_then_words_with_anthropic(raw: Any) -> None:
    text = 'go [[text=3 tools=2 parallel=2 tool=bash input={"command":"echo $round $call","n":[1,"$call"]}]]'
    *rounds, last = await converse(raw, "/v1/messages", text, 3)
    inputs = [[block["input"] for block in reply["content"]] for reply in rounds]
    assert inputs == [
        [{"command": f"echo {round_} {call}", "n": [1, str(call)]} for call in (1, 2)] for round_ in (1, 2)
    ]
    assert last["content"] == [{"type": "text", "text": "w000001 w000002 w000003 "}]


async def test_rounds_of_tools_then_words_with_openai(raw: Any) -> None:
    *rounds, last = await converse(raw, "/v1/chat/completions", '[[text=2 tools=2 input={"x":"$round"}]]', 3)
    calls = [json.loads(reply["tool_calls"][0]["function"]["arguments"]) for reply in rounds]
    assert calls == [{"x": "1"}, {"x": "2"}]
    assert last["content"] == "w000001 w000002 "


async def test_a_later_message_without_a_directive_is_a_new_turn(raw: Any) -> None:
    messages = [
        {"role": "user", "content": "[[text=2]]"},
        {"role": "assistant", "content": "w000001 w000002 "},
        {"role": "user", "content": "hello"},
    ]
    answer = await raw.call("/v1/messages", {**raw.ask("", stream=False), "messages": messages})
    assert "No model is configured" in answer.json["content"][0]["text"]


async def test_without_tools_there_are_no_rounds(raw: Any) -> None:
    answer = await raw.anthropic("[[text=1 tools=3]]", stream=False)
    assert answer.json["content"] == [{"type": "text", "text": "w000001 "}]


async def test_speed_and_thought_and_counts(raw: Any, server: ModelServer) -> None:
    answer = await raw.anthropic(
        "[[text=10 thinking=2 rate=100 delay=0.05 stop=max_tokens usage=[1,2,3,4]]]", stream=False
    )
    assert [block["type"] for block in answer.json["content"]] == ["thinking", "text"]
    assert answer.json["stop_reason"] == "max_tokens"
    assert answer.json["usage"]["cache_read_input_tokens"] == 3
    assert (server.calls[0].ended or 0) - server.calls[0].arrived >= 0.16


async def test_faults_happen_in_the_middle(raw: Any, server: ModelServer) -> None:
    cut = await raw.anthropic("[[text=10 cut=close at=4]]")
    assert not cut.complete
    assert b"w000004" in cut.body
    assert b"w000005" not in cut.body
    server.release("gate")
    broken = await raw.openai("[[text=10 stall=0.01 hold=gate error=overloaded]]")
    assert b"w000005" in broken.body
    assert b"server_is_overloaded" in broken.body
    assert b"w000006" not in broken.body


async def test_a_failure(raw: Any) -> None:
    answer = await raw.openai("[[fail=429 kind=quota retry_after=2]]")
    assert answer.status == 429
    assert b"retry-after: 2" in answer.head
    assert answer.json["error"]["code"] == "insufficient_quota"
    assert Failure(429).kind is None


def test_words_are_numbered() -> None:
    assert numbered_words(9, 11) == "w000009 w000010 w000011 "
