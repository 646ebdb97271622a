"""What is let go is old, unused and worth little, and never what a person stated."""

from typing import Any

import pytest

from aster.learning_centre.decay import HIT_RATE, hit_rate, may_go, retirements
from tests.learning_centre.rows import DAY, NOW, record

OLD = 120


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        ("fact", {"content": "x", "confidence": 0.6}),
        ("fact", {"content": "x", "confidence": 0.6, "type": "heuristic"}),
        ("episode", {"description": "x", "value": 0.2}),
        ("lesson", {"trigger": "x", "confidence": 0.1, "uses": 1, "last_used_at": NOW - 300 * DAY}),
    ],
)
def test_old_unused_and_poor_records_go(kind: str, given: dict[str, Any]) -> None:
    row = record(kind, 300, **given)
    (found,) = retirements([row], NOW, {})
    assert found.row is row
    assert "days ago" in found.reason


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        ("fact", {"confidence": 0.9}),
        ("fact", {"confidence": 0.5, "extractor": "person"}),
        ("fact", {"confidence": 0.5, "extractor": "explicit"}),
        ("fact", {"confidence": 0.5, "type": "rule"}),
        ("fact", {"confidence": 0.5, "last_used_at": NOW - 10 * DAY, "uses": 1}),
        ("fact", {"confidence": 0.5, "uses": 40, "last_used_at": NOW - 100 * DAY}),
        ("fact", {"confidence": 0.5, "valid_until": NOW - 100 * DAY}),
        ("fact", {"confidence": 0.5, "superseded_by": "other"}),
        ("trait", {"confidence": 0.1}),
        ("soul", {"confidence": 0.1}),
        ("episode", {"value": 0.5}),
        ("episode", {"value": 0.1, "tier": "lasting"}),
        ("lesson", {"confidence": 1.0, "verified": 1}),
    ],
)
def test_what_is_used_sure_stated_or_lasting_stays(kind: str, given: dict[str, Any]) -> None:
    assert retirements([record(kind, OLD, **given)], NOW, {}) == []


def test_nothing_goes_before_its_time() -> None:
    assert retirements([record("fact", 80, confidence=0.1)], NOW, {}) == []


def test_a_lesson_that_did_harm_goes_at_once() -> None:
    bad = record("lesson", 1, helpful=1, harmful=3, verified=1)
    good = record("lesson", 1, helpful=3, harmful=1, verified=1)
    few = record("lesson", 1, helpful=0, harmful=2, verified=1)
    (found,) = retirements([bad, good, few], NOW, {})
    assert found.row is bad
    assert "25%" in found.reason


def test_what_a_person_says_of_a_turn_counts_more_than_that_it_ended_well() -> None:
    row = record("lesson", 1, helpful=4, harmful=0)
    assert hit_rate(row) == 1.0
    assert (hit_rate(row, disliked=3) or 0) < HIT_RATE
    assert [one.row for one in retirements([row], NOW, {row.id: 3})] == [row]


def test_only_lessons_have_a_hit_rate() -> None:
    assert hit_rate(record("fact")) is None
    assert may_go(record("lesson"))
