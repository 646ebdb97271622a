"""Which of two records stays is decided by time; what only looks like a contradiction changes nothing."""

from aster.learning_centre.contradictions import resolved
from tests.learning_centre.rows import DAY, NOW, record

OLD = record("fact", 30, content="The office is in Rome", subject="team")
NEW = record("fact", 3, content="The office is in Oslo", subject="team")


def test_the_later_one_stays_whoever_is_named_first() -> None:
    for one, other in ((OLD, NEW), (NEW, OLD)):
        found = resolved(one, other, NOW, ())
        assert (found.keep, found.end, found.problem) == (NEW, OLD, "")


def test_of_the_same_time_both_stay() -> None:
    twin = record("fact", 3, content="The office is in Bonn", subject="team")
    assert "both stay" in resolved(NEW, twin, NOW, ()).problem


def test_different_matters_do_not_contradict_each_other() -> None:
    elsewhere = record("fact", 1, content="The office is in Oslo", subject="board")
    strange = record("fact", 1, content="Lunch comes late", subject="team")
    trait = record("trait", 1, value="The office is in Oslo")
    for other in (elsewhere, strange, trait):
        assert resolved(OLD, other, NOW, ()).problem
    assert resolved(OLD, OLD, NOW, ()).problem


def test_what_does_not_hold_any_more_is_left_alone() -> None:
    ended = record("fact", 1, content="The office is in Bonn", subject="team", valid_until=NOW - DAY // 2)
    assert "hold" in resolved(OLD, ended, NOW, ()).problem


def test_what_a_person_said_is_not_ended_by_a_conclusion() -> None:
    assert "person" in resolved(OLD, NEW, NOW, {OLD.id}).problem
    assert not resolved(OLD, NEW, NOW, {OLD.id, NEW.id}).problem
    rule = record("fact", 30, content="The office is in Rome", subject="team", type="rule")
    assert resolved(rule, NEW, NOW, ()).problem
