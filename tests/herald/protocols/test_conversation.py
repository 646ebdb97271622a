"""What every provider is spared: empty text, split roles, results in the wrong place, foreign thoughts."""

from aster.contracts.blocks import TextBlock, ThinkingBlock, ToolResultBlock, ToolUseBlock
from aster.herald.protocols.conversation import normalise
from tests.herald.asking import assistant, user

_RESULT = ToolResultBlock(tool_use_id="c", content=())
_CALL = ToolUseBlock(id="c", name="clock", input={})


def test_neighbours_of_one_role_are_one_message() -> None:
    wire = normalise([user("a"), user("b"), assistant("c"), assistant(_CALL), user(_RESULT)], "m")
    assert [(m.role, len(m.blocks)) for m in wire] == [("user", 2), ("assistant", 2), ("user", 1)]


def test_tool_results_come_first() -> None:
    wire = normalise([user("before"), user(_RESULT), user("after")], "m")
    assert wire[0].blocks == [_RESULT, TextBlock(text="before"), TextBlock(text="after")]


def test_empty_text_and_empty_messages_disappear() -> None:
    wire = normalise([user("a"), assistant("", " \n"), user("", "b")], "m")
    assert [m.blocks for m in wire] == [[TextBlock(text="a"), TextBlock(text="b")]]


def test_thinking_goes_back_to_its_own_model_alone() -> None:
    mine, unknown, other = (ThinkingBlock(text="t", signature="s", model=m) for m in ("m", None, "other"))
    wire = normalise([assistant(mine, unknown, other, "said")], "m")
    assert wire[0].blocks == [mine, unknown, TextBlock(text="said")]


def test_marks_go_back_to_their_own_model_alone() -> None:
    text, call = (
        TextBlock(text="t", signature="s", model="m"),
        ToolUseBlock(id="c", name="clock", input={}, signature="s", model="m"),
    )
    assert normalise([assistant(text, call)], "m")[0].blocks == [text, call]
    assert normalise([assistant(text, call)], "other")[0].blocks == [TextBlock(text="t"), _CALL]


def test_a_message_of_thoughts_alone_is_left_out() -> None:
    assert normalise([user("a"), assistant(ThinkingBlock(text="hm", model="m")), user("b")], "m")[0].blocks == [
        TextBlock(text="a"),
        TextBlock(text="b"),
    ]


def test_the_cache_mark_follows_its_message() -> None:
    messages = [user("a"), user("b"), assistant("c", ThinkingBlock(text="t")), user("d")]
    assert [m.mark for m in normalise(messages, "m", 0)] == [None, None, None]
    assert normalise(messages, "m", 1)[0].mark == TextBlock(text="a")
    assert normalise(messages, "m", 3)[1].mark == TextBlock(text="c")
    assert normalise([user("a"), assistant("")], "m", 2)[0].mark == TextBlock(text="a")
    assert normalise([user("")], "m", 1) == []
