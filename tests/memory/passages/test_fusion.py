"""Two orders become one."""

from aster.memory.passages.fusion import fuse


def test_what_is_good_in_both_is_first() -> None:
    ranked = fuse({1: 9.0, 2: 8.5, 3: 1.0}, {1: 0.1, 2: 0.8, 3: 0.9, 4: 0.2})
    assert ranked[0].passage == 2
    assert ranked[-1].passage == 4
    assert (ranked[0].bm25, ranked[0].cosine) == (8.5, 0.8)


def test_by_how_much_one_is_better_counts() -> None:
    ranked = fuse({1: 10.0, 2: 1.1, 3: 1.0}, {1: 0.50, 2: 0.51, 3: 0.52})
    assert ranked[0].passage == 1


def test_words_alone_and_nothing_at_all() -> None:
    assert [one.passage for one in fuse({5: 1.0, 3: 2.0}, {})] == [3, 5]
    assert fuse({}, {}) == []


def test_equal_scores_keep_their_order() -> None:
    assert [one.passage for one in fuse({9: 1.0, 4: 1.0, 7: 1.0}, {7: 0.3, 4: 0.3, 9: 0.3})] == [4, 7, 9]
