"""Histories that the providers refuse are refused here."""

from typing import Any

import pytest

from aster.testing import ModelServer, Reply, Rule, Text

USE = {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "t", "input": {}}]}
RESULT = {"type": "tool_result", "tool_use_id": "a", "content": "r"}
TEXT = {"type": "text", "text": "and"}
HI = {"role": "user", "content": "hi"}
CALL = {
    "role": "assistant",
    "tool_calls": [{"id": "a", "type": "function", "function": {"name": "t", "arguments": "{}"}}],
}
TOOL = {"role": "tool", "tool_call_id": "a", "content": "r"}


def user(*blocks: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks)}


@pytest.mark.parametrize(
    ("messages", "words"),
    [
        ([], "at least one message is required"),
        ([HI, USE, HI], "without `tool_result` blocks immediately after: a."),
        ([HI, USE], "without `tool_result` blocks immediately after: a."),
        ([HI, USE, user(TEXT, RESULT)], "without `tool_result` blocks immediately after: a."),
        ([HI, user(RESULT)], "unexpected `tool_use_id` found in `tool_result` blocks: a."),
        ([HI, USE, user(RESULT, RESULT)], "unexpected `tool_use_id` found in `tool_result` blocks: a."),
    ],
)
async def test_anthropic(raw: Any, messages: list[Any], words: str) -> None:
    answer = await raw.call("/v1/messages", {**raw.ask(""), "messages": messages})
    assert answer.status == 400
    assert words in answer.json["error"]["message"]


@pytest.mark.parametrize(
    ("messages", "words"),
    [
        ([], "empty array"),
        ([HI, CALL, HI], "did not have response messages: a"),
        ([HI, TOOL], "must be a response to a preceeding message"),
    ],
)
async def test_openai(raw: Any, messages: list[Any], words: str) -> None:
    answer = await raw.call("/v1/chat/completions", {**raw.ask(""), "messages": messages})
    assert answer.status == 400
    assert words in answer.json["error"]["message"]


async def test_what_is_right_is_accepted(server: ModelServer, raw: Any) -> None:
    server.script([Rule(Reply([Text("fine")]))])
    image = {"type": "image", "source": {"type": "url", "url": "http://localhost/x.png"}}
    for messages in ([HI, USE, user(RESULT, TEXT)], [user(image)]):
        answer = await raw.call("/v1/messages", {**raw.ask(""), "messages": messages})
        assert answer.status == 200
    answer = await raw.call("/v1/chat/completions", {**raw.ask(""), "messages": [HI, CALL, TOOL]})
    assert answer.status == 200


async def test_a_lenient_server_takes_anything(server: ModelServer, raw: Any) -> None:
    server.strict = False
    server.script([Rule(Reply([Text("fine")]))])
    answer = await raw.call("/v1/messages", {**raw.ask(""), "messages": [HI, USE, HI]})
    assert answer.status == 200
