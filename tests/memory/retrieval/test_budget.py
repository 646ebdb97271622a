from hypothesis import given
from hypothesis import strategies as st

from aster.memory.retrieval.across import Ranked
from aster.memory.retrieval.budget import packed, shortened


def count(text: str) -> int:
    return len(text)


def ranking(*texts: str, source: str = "a") -> list[tuple[Ranked, str]]:
    return [(Ranked(source, n, 1 / (n + 1)), text) for n, text in enumerate(texts)]


def test_what_does_not_fit_is_skipped_and_smaller_ones_still_enter() -> None:
    found = packed(ranking("12345", "x" * 50, "678"), 10, count)
    assert [entry.text for entry in found.entries] == ["12345", "678"]
    assert [(one.id, reason) for one, reason in found.cut] == [(1, "budget")]


def test_no_store_gets_more_than_its_share() -> None:
    found = packed([*ranking(*"abcdefgh"), *ranking("z", source="b")], 100, count)
    assert [entry.ranked.source for entry in found.entries] == ["a"] * 6 + ["b"]
    assert [reason for _, reason in found.cut] == ["source_cap"] * 2


def test_the_first_is_shortened_rather_than_lost() -> None:
    found = packed(ranking("word " * 100, "b"), 20, count)
    assert found.entries[0].text.endswith("[…]")
    assert found.entries[0].tokens <= 20


def test_without_a_budget_nothing_enters() -> None:
    found = packed(ranking("abc", "d"), 0, count)
    assert found.entries == ()
    assert len(found.cut) == 2


@given(st.lists(st.text(max_size=30)), st.integers(0, 60))
def test_the_budget_always_holds_and_nothing_is_lost_silently(texts: list[str], budget: int) -> None:
    found = packed(ranking(*texts), budget, count)
    assert sum(entry.tokens for entry in found.entries) <= budget
    assert len(found.entries) + len(found.cut) == len(texts)


@given(st.text(max_size=200), st.integers(0, 100))
def test_a_shortened_text_fits(text: str, budget: int) -> None:
    assert count(shortened(text, budget, count)) <= budget or text == ""
