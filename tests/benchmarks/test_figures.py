"""Figures are put together right: percentiles, medians over rounds, the table."""

import pytest
from benchmarks.figures import Figure, number, percentile, summarise, table
from benchmarks.rows.work import near


def test_percentile_is_one_of_the_values() -> None:
    values = [5.0, 1.0, 4.0, 2.0, 3.0]
    assert percentile(values, 0.5) == 3.0
    assert percentile(values, 0.95) == 5.0
    assert percentile(values, 0.0) == 1.0
    assert percentile(range(1, 101), 0.99) == 99
    with pytest.raises(ValueError, match="no values"):
        percentile([], 0.5)


def test_rounds_become_medians_in_the_order_they_first_came() -> None:
    rounds = [[Figure("a", "x", "ms", aster, 2.0), Figure("a", "alone", "MB", aster)] for aster in (9.0, 1.0, 5.0)]
    first, second = summarise(rounds)
    assert first.median == Figure("a", "x", "ms", 5.0, 2.0)
    assert [figure.aster for figure in first.rounds] == [9.0, 1.0, 5.0]
    assert second.median == Figure("a", "alone", "MB", 5.0)


def test_the_table_shows_difference_and_ratio_and_leaves_out_what_is_not_there() -> None:
    lines = table([Figure("a", "x", "ms", 3.0, 2.0), Figure("a", "alone", "MB", 12345.6)]).splitlines()
    assert [cell.strip() for cell in lines[2].split("|")[1:-1]] == ["a", "x", "ms", "3", "2", "+1", "1.50"]
    assert [cell.strip() for cell in lines[3].split("|")[1:-1]] == ["a", "alone", "MB", "12,346", "–", "–", "–"]
    assert len({len(line) for line in lines}) == 1


@pytest.mark.parametrize(
    ("value", "text"), [(1234.5, "1,234"), (12.34, "12.3"), (1.234, "1.23"), (0.1234, "0.123"), (-4.0, "-4")]
)
def test_numbers_keep_the_figures_that_count(value: float, text: str) -> None:
    assert number(value) == text


def test_a_turn_is_judged_with_its_neighbours() -> None:
    values = [float(turn) for turn in range(1, 201)]
    assert near(values, 1) == 3.0
    assert near(values, 50) == 50.0
    assert near(values, 200) == 198.0
