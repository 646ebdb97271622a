"""The persona for a first look: honest, and limited to the tools it is offered."""

from typing import Any

import pytest

from aster.testing import Conversation, ModelServer, Offer, Text, Thinking, ToolCall
from aster.testing.conversation import Answered, Call, Entry, Returned, Said
from aster.testing.demo import RATE, answer


def offer(name: str, *properties: str) -> Offer:
    return Offer(name, {"type": "object", "properties": {key: {"type": "string"} for key in properties}})


TOOLS = [
    offer("bash", "command"),
    offer("read_file", "file_path"),
    offer("write_file", "path", "content"),
    offer("ask_user", "question"),
]


def conversation(text: str, *later: Entry, tools: list[Offer] = TOOLS) -> Conversation:
    return Conversation(model="m", system="", entries=[Said(text), *later], tools=tools)


@pytest.mark.parametrize(
    ("text", "tool", "expected"),
    [
        ("run ls -la", "bash", {"command": "ls -la"}),
        ("run: ls -la", "bash", {"command": "ls -la"}),
        ("Run `echo hi`", "bash", {"command": "echo hi"}),
        ("run:\n```sh\necho a\necho b\n```", "bash", {"command": "echo a\necho b"}),
        ("read notes/a.txt", "read_file", {"file_path": "notes/a.txt"}),
        ("write a.txt: hello\nworld", "write_file", {"path": "a.txt", "content": "hello\nworld"}),
        ("ask me", "ask_user", {"question": "What is your favourite colour?"}),
        ("ask me: tea or coffee?", "ask_user", {"question": "tea or coffee?"}),
    ],
)
def test_what_it_understands(text: str, tool: str, expected: dict[str, str]) -> None:
    reply = answer(conversation(text))
    call = reply.parts[-1]
    assert isinstance(call, ToolCall)
    assert (call.name, call.input) == (tool, expected)
    assert reply.rate == RATE


def test_it_quotes_the_result() -> None:
    turn = [Answered("", [Call("c", "bash")]), Returned("c", "file with ``` in it\n")]
    (said,) = answer(conversation("run ls", *turn)).parts
    assert isinstance(said, Text)
    assert said.text.startswith("The command returned:\n\n````\nfile with ``` in it\n````")
    assert "no model configured" in said.text


def test_it_tells_a_failure_and_an_empty_result() -> None:
    called = Answered("", [Call("c", "bash")])
    (failed,) = answer(conversation("run x", called, Returned("c", "x" * 5000, is_error=True))).parts
    assert isinstance(failed, Text)
    assert failed.text.startswith("The command failed:")
    assert len(failed.text) < 2200
    (empty,) = answer(conversation("run true", called, Returned("c", "\n"))).parts
    assert isinstance(empty, Text)
    assert "*(nothing)*" in empty.text


def test_it_never_calls_what_is_not_offered() -> None:
    (said,) = answer(conversation("run ls", tools=[])).parts
    assert isinstance(said, Text)
    assert "does not offer me the `bash` tool" in said.text


def test_it_shows_thinking() -> None:
    thought, said = answer(conversation("think about it")).parts
    assert isinstance(thought, Thinking)
    assert isinstance(said, Text)


def test_it_introduces_itself_and_echoes() -> None:
    (said,) = answer(conversation("hello\nthere", tools=[offer("bash", "command")])).parts
    assert isinstance(said, Text)
    assert "No model is configured" in said.text
    assert all(name in said.text for name in ("LLM_PROVIDER", "LLM_MODEL", "LLM_API_KEY"))
    assert "> hello\n> there" in said.text
    assert "`run ls -la`" in said.text
    assert "`read" not in said.text
    (nothing,) = answer(Conversation(model="m", system="", entries=[])).parts
    assert isinstance(nothing, Text)
    assert "I heard" not in nothing.text


async def test_it_answers_when_nothing_is_scripted(server: ModelServer, raw: Any) -> None:
    server.rate = None
    body = await raw.anthropic("think")
    assert b"thinking_delta" in body.body
    assert server.calls[0].answered_by == "demo"
