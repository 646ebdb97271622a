"""A block is settled when nothing that follows can change it."""

import pytest

from aster.cli.screen.blocks import settled


@pytest.mark.parametrize(
    ("whole", "open_rest"),
    [
        ("", "one line"),
        ("", "one\ntwo\n"),
        ("one\n\n", "two"),
        ("# head\n", "text"),
        ("", "- a\n- b\n\n- c"),
        ("1. a\n\n   more\n\n", "text"),
        ("", "```py\nx = 1\n\ny = 2\n"),
        ("```py\nx = 1\n```\n", "after"),
        ("a\n\n| x | y |\n|---|---|\n| 1 | 2 |\n\n", "z"),
        ("a\n\nb\n\n", "c"),
    ],
)
def test_only_whole_blocks_are_settled(whole: str, open_rest: str) -> None:
    assert settled(whole + open_rest) == len(whole)


def test_settling_piece_by_piece_loses_nothing() -> None:
    text = "# Head\n\nA *paragraph*.\n\n- one\n- two\n\n```\ncode\n\nmore\n```\nThe end."
    out, rest = "", ""
    for character in text:
        rest += character
        size = settled(rest)
        out, rest = out + rest[:size], rest[size:]
    assert out + rest == text
    assert rest == "The end."
