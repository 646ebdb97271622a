"""Cron in time zones: clocks put forward and back, days that are not there, and years without a leap day."""

import time
from datetime import UTC, datetime
from itertools import islice
from zoneinfo import ZoneInfo

import pytest

from aster.work.schedules.calendar import due_after, parsed, zone
from aster.work.schedules.cron import BadCron


def due(cron: str, where: str, start: str, count: int) -> list[str]:
    """The next times as the clocks there show them."""
    place = ZoneInfo(where)
    after = int(datetime.fromisoformat(start).replace(tzinfo=place).timestamp())
    found = islice(due_after(parsed(cron), zone(where), after), count)
    return [datetime.fromtimestamp(at, place).strftime("%m-%d %H:%M%z") for at in found]


def test_a_time_that_is_left_out_is_due_when_clocks_are_put_forward() -> None:
    assert due("30 2 * * *", "Europe/Berlin", "2026-03-28T00:00", 3) == [
        *("03-28 02:30+0100", "03-29 03:00+0200", "03-30 02:30+0200")
    ]


def test_several_that_are_left_out_are_one() -> None:
    assert due("*/10 2 * * *", "America/New_York", "2026-03-08T00:00", 2) == [
        "03-08 03:00-0400",
        "03-09 02:00-0400",
    ]


def test_one_that_is_left_out_is_one_with_what_is_due_then_anyway() -> None:
    assert due("0 2,3 * * *", "Europe/Berlin", "2026-03-29T00:00", 2) == ["03-29 03:00+0200", "03-30 02:00+0200"]


def test_a_time_that_comes_twice_is_due_the_first_time() -> None:
    assert due("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00", 2) == ["10-25 02:30+0200", "10-26 02:30+0100"]
    assert due("*/30 1 * * *", "America/New_York", "2026-11-01T00:00", 3) == [
        *("11-01 01:00-0400", "11-01 01:30-0400", "11-02 01:00-0500")
    ]


def test_every_hour_goes_by_the_hours_that_pass() -> None:
    forward = due("30 * * * *", "Europe/Berlin", "2026-03-29T00:45", 3)
    assert forward == ["03-29 01:30+0100", "03-29 03:30+0200", "03-29 04:30+0200"]
    back = due("30 * * * *", "Europe/Berlin", "2026-10-25T00:45", 4)
    assert back == ["10-25 01:30+0200", "10-25 02:30+0200", "10-25 02:30+0100", "10-25 03:30+0100"]


def test_midnight_may_be_what_is_left_out() -> None:
    assert due("0 0 * * *", "America/Sao_Paulo", "2018-11-03T12:00", 2) == ["11-04 01:00-0200", "11-05 00:00-0200"]


def test_a_whole_day_may_be_left_out() -> None:
    assert due("0 12 * * *", "Pacific/Apia", "2011-12-29T00:00", 3) == [
        *("12-29 12:00-1000", "12-31 00:00+1400", "12-31 12:00+1400")
    ]


def test_half_an_hour_may_be_put_forward() -> None:
    assert due("15 2 * * *", "Australia/Lord_Howe", "2026-10-04T00:00", 1) == ["10-04 02:30+1100"]


@pytest.mark.parametrize(
    "where", ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "UTC", "Asia/Kolkata"]
)
def test_once_a_day_is_once_a_day_all_year(where: str) -> None:
    start = int(datetime(2026, 1, 1, tzinfo=ZoneInfo(where)).timestamp()) - 1
    end = int(datetime(2027, 1, 1, tzinfo=ZoneInfo(where)).timestamp())
    for hour in range(4):
        found = [at for at in islice(due_after(parsed(f"30 {hour} * * *"), zone(where), start), 366) if at < end]
        days = [datetime.fromtimestamp(at, ZoneInfo(where)).date() for at in found]
        assert len(days) == len(set(days)) == 365


def test_where_it_begins_does_not_matter() -> None:
    cron, place = parsed("*/20 1-3 * * *"), zone("Europe/Berlin")
    start = int(datetime(2026, 3, 28, tzinfo=UTC).timestamp())
    found = list(islice(due_after(cron, place, start), 30))
    assert [next(due_after(cron, place, at)) for at in found[:-1]] == found[1:]


def test_a_leap_day_is_waited_for_and_one_that_never_comes_is_not() -> None:
    assert due("0 0 29 2 *", "UTC", "2097-01-01T00:00", 1) == ["02-29 00:00+0000"]
    began = time.perf_counter()
    assert due("0 0 31 2 *", "UTC", "2026-01-01T00:00", 1) == []
    assert time.perf_counter() - began < 1.0


@pytest.mark.parametrize("name", ["Mars/Olympus", "../../etc/passwd", "", "/etc/localtime", "Europe", "a\x00b"])
def test_there_are_only_real_time_zones(name: str) -> None:
    with pytest.raises(BadCron, match="time_zone"):
        zone(name)
