"""Hints: specific to the reason, and another way after the second."""

from aster.contracts.blocks import ToolUseBlock
from aster.herald.text_tools.hints import hint, strikes_in
from aster.herald.text_tools.prompt import SKELETON
from tests.herald.asking import assistant, user

READ = ToolUseBlock(id="a", name="now", input={})
UNREAD = ToolUseBlock(id="b", name="now", input={}, invalid="<tool", hint="Write it again.")


def test_a_cut_call_is_a_matter_of_length() -> None:
    said = hint("truncated", 0, native=False)
    assert "shorter" in said
    assert not any(word in said.lower() for word in ("cdata", "heredoc", "base64", "<tool_call>"))


def test_a_missing_function_gets_the_skeleton() -> None:
    assert SKELETON in hint("no_function_tag", 0, native=False)
    assert "CDATA" in hint("malformed", 0, native=False)
    assert SKELETON not in hint("malformed", 0, native=True)


def test_the_second_in_a_row_asks_for_another_way() -> None:
    assert "another tool" not in hint("malformed", 0, native=False)
    for reason in ("truncated", "malformed", "no_function_tag"):
        assert "2. call in a row" in hint(reason, 1, native=False)


def test_strikes_are_counted_back_to_the_last_readable_call() -> None:
    assert strikes_in([]) == 0
    assert strikes_in([assistant(UNREAD), user("x"), assistant("text", UNREAD, UNREAD), user("y")]) == 3
    assert strikes_in([assistant(UNREAD), user("x"), assistant(READ), user("y"), assistant(UNREAD)]) == 1
    assert strikes_in([assistant(UNREAD), assistant(READ, UNREAD)]) == 0
