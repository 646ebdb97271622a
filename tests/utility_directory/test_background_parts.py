"""What a command says is written down part by part, and what is read of the parts is what it said."""

from aster.utility_directory.background_parts import NEWEST_CHARS, Parts
from aster.utility_directory.background_spool import Spool


def test_parts_follow_each_other_and_nothing_is_written_twice() -> None:
    spool, parts = Spool(), Parts("bg_1")
    assert parts.due(spool) == []
    spool.add("one ")
    first = parts.due(spool)
    assert [(row.part, row.position, row.text) for row in first] == [(0, 0, "one ")]
    assert parts.due(spool) == []
    spool.add("two\ud800")
    second = parts.due(spool)
    assert [(row.part, row.position, row.text) for row in second] == [(1, 4, "two?")]
    read = Spool.pieced([(row.position, row.text) for row in (*first, *second)])
    assert (read.text, read.size, read.left_out) == ("one two?", 8, 0)


def test_of_very_much_the_beginning_and_the_newest_are_at_hand() -> None:
    spool, parts = Spool(head=10, tail=2 * NEWEST_CHARS), Parts("bg_1", head=10)
    spool.add("0123456789")
    spool.add("a" * NEWEST_CHARS + "b" * NEWEST_CHARS)
    rows = parts.due(spool)
    assert [(row.position, len(row.text)) for row in rows] == [(0, 10), (10 + NEWEST_CHARS, NEWEST_CHARS)]
    spool.add("c")
    (newest,) = parts.due(spool)
    assert (newest.part, newest.position) == (rows[1].part, rows[1].position + 1), "it takes the place of the last"
    read = Spool.pieced([(0, rows[0].text), (newest.position, newest.text)])
    assert read.size == spool.size
    assert read.left_out == NEWEST_CHARS + 1
    assert read.read(spool.size - 2, 10).text == "bc"
