"""Cutting texts: nothing is lost, nothing is too large, and cuts are made where a text has a joint."""

from hypothesis import example, given, settings
from hypothesis import strategies as st

from aster.memory.passages.chunks import CHARS, LINES, passages

LINE = st.one_of(
    st.text(max_size=60),
    st.just(""),
    st.just("    body"),
    st.just("def f():"),
    st.integers(0, 4000).map("x".__mul__),
)


@settings(max_examples=200, deadline=None)
@given(st.lists(LINE, max_size=150).map("\n".join))
@example("\x85\n0")
def test_every_line_is_in_a_passage_and_none_is_too_large(text: str) -> None:
    found = passages(text)
    lines = text.replace("\r\n", "\n").split("\n")
    covered = {number for passage in found for number in range(passage.first, passage.last + 1)}
    assert {number for number, line in enumerate(lines, 1) if line.strip()} <= covered
    for passage in found:
        assert 1 <= passage.first <= passage.last <= len(lines)
        assert passage.text.strip()
        assert len(passage.text) <= CHARS
        assert passage.text.count("\n") < LINES
        assert passage.text.split("\n")[0] in lines[passage.first - 1]
        assert passage.text.split("\n")[-1] in lines[passage.last - 1] or not lines[passage.last - 1].strip()
    assert [passage.first for passage in found] == sorted(passage.first for passage in found)


def test_a_cut_is_made_before_a_definition() -> None:
    functions = "\n\n".join(f"def function_{number}():\n" + "    work()\n" * 12 for number in range(8))
    found = passages(functions)
    assert len(found) > 2
    assert all(passage.text.startswith("def function_") for passage in found)


def test_a_text_without_joints_overlaps() -> None:
    found = passages("\n".join(f"line {number}" for number in range(100)))
    assert [(one.first, one.last) for one in found] == [(1, 40), (37, 76), (73, 100)]


def test_a_blank_text_has_none() -> None:
    assert passages("") == passages(" \n\n\t\n") == []
