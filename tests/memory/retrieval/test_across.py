import pytest
from hypothesis import given
from hypothesis import strategies as st

from aster.memory.retrieval.across import fused

LISTS = st.lists(st.tuples(st.sampled_from(["a", "b", "c"]), st.lists(st.integers(0, 9), unique=True)), max_size=6)


def test_a_record_found_twice_adds_up() -> None:
    best = fused([("vector", [1, 2]), ("vector", [1])], {"vector": 1.5}, k=60)
    assert [one.id for one in best] == [1, 2]
    assert best[0].score == pytest.approx(2 * 1.5 / 61)


def test_numbers_of_different_stores_are_different_records() -> None:
    assert len(fused([("a", [1]), ("b", [1])], {})) == 2


def test_nothing_gives_nothing_and_no_store_is_ignored() -> None:
    assert fused([], {}) == ()
    assert fused([("", [1, 2])], {}) == ()


def test_a_store_that_counts_more_comes_first() -> None:
    best = fused([("lessons", [1]), ("social", [2])], {"lessons": 0.5, "social": 2.0})
    assert [one.source for one in best] == ["social", "lessons"]


@given(LISTS, st.integers(0, 5))
def test_the_order_of_the_lists_does_not_matter(lists: list[tuple[str, list[int]]], turn: int) -> None:
    mixed = [*lists[turn:], *lists[:turn]][::-1]
    assert fused(mixed, {"a": 2.0}) == fused(lists, {"a": 2.0})


@given(LISTS)
def test_one_list_keeps_its_order(lists: list[tuple[str, list[int]]]) -> None:
    for source, ids in lists:
        assert [one.id for one in fused([(source, ids)], {})] == ids
