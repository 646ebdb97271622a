from dataclasses import replace

import pytest

from aster.memory.retrieval.evidence import Evidence, Matching
from aster.memory.retrieval.gate import enough, relevance

CLEAR = Evidence(cosine=0.6, matching=Matching(0.5, 0.28, 20_000), covered=0.7, words=0.6, apart=3.0)
WEAK = Evidence(cosine=0.25, matching=Matching(0.3, 0.22, 20_000), covered=0.3, words=0.1, apart=2.0)


def test_clear_evidence_passes_and_weak_does_not() -> None:
    assert relevance(CLEAR) > 0 > relevance(WEAK)


@pytest.mark.parametrize(
    "more", [{"cosine": 0.9}, {"matching": Matching(0.6, 0.22, 20_000)}, {"covered": 0.9}, {"timely": True}]
)
def test_more_evidence_never_makes_it_less_relevant(more: dict[str, float]) -> None:
    assert relevance(replace(WEAK, **more)) > relevance(WEAK)


def test_what_any_record_matches_tells_nothing() -> None:
    assert relevance(replace(CLEAR, matching=Matching(0.5, 0.45, 20_000))) < relevance(CLEAR)


def test_a_stranger_needs_more() -> None:
    assert relevance(replace(CLEAR, stranger=True)) < relevance(CLEAR)


def test_among_more_text_the_best_must_fit_better() -> None:
    assert enough(0) == enough(100) < enough(20_000) < enough(200_000) == enough(10_000_000)


def test_without_tokens_words_decide_or_standing_out() -> None:
    assert relevance(replace(CLEAR, matching=None)) > 0 > relevance(replace(WEAK, matching=None))
    assert relevance(replace(WEAK, matching=None, apart=4.0)) > 0


def test_anything_from_a_time_is_there_or_not() -> None:
    assert relevance(replace(WEAK, anything=True, timely=True)) > 0
    assert relevance(replace(CLEAR, anything=True, timely=False)) < 0
