"""What is said about a text that is not there: the difference in words, or line by line, and always soon."""

import time

import pytest

from aster.utility_directory.nearest import nearest

TABS = "class A:\n\tdef one(self):\n\t\treturn 1\n"


@pytest.mark.parametrize(
    ("old", "text", "said"),
    [
        ("class A:\n    def one(self):", TABS, "its indentation (tabs in the file, spaces in old_text)"),
        ("a\nb", "x\na  \nb\n", "white space at the ends of lines"),
        ("a  \nb", "x\na\nb\n", "white space at the ends of lines"),
        ("a\r\nb", "x\na\nb\n", "its line ends: the file has LF there"),
        ("  a\n  b", "x\n    a\n    b\n", "its indentation"),
        ("a  =  1", "x\nb a = 1 c", "white space within lines"),
        ('say "hi"', "x\nsay \u201chi\u201d\n", "characters that look alike"),
        ("caf\u00e9", "x\ncafe\u0301\n", "characters that look alike"),
    ],
)
def test_white_space_is_said_in_words(old: str, text: str, said: str) -> None:
    answer = nearest(old, text)
    start = 1 if text is TABS else 2
    assert answer.startswith(f" From line {start} on it differs only in {said}")
    there = answer.split("It is there as:\n")[1]
    assert there in text


def test_the_window_that_shares_most_lines_is_shown() -> None:
    text = "def a():\n    x = 1\n    return x\n\ndef b():\n    x = 1\n    y = 2\n    return y\n"
    answer = nearest("def b():\n    x = 2\n    y = 2\n    return y", text)
    assert answer.startswith(" The nearest text is from line 5 on (- as you gave it, + as it is there):")
    assert answer.split(":\n", 1)[1] == "  def b():\n-     x = 2\n+     x = 1\n      y = 2\n      return y"


def test_blank_lines_around_do_not_matter() -> None:
    assert "from line 2 on" in nearest("\n\nvalue = 1\nother = 2\n\n", "x\nvalue = 1\nother = 3\n")


def test_nothing_similar_is_said() -> None:
    assert "Nothing in it is similar" in nearest("%%%%", "one\ntwo\n")
    assert "nothing but white space" in nearest("  \n\t\n", "one\ntwo\n")


@pytest.mark.parametrize(
    ("old", "text"),
    [
        ("x = 2;" * 10_000, "x = 1;" * 500_000),
        ("a\nb\nc\nZ", "a\nb\nc\n" * 300_000),
        ("a\n" * 5_000 + "Z", "a\n" * 100_000),
        ("l1\nl2 changed" * 20_000, "l1\nl2\n" * 20_000),
    ],
)
def test_large_texts_take_no_time(old: str, text: str) -> None:
    started = time.process_time()
    assert len(nearest(old, text)) < 5_000
    assert time.process_time() - started < 3.0
