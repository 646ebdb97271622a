"""Markdown that stays what it was meant to be, whatever the text."""

from aster.reference.markdown import GENERATED, code, fenced, page, prose, table


def test_a_cell_stays_in_its_row() -> None:
    made = table(("a", "b"), [("one\ntwo", "x | y"), (code("z"), "")])
    assert made.splitlines() == ["| a | b |", "|---|---|", "| one two | x \\| y |", "| `z` |  |"]


def test_no_rows_no_table() -> None:
    assert table(("a",), []) == ""


def test_a_page_has_a_title_and_one_newline_at_its_end() -> None:
    assert page("T", "", "text") == f"# T\n\n{GENERATED}\n\ntext\n"


def test_prose_joins_lines_and_keeps_paragraphs() -> None:
    assert prose("One\n    line.\n\n    Two.") == "One line.\n\nTwo."
    assert prose(None) == ""


def test_a_fence_closes_after_the_text() -> None:
    assert fenced("a\n\n") == "```text\na\n```"
