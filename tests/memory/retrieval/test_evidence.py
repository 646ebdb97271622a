"""What is said for the best records: which words they have, how tokens match, and which words tell nothing."""

from datetime import UTC, datetime

import numpy as np
import pytest

from aster.memory.retrieval.evidence import Judged, Matching, about_a_stranger, coverage, matched, misspelt
from aster.memory.retrieval.query import analysed
from aster.memory.retrieval.shelf import Item

NOW = datetime(2026, 3, 18, tzinfo=UTC)
ITEMS = (Item(1, "Shall we go sailing?"), Item(2, "Yes, on the lake, in June."), Item(3, "The cat sleeps."))
OFTEN = {"sail": 1, "lake": 1, "cat": 1}


def covered(
    text: str, best: list[int], previous: tuple[int, ...] = (-1, 0, -1), slips: tuple[str, ...] = ()
) -> float:
    judged = Judged(ITEMS, np.arange(3), np.array(previous), None, 0.0, np.array(best, np.int64))
    return coverage(analysed(text, ["Anna"], NOW), judged, OFTEN, 3, slips)


def test_the_words_of_a_reply_are_those_of_what_it_replies_to_as_well() -> None:
    assert covered("sailing on the lake", [1]) == pytest.approx(1.0)
    assert 0 < covered("sailing on the lake", [1], (-1, -1, -1)) < 1
    assert covered("sailing on the lake", [2]) == 0


def test_the_best_of_several_counts_and_none_covers_nothing() -> None:
    assert covered("sailing on the lake", [2, 0, 1]) == covered("sailing on the lake", [1])
    assert covered("sailing", []) == 0


def test_names_and_slips_are_no_words_that_have_to_be_there() -> None:
    assert covered("Anna, sailing, lake", [1]) == pytest.approx(1.0)
    assert covered("sailing on the laek", [1]) < 1
    assert covered("sailing on the laek", [1], slips=("laek",)) == pytest.approx(1.0)


def test_a_word_in_pieces_that_no_record_has_may_be_a_slip() -> None:
    said = ["sailing", "on", "the", "laek", "laek", "biscuit", "biscuit"]
    assert misspelt(said, {"biscuit": 2}) == {"laek"}
    assert misspelt(["pottery"], {}) == frozenset()


def test_how_tokens_match_is_told_for_the_best_and_for_all() -> None:
    def found(sure: tuple[bool, bool], times: int = 1) -> Matching:
        matches = np.tile(np.array([[0.8, 0.6], [0.2, 0.2], [0.4, 0.0]], np.float32), (times, 1))
        every = np.arange(3 * times)
        one = matched(Judged(ITEMS * times, every, every - 1, matches, 20.0, np.array([0])), np.array(sure), 30)
        assert one is not None
        return one

    assert found((True, True)).best == pytest.approx(0.7)
    assert found((True, False)).best == pytest.approx(0.8)
    assert found((False, False)) == found((True, True))
    assert 1.1 / 3 > found((True, True)).usual > 0.25
    assert found((True, True), 100).usual == pytest.approx(1.1 / 3, abs=0.01)
    assert found((True, True)).volume == 600


@pytest.mark.parametrize(
    ("text", "stranger"),
    [
        ("When did Melanie paint?", True),
        ("When did Anna paint?", False),
        ("When did Anna meet Melanie?", False),
        ("Where is Rome?", False),
        ("When did she paint?", False),
        ("Return the time as HH:MM AM/PM", False),
    ],
)
def test_a_name_nobody_mentioned_is_a_stranger(text: str, stranger: bool) -> None:
    query = analysed(text, ["Anna"], NOW)
    assert about_a_stranger(query, {"anna": 3, "rom": 1, "paint": 2}) is stranger
