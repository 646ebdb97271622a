"""Positions that never move, whatever is left out between the beginning and the end."""

import pytest

from aster.utility_directory.background_spool import Piece, Spool


def filled(*texts: str, head: int = 10, tail: int = 5) -> Spool:
    spool = Spool(head, tail)
    for text in texts:
        spool.add(text)
    return spool


def read_all(spool: Spool, limit: int, position: int = 0) -> str:
    parts: list[str] = []
    more = True
    while more:
        text, position, more = spool.read(position, limit)
        parts.append(text)
    return "".join(parts)


def test_what_is_short_is_kept_whole() -> None:
    spool = filled("abc", "def")
    assert (spool.text, spool.size, spool.left_out) == ("abcdef", 6, 0)
    assert spool.read(2, 100) == Piece("cdef", 6, False)
    assert spool.read(6, 100) == Piece("", 6, False)
    spool.add("gh")
    assert spool.read(6, 100) == Piece("gh", 8, False)


def test_pages_add_up_to_the_whole() -> None:
    for limit in (1, 3, 7, 100):
        assert read_all(filled("0123456789", "abc", "d"), limit) == "0123456789abcd"


def test_of_what_is_long_the_beginning_and_the_end_are_kept() -> None:
    spool = filled("0123456789", *"abcdefghijklmnop")
    assert spool.text.startswith("0123456789\n[... ")
    assert spool.text.endswith("p")
    assert spool.size == 26
    assert spool.left_out == 26 - 10 - len(spool.text.split("...]\n")[1])
    assert read_all(spool, 4) == spool.text


def test_a_reader_who_was_left_behind_is_told_how_much_is_gone() -> None:
    spool = filled("0123456789", "abc")
    position = spool.read(0, 100).next
    position = spool.read(position, 2).next
    assert position == 12
    spool.add("d" * 50)
    text, after, more = spool.read(position, 100)
    assert "characters are left out here" in text
    assert (after, more) == (spool.size, False)


@pytest.mark.parametrize("texts", [("",), ("abc",), ("0123456789abc",), ("0123456789", "x" * 40, "yz")])
def test_what_was_kept_is_read_at_the_same_positions(texts: tuple[str, ...]) -> None:
    spool = filled(*texts)
    again = Spool.restored(spool.text, spool.left_out, head=10)
    assert (again.size, again.left_out, again.text) == (spool.size, spool.left_out, spool.text)
    for position in (0, 5, 10, spool.size - 1, spool.size, spool.size + 9):
        assert read_all(again, 3, position) == read_all(spool, 3, position)


def test_much_more_than_is_kept_costs_no_more_memory() -> None:
    spool = Spool(1000, 1000)
    for _ in range(1000):
        spool.add("x" * 997)
    assert len(spool.text) < 3100
    assert spool.size == 997_000
