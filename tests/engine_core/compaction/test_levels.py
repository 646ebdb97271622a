"""Levels one to three: long and old is shortened to its telling parts, nothing goes."""

import pytest

from aster.contracts.blocks import ThinkingBlock, ToolUseBlock
from aster.contracts.messages import Message
from aster.engine_core.compaction.levels import TAILS, shortened
from tests.engine_core.compaction.made import bare, calls, kept, model, person, results, shown, step, whole

LINES = "\n".join([*(f"row {number} of the table" for number in range(60)), "3 tests failed", *["and more"] * 60])
TALK = [
    person("the task", "msg-first"),
    *step("c1", LINES),
    model("long words " * 400),
    person("more words " * 300, "msg-long"),
    *step("c2", "small"),
]
TAIL = [person(f"later {number}", f"msg-{number}") for number in range(6)]


def short(level: int, spared: frozenset[str] = frozenset()) -> list[Message]:
    return shortened(kept([*TALK, *TAIL]), level, spared)


def test_level_one_keeps_the_ends_and_the_telling_lines_of_results() -> None:
    messages = short(1)
    text = shown(messages[2])
    assert text.startswith("row 0 of the table\nrow 1 of the table\nrow 2")
    assert "3 tests failed" in text
    assert "lines compressed, whole in artifact:transcript from line" in text
    assert text.endswith("and more\nand more\nand more")
    assert len(text) < 0.8 * len(LINES)
    assert [bare(item) for item in (*messages[:2], *messages[3:])] == [
        bare(item) for item in (*TALK[:2], *TALK[3:], *TAIL)
    ]


def test_level_two_shortens_what_the_model_said_too() -> None:
    messages = short(2)
    assert "chars compressed" in shown(messages[3])
    assert len(shown(messages[3])) < 1000
    assert bare(messages[4]) == TALK[4]


def test_level_three_shortens_the_person_too_but_not_what_is_spared() -> None:
    assert shown(short(3)[4]).endswith(f"line {short(3)[4].archived}]")
    assert len(shown(short(3)[4])) < 700
    assert bare(short(3, frozenset({"msg-long"}))[4]) == TALK[4]


@pytest.mark.parametrize("level", [1, 2, 3])
def test_nothing_goes_and_the_tail_is_intact(level: int) -> None:
    talk = [*TALK, *(item for at in range(4) for item in step(f"t{at}", LINES))]
    messages = shortened(kept(talk), level, frozenset())
    assert len(messages) == len(talk)
    assert whole(messages)
    assert [bare(item) for item in messages[-TAILS[level] :]] == talk[-TAILS[level] :]


def test_old_thoughts_go_and_new_ones_with_their_marks_stay() -> None:
    thought = ThinkingBlock(text="hm", signature="signed")
    call = ToolUseBlock(id="c", name="bash", input={})
    thinking = Message(role="assistant", content=(thought, call))
    talk = [person("go"), thinking, results(("c", "ok")), *TAIL, thinking, results(("c", "ok"))]
    messages = shortened(kept(talk), 3, frozenset())
    assert messages[1].content == (call,)
    assert messages[-2].content == (thought, call)


def test_a_message_of_thoughts_alone_is_not_emptied() -> None:
    silent = Message(role="assistant", content=(ThinkingBlock(text="hm", signature="signed"),))
    assert shortened(kept([person("go"), silent, *TAIL]), 3, frozenset())[1].content == silent.content


def test_long_arguments_of_old_calls_are_shortened() -> None:
    write = calls("w", tool="write_file", path="a.txt", content="x" * 9000)
    messages = shortened(kept([person("go"), write, results(("w", "ok")), *TAIL, model("so")]), 2, frozenset())
    block = messages[1].content[0]
    assert isinstance(block, ToolUseBlock)
    assert block.input["path"] == "a.txt"
    assert len(block.input["content"]) < 1000


def test_what_the_model_has_not_answered_yet_is_never_shortened() -> None:
    thought = ThinkingBlock(text="hm", signature="signed")
    call = Message(role="assistant", content=(thought, ToolUseBlock(id="c", name="bash", input={})))
    talk = [person("go"), call, results(("c", LINES)), *TAIL]
    assert [bare(item) for item in shortened(kept(talk), 3, frozenset())] == talk
