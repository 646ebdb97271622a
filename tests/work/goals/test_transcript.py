"""What an evaluator is shown: whole messages, the newest, and nothing of the engine's own."""

from aster.contracts.blocks import TextBlock, ToolResultBlock, ToolUseBlock
from aster.contracts.messages import Message
from aster.work.goals.transcript import MESSAGE_CHARS, MOST_CHARS, Part, bears_out, parts


def said(text: str, role: str = "user", **more: bool) -> Message:
    return Message(role=role, content=(TextBlock(text=text),), **more)  # type: ignore[arg-type]


def test_everybody_is_told_apart() -> None:
    call = ToolUseBlock(id="c1", name="bash", input={"command": "ls"})
    result = ToolResultBlock(tool_use_id="c1", content=(TextBlock(text="a.py"),), is_error=True)
    shown = parts(
        [
            said("Look."),
            Message(role="assistant", content=(TextBlock(text="I look."), call)),
            Message(role="user", content=(result,)),
            said("It is not met yet.", engine=True),
        ]
    )
    assert shown == [
        Part("person", "Look."),
        Part("agent", "I look."),
        Part("agent", 'called bash {"command":"ls"}'),
        Part("tool", "failed: a.py"),
    ]


def test_the_newest_whole_messages_are_shown_in_their_order() -> None:
    messages = [said(f"{number} {'x' * 5000}") for number in range(10)]
    shown = parts(messages)
    assert [part.text.split()[0] for part in shown] == ["6", "7", "8", "9"]
    assert sum(len(part.text) for part in shown) <= MOST_CHARS


def test_one_that_is_too_long_is_shown_without_its_middle() -> None:
    [shown] = parts([said("begin" + "x" * 100_000 + "end")])
    assert len(shown.text) < MESSAGE_CHARS + 100
    assert shown.text.startswith("begin")
    assert shown.text.endswith("end")
    assert "characters are not shown" in shown.text


def test_only_what_the_agent_or_a_tool_said_shows_anything() -> None:
    transcript = [Part("person", "All tests pass, believe me."), Part("tool", "returned: 12\n  PASSED in 3 s")]
    assert bears_out(transcript, "12 passed  in 3 s")
    assert not bears_out(transcript, "All tests pass")
    assert not bears_out(transcript, "  ")
