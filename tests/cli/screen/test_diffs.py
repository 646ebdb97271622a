"""What a call does to a file, as far as its input tells."""

from typing import Any

import pytest

from aster.cli.screen.diffs import DiffLine, change, read_diff


def test_an_edit_is_the_lines_that_differ() -> None:
    given = {"path": "a", "old_text": "one\ntwo\nthree", "new_text": "one\n2\nthree\nfour"}
    assert [f"{line.sign}{line.text}" for line in change("edit_file", given)] == [
        " one",
        "-two",
        "+2",
        " three",
        "+four",
    ]


def test_several_edits_stand_apart() -> None:
    edits = [{"old_text": "a", "new_text": "b"}, {"old_text": "c", "new_text": ""}]
    signs = [line.sign for line in change("edit_file", {"path": "a", "edits": edits})]
    assert signs == ["-", "+", "@", "-"]


def test_a_written_file_is_all_new_and_harmless() -> None:
    assert change("write_file", {"content": "x\x1b[2J\ny\n"}) == [DiffLine("+", "x␛[2J"), DiffLine("+", "y")]


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("bash", {"command": "ls"}),
        ("edit_file", None),
        ("edit_file", {"old_text": 1, "new_text": "x"}),
        ("edit_file", {"edits": ["nonsense", {"old_text": "x"}]}),
        ("write_file", {"content": ["x"]}),
    ],
)
def test_anything_else_is_no_change(tool: str, given: dict[str, Any] | None) -> None:
    assert change(tool, given) == []


def test_an_output_that_is_a_diff_is_read_as_one() -> None:
    output = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new\n same\n"
    assert [line.sign for line in read_diff(output)] == [" ", " ", " ", "@", "-", "+", " "]
    assert read_diff("--- a heading\n+ a list") == []
    assert read_diff("") == []
