"""Records that say nearly the same are found the same way every time, and only within one subject."""

import math
import random
import struct

from hypothesis import given
from hypothesis import strategies as st

from aster.brain.memory_records import MemoryRow
from aster.learning_centre.clusters import MOST_ALIKE, alike, fingerprint, groups
from tests.learning_centre.rows import record


def texts(found: list[list[MemoryRow]]) -> list[list[str]]:
    return [[row.fields["content"] for row in group] for group in found]


def test_near_duplicates_of_one_subject_are_a_group() -> None:
    rows = [
        record("fact", content="Anna plays chess on Monday", subject="Anna"),
        record("fact", content="Anna plays chess", subject="anna "),
        record("fact", content="Anna plays chess", subject="Ben"),
        record("fact", content="The canteen opens at 8"),
        record("episode", description="Anna plays chess"),
    ]
    assert texts(groups(rows, {})) == [["Anna plays chess on Monday", "Anna plays chess"]]


def test_the_order_in_which_records_come_does_not_matter() -> None:
    rows = [record("fact", content=f"Atlas uses Postgres {n % 3} for part {n % 4}") for n in range(12)]
    shuffled = random.Random(7).sample(rows, len(rows))
    assert groups(rows, {}) == groups(shuffled, {}) != []


def test_everybody_in_a_group_is_like_everybody_else() -> None:
    rows = [record("fact", content=text) for text in ("red tea pot", "red tea cup", "blue milk cup tea")]
    assert texts(groups(rows, {})) == [["red tea pot", "red tea cup"]]


def test_a_group_has_an_end() -> None:
    rows = [record("fact", content="The canteen opens at 8") for _ in range(MOST_ALIKE + 3)]
    assert [len(group) for group in groups(rows, {})] == [MOST_ALIKE, 3]


def test_meaning_brings_together_what_words_alone_do_not() -> None:
    one = record("fact", content="The train to Porto leaves early each day")
    other = record("fact", content="Each morning a Porto express departs")
    assert groups([one, other], {}) == []
    near, far = vector(0.1), vector(1.2)
    assert groups([one, other], {one.number: vector(0.0), other.number: near}) == [[one, other]]
    assert groups([one, other], {one.number: vector(0.0), other.number: far}) == []


def vector(angle: float) -> bytes:
    return struct.pack("<2e", math.cos(angle), math.sin(angle))


def test_a_fingerprint_is_of_the_records_and_what_they_say() -> None:
    rows = [record("fact", content="one"), record("fact", content="two")]
    assert fingerprint(rows) == fingerprint(rows[::-1]) != fingerprint(rows[:1])


@given(st.frozensets(st.text(max_size=3)), st.frozensets(st.text(max_size=3)))
def test_likeness_is_a_share(one: frozenset[str], other: frozenset[str]) -> None:
    assert 0 <= alike(one, other) == alike(other, one) <= 1
