from dataclasses import replace
from datetime import UTC, datetime

import pytest

from aster.memory.retrieval.gate import Evidence, about_a_stranger, enough, relevance
from aster.memory.retrieval.query import analysed

NOW = datetime(2026, 3, 18, tzinfo=UTC)
CLEAR = Evidence(cosine=0.6, tokens=0.5, words=0.6, apart=3.0)
WEAK = Evidence(cosine=0.2, tokens=0.25, words=0.1, apart=2.0)


def test_clear_evidence_passes_and_weak_does_not() -> None:
    assert relevance(CLEAR) > 0 > relevance(WEAK)


@pytest.mark.parametrize("more", [{"cosine": 0.9}, {"tokens": 0.9}, {"timely": True}])
def test_more_evidence_never_makes_it_less_relevant(more: dict[str, float]) -> None:
    assert relevance(replace(WEAK, **more)) > relevance(WEAK)


def test_a_stranger_needs_more() -> None:
    assert relevance(replace(CLEAR, stranger=True)) < relevance(CLEAR)


def test_among_more_records_the_best_must_fit_better() -> None:
    assert enough(0) == enough(10) < enough(600) < enough(5000) == enough(1_000_000)


def test_without_tokens_words_decide_or_standing_out() -> None:
    assert relevance(replace(CLEAR, tokens=None)) > 0 > relevance(replace(WEAK, tokens=None))
    assert relevance(replace(WEAK, tokens=None, apart=4.0)) > 0


def test_anything_from_a_time_is_there_or_not() -> None:
    assert relevance(replace(WEAK, anything=True, timely=True)) > 0
    assert relevance(replace(CLEAR, anything=True, timely=False)) < 0


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
