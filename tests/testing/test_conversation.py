"""Both protocols read the same way: who said what, and what came back."""

from typing import Any

import pytest

from aster.testing import ModelServer, Reply, Result, Rule, Text

SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}}
ANTHROPIC: dict[str, Any] = {
    "model": "m",
    "max_tokens": 5,
    "system": [{"type": "text", "text": "Be"}, {"type": "text", "text": "kind."}],
    "tools": [{"name": "read", "description": "d", "input_schema": SCHEMA}],
    "messages": [
        {"role": "user", "content": "earlier"},
        {"role": "assistant", "content": "yes"},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "<memory>run away</memory>"},
                {"type": "text", "text": "look"},
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": ""}},
                {"type": "text", "text": "at this"},
            ],
        },
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hm", "signature": "x"},
                {"type": "tool_use", "id": "a", "name": "read", "input": {"path": "x"}},
                {"type": "tool_use", "id": "b", "name": "list", "input": {}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "a", "content": [{"type": "text", "text": "A"}]},
                {"type": "tool_result", "tool_use_id": "b", "content": "B", "is_error": True},
                {"type": "text", "text": "<reminder>be brief</reminder>"},
            ],
        },
    ],
}
OPENAI: dict[str, Any] = {
    "model": "m",
    "tools": [{"type": "function", "function": {"name": "read", "parameters": SCHEMA}}],
    "messages": [
        {"role": "system", "content": "Be"},
        {"role": "developer", "content": [{"type": "text", "text": "kind."}]},
        {"role": "user", "content": "earlier"},
        {"role": "assistant", "content": "yes"},
        {"role": "user", "content": "<memory>run away</memory>"},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "look"},
                {"type": "image_url", "image_url": {"url": "http://localhost/x.png"}},
                {"type": "text", "text": "at this"},
            ],
        },
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "a", "type": "function", "function": {"name": "read", "arguments": '{"path":"x"}'}},
                {"id": "b", "type": "function", "function": {"name": "list", "arguments": "{}"}},
            ],
        },
        {"role": "tool", "tool_call_id": "a", "content": "A"},
        {"role": "tool", "tool_call_id": "b", "content": "B"},
        {"role": "user", "content": "<reminder>be brief</reminder>"},
    ],
}


@pytest.fixture(autouse=True)
def scripted(server: ModelServer) -> None:
    server.script([Rule(Reply([Text("ok")]))])


@pytest.mark.parametrize(("path", "body"), [("/v1/messages", ANTHROPIC), ("/v1/chat/completions", OPENAI)])
async def test_reading(server: ModelServer, raw: Any, path: str, body: dict[str, Any]) -> None:
    assert (await raw.call(path, body)).status == 200
    (call,) = server.calls
    conversation = call.conversation
    assert call.text == "look\nat this"
    assert call.round == 2
    failed = path == "/v1/messages"  # the other protocol cannot say that a tool failed
    assert conversation.results == [Result("read", "A", is_error=False), Result("list", "B", is_error=failed)]
    assert conversation.system == "Be\nkind."
    assert [(tool.name, tool.schema) for tool in conversation.tools] == [("read", SCHEMA)]
    assert not conversation.stream


async def test_words_after_results_are_a_new_thing_said(server: ModelServer, raw: Any) -> None:
    messages = [*ANTHROPIC["messages"], {"role": "user", "content": "stop that"}]
    await raw.call("/v1/messages", {**ANTHROPIC, "messages": messages})
    assert (server.calls[0].text, server.calls[0].round) == ("stop that", 0)


async def test_context_alone_is_better_than_nothing(server: ModelServer, raw: Any) -> None:
    await raw.anthropic("<p>hello</p>")
    assert server.calls[0].text == "<p>hello</p>"


async def test_a_system_message_in_the_middle_is_no_entry(server: ModelServer, raw: Any) -> None:
    messages = [*ANTHROPIC["messages"], {"role": "system", "content": "Be quick."}]
    toolset = {"type": "mcp_toolset", "mcp_server_name": "files"}
    await raw.call("/v1/messages", {**ANTHROPIC, "messages": messages, "tools": [toolset]})
    (call,) = server.calls
    assert call.conversation.system == "Be\nkind.\nBe quick."
    assert (call.text, call.round, call.conversation.tools) == ("look\nat this", 2, [])


async def test_a_first_line_that_is_context_is_not_said(server: ModelServer, raw: Any) -> None:
    server.enqueue(Reply([Text("ok")]))
    said = "<time>Sunday 2026-11-15 17:05 UTC</time>\nrun ls"
    await raw.call("/v1/chat/completions", {"model": "m", "messages": [{"role": "user", "content": said}]})
    assert server.calls[-1].text == "run ls"
