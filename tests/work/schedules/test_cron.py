"""Cron expressions: what is read, what is refused and how, and which days are meant."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aster.work.schedules.cron import BadCron, parse


def test_all_forms_of_a_field_are_read() -> None:
    cron = parse("*/20 1,3-5,20-23/2 10/10 JAN-mar,Dec sun,2-4")
    assert cron.minutes == (0, 20, 40)
    assert cron.hours == (1, 3, 4, 5, 20, 22)
    assert cron.days == {10, 20, 30}
    assert cron.months == {1, 2, 3, 12}
    assert cron.weekdays == {0, 2, 3, 4}


@pytest.mark.parametrize("sunday", ["0", "7", "sun"])
def test_sunday_has_three_names(sunday: str) -> None:
    assert parse(f"0 0 * * {sunday}").weekdays == {0}


def test_a_week_may_end_on_sunday() -> None:
    assert parse("0 0 * * fri-sun").weekdays == {5, 6, 0}
    assert parse("0 0 * * 5-7").weekdays == {5, 6, 0}
    assert parse("0 0 * * *").weekdays == set(range(7))


@pytest.mark.parametrize(
    ("name", "meant"),
    [("@daily", "0 0 * * *"), ("@hourly", "0 * * * *"), ("@Weekly", "0 0 * * 0"), ("@yearly", "0 0 1 1 *")],
)
def test_common_ones_have_names(name: str, meant: str) -> None:
    assert parse(name) == parse(meant)


@pytest.mark.parametrize(
    ("text", "field", "problem"),
    [
        ("60 * * * *", "minute", "has 60"),
        ("-1 * * * *", "minute", "'-1'"),
        ("* 1- * * *", "hour", "'1-'"),
        ("* * 32 * *", "day of month", "has 32"),
        ("* * * 0 *", "month", "has 0"),
        ("* * * mon *", "month", "or a name such as jan"),
        ("* * * * jan", "day of week", "or a name such as sun"),
        ("* * * * 5-2", "day of week", "ends before it begins"),
        ("*/x * * * *", "minute", "step 'x'"),
        ("*/-5 * * * *", "minute", "step"),
        ("1,,2 * * * *", "minute", "''"),
        ("1.5 * * * *", "minute", "'1.5'"),
        ("\u0663 * * * *", "minute", "not a number"),
        ("* * * *", "", "five fields"),
        ("* * * * * *", "", "not 6"),
        ("", "", "not 0"),
        ("@often", "", "@often"),
        ("0 " * 101, "", "at most"),
    ],
)
def test_what_is_wrong_is_said_with_its_field(text: str, field: str, problem: str) -> None:
    with pytest.raises(BadCron) as bad:
        parse(text)
    assert bad.value.field == field
    assert problem in str(bad.value)


@given(st.text(alphabet="0123456789*/,-@ adefjmnorsuy", max_size=40))
def test_anything_is_read_or_refused(text: str) -> None:
    try:
        cron = parse(text)
    except BadCron:
        return
    assert cron.minutes
    assert cron.hours
    assert set(cron.minutes) <= set(range(60))
    assert cron.weekdays <= set(range(7))


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("0 0 13 * fri", {6, 13, 20, 27}),
        ("0 0 13 * *", {13}),
        ("0 0 * * fri", {6, 13, 20, 27}),
        ("0 0 */10 * fri", set()),
        ("0 0 1,2 * */6", {1}),
    ],
)
def test_two_restricted_days_are_either_and_else_both(text: str, days: set[int]) -> None:
    cron = parse(text)
    assert {day for day in range(1, 31) if cron.has_day(date(2026, 11, day))} == days
