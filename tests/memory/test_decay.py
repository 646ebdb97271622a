"""Confidence and strength fade with time, more slowly what is used; a lesson that never helps loses its worth."""

from typing import Any

from msgspec.structs import replace

from aster.brain.memory_records import MemoryRow
from aster.memory.decay import LEAST, confidence, strength, utility

DAY = 86_400_000


def row(kind: Any = "fact", **fields: Any) -> MemoryRow:
    return MemoryRow(
        id="x", user_id="ada", kind=kind, fields=fields, created_at=0, event_at=0, valid_from=0, confidence=0.8
    )


def test_an_unused_fact_is_half_as_sure_after_half_a_year() -> None:
    assert confidence(row(), 0) == 0.8
    assert confidence(row(), 180 * DAY) == 0.4
    assert confidence(row(), 100_000 * DAY) == round(0.8 * LEAST, 4)


def test_use_makes_it_last() -> None:
    often = replace(row(), uses=9)
    assert confidence(often, 180 * DAY) > confidence(row(), 180 * DAY)
    assert strength(often, 30 * DAY) > strength(row(), 30 * DAY)
    fresh = replace(often, last_used_at=180 * DAY)
    assert confidence(fresh, 180 * DAY) == 0.8


def test_rules_and_who_somebody_is_do_not_fade() -> None:
    assert confidence(row(type="rule"), 999 * DAY) == 0.8
    assert confidence(row("trait"), 999 * DAY) == 0.8


def test_what_a_lesson_is_worth() -> None:
    lesson = row("lesson", helpful=0, harmful=0, verified=0, frequency=1)
    proven = row("lesson", helpful=0, harmful=0, verified=1, frequency=1)
    useless = replace(lesson, uses=5)
    helpful = replace(row("lesson", helpful=4, harmful=0, verified=0, frequency=1), uses=5)
    assert utility(proven) == round(utility(lesson) + 0.3, 4)
    assert utility(useless) < utility(lesson) / 2 + 0.2
    assert utility(helpful) > utility(lesson)
