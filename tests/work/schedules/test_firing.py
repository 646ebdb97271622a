"""What a schedule being due comes to: every time is accounted for, and those that are done are the right ones."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aster.contracts.schedules import (
    CatchUp,
    CronTrigger,
    IntervalTrigger,
    OnceTrigger,
    Schedule,
    ScheduleSpec,
    Trigger,
)
from aster.work.schedules.firing import KEPT, coming, delay, fired, next_time

BEGAN = 1_800_000_000_000
MINUTE = 60_000
HOUR = 60 * MINUTE


def made(trigger: Trigger, first: int, **more: Any) -> Schedule:
    state = {name: more.pop(name) for name in ("runs", "schedule_id") if name in more}
    return Schedule(
        **{"schedule_id": "schedule-1", **state},
        user_id="u",
        spec=ScheduleSpec(trigger=trigger, prompt="x", **more),
        status="active",
        next_at=first,
        created_at=BEGAN,
        updated_at=BEGAN,
    )


def hourly(**more: Any) -> Schedule:
    return made(IntervalTrigger(seconds=3600), BEGAN + HOUR, **more)


def statuses(schedule: Schedule, now: int) -> list[str]:
    return [item.status for item in fired(schedule, now).occurrences]


def test_a_time_that_has_come_is_due_and_the_next_is_known() -> None:
    firing = fired(hourly(), BEGAN + HOUR + 400)
    assert [(item.due_at, item.status) for item in firing.occurrences] == [(BEGAN + HOUR, "due")]
    assert (firing.next_at, firing.ended) == (BEGAN + 2 * HOUR, False)


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        ("latest", ["missed", "missed", "missed", "due"]),
        ("all", ["missed", "due", "due", "due"]),
        ("none", ["missed", "missed", "missed", "missed"]),
    ],
)
def test_what_nobody_was_there_for(policy: CatchUp, expected: list[str]) -> None:
    schedule = hourly(catch_up=policy, catch_up_seconds=3 * 3600)
    firing = fired(schedule, BEGAN + 4 * HOUR + 20 * MINUTE)
    assert [item.status for item in firing.occurrences] == expected
    assert firing.next_at == BEGAN + 5 * HOUR


def test_none_still_does_what_is_only_just_due() -> None:
    assert statuses(hourly(catch_up="none", catch_up_seconds=0), BEGAN + 3 * HOUR + 5000) == [
        "missed",
        "missed",
        "due",
    ]


def test_what_is_older_than_the_window_is_missed_even_the_latest() -> None:
    schedule = hourly(catch_up_seconds=600)
    firing = fired(schedule, BEGAN + 2 * HOUR + 11 * MINUTE)
    assert [(item.status, item.reason) for item in firing.occurrences] == [
        ("missed", "Nobody was there at that time."),
        ("missed", "Nobody was there at that time."),
    ]


@pytest.mark.parametrize("trigger", [IntervalTrigger(seconds=60), CronTrigger(cron="* * * * *")])
def test_very_many_share_a_row_that_says_how_many(trigger: Trigger) -> None:
    first = BEGAN + MINUTE
    firing = fired(made(trigger, first), first + 9_999 * MINUTE)
    oldest, *rest = firing.occurrences
    assert (oldest.status, oldest.due_at, oldest.count) == ("missed", first, 10_000 - KEPT)
    assert oldest.until_at == first + (10_000 - KEPT - 1) * MINUTE
    assert [item.due_at for item in rest] == [first + n * MINUTE for n in range(10_000 - KEPT, 10_000)]
    assert [item.status for item in rest] == ["missed"] * (KEPT - 1) + ["due"]


@given(
    period=st.integers(10, 5000),
    late=st.integers(0, 3_000_000),
    policy=st.sampled_from(("latest", "all", "none")),
    window=st.integers(0, 7200),
)
def test_every_time_is_accounted_for_once(period: int, late: int, policy: CatchUp, window: int) -> None:
    first = BEGAN + period * 1000
    now = first + late
    schedule = made(IntervalTrigger(seconds=period), first, catch_up=policy, catch_up_seconds=window)
    firing = fired(schedule, now)
    assert sum(item.count for item in firing.occurrences) == late // (period * 1000) + 1
    assert firing.next_at is not None
    assert now < firing.next_at <= now + period * 1000
    assert len({item.due_at for item in firing.occurrences}) == len(firing.occurrences)


def test_one_shot_is_due_once_and_over() -> None:
    firing = fired(made(OnceTrigger(at=BEGAN + HOUR), BEGAN + HOUR), BEGAN + HOUR)
    assert [item.status for item in firing.occurrences] == ["due"]
    assert (firing.next_at, firing.ended) == (None, True)


def test_nothing_is_due_after_it_expires() -> None:
    schedule = hourly(expires_at=BEGAN + 2 * HOUR + 1, catch_up="all", catch_up_seconds=86_400)
    firing = fired(schedule, BEGAN + 9 * HOUR)
    assert [item.due_at for item in firing.occurrences] == [BEGAN + HOUR, BEGAN + 2 * HOUR]
    assert firing.ended
    assert next_time(schedule, BEGAN + 2 * HOUR) is None
    assert coming(schedule, BEGAN, 5) == [BEGAN + HOUR, BEGAN + 2 * HOUR]


def test_no_more_are_done_than_there_may_be_runs() -> None:
    schedule = hourly(max_runs=3, runs=1, catch_up="all", catch_up_seconds=86_400)
    assert statuses(schedule, BEGAN + 4 * HOUR) == ["missed", "missed", "due", "due"]


def test_jitter_is_the_same_every_time_small_and_spread() -> None:
    trigger = IntervalTrigger(seconds=600)
    found = [delay(made(trigger, BEGAN, jitter=True, schedule_id=f"schedule-{n}")) for n in range(200)]
    assert found == [delay(made(trigger, BEGAN, jitter=True, schedule_id=f"schedule-{n}")) for n in range(200)]
    assert 0 <= min(found) < 10_000
    assert 50_000 < max(found) <= 60_000
    assert delay(made(trigger, BEGAN)) == 0
    daily = [delay(made(CronTrigger(cron="@daily"), BEGAN, jitter=True, schedule_id=str(n))) for n in range(200)]
    assert 600_000 < max(daily) <= 900_000
    put_off = fired(made(trigger, BEGAN, jitter=True), BEGAN).occurrences[0]
    assert (put_off.due_at, put_off.look_at - put_off.due_at) == (BEGAN, delay(made(trigger, BEGAN, jitter=True)))
