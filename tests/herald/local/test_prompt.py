"""What a small model is told: little, in the same bytes every time, and in the form it has to reply in."""

import json

from aster.contracts.blocks import (
    Base64Source,
    DocumentBlock,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
    text_of,
)
from aster.contracts.messages import Message
from aster.herald.local.prompt import LOCAL_PROMPT, RESULT_CHARS, affordable, instructions, plain
from aster.utility_directory.platform_registry import platform_tools
from tests.herald.asking import CLOCK, NOTE, assistant, png, user


def texts(*messages: Message, formed: bool = True) -> list[str]:
    return [text_of(message.content) for message in plain(messages, formed=formed)]


def test_the_beginning_is_short_and_the_same_every_time() -> None:
    tools = affordable(platform_tools().definitions)
    first, second = (instructions(LOCAL_PROMPT, tools) for _ in range(2))
    assert first == second
    assert len(first) < 1800
    assert {"bash", "read_file", "write_file", "edit_file", "glob", "grep", "ask_user"} <= {
        tool.name for tool in tools
    }
    for tool in tools:
        assert sum(line.startswith(f"{tool.name}(") for line in first.splitlines()) == 1


def test_examples_are_of_tools_that_are_there() -> None:
    shown = instructions("Be kind.", (CLOCK,))
    assert shown.startswith("Be kind.\n")
    assert "clock(): The time." in shown
    assert "read_file" not in shown


def test_a_conversation_goes_back_as_it_has_to_be_said() -> None:
    call = ToolUseBlock(id="c1", name="read_file", input={"path": "ä.txt"})
    result = ToolResultBlock(tool_use_id="c1", content=(TextBlock(text="heliotrope"),))
    said = texts(
        user("What is in ä.txt?"),
        assistant(ThinkingBlock(text="Let me look."), call),
        user(result),
        assistant("heliotrope"),
        user("Thanks"),
        assistant("Welcome"),
    )
    assert json.loads(said[1]) == {"about": "work", "tool": "read_file", "input": {"path": "ä.txt"}}
    assert said[2] == "Result of read_file:\nheliotrope"
    assert json.loads(said[3]) == {"about": "result", "answer": "heliotrope"}
    assert json.loads(said[5]) == {"about": "talk", "answer": "Welcome"}
    assert texts(assistant("Welcome"), formed=False) == ["Welcome"]


def test_a_failed_and_a_long_result_are_said_to_be() -> None:
    long = ToolResultBlock(tool_use_id="c9", content=(TextBlock(text="x" * 50_000),), is_error=True)
    (said,) = texts(user(long))
    assert said.startswith("Result of a tool (failed):\nxxx")
    assert "46000 characters left out" in said
    assert len(said) < RESULT_CHARS + 200


def test_what_it_cannot_see_is_said_and_text_is_read() -> None:
    note = DocumentBlock(source=Base64Source(media_type="text/markdown", data=NOTE))
    assert texts(user(png(), note, "Well?")) == ["(an attachment that this model cannot read)\n\nGrüße\n\nWell?"]
    assert texts(assistant(ThinkingBlock(text="…"))) == ["(nothing)"]
