"""Clocks that are put forward and back, with an engine there and with none: each time has one row, and nothing is done
twice because an hour comes twice. Replicas on PostgreSQL that see it are among the tests of clusters."""

from collections.abc import AsyncIterator
from typing import Any, NamedTuple

import pytest

from aster.testing import ModelServer, Reply, Rule, Text
from tests.work.places import Place
from tests.work.schedules.clockwork import Hands, heard, made, occurrences, settled, ticks, timed

HALF_PAST_TWO: dict[str, Any] = {"cron": "30 2 * * *", "time_zone": "Europe/Berlin"}
HALF_PAST: dict[str, Any] = {"cron": "30 * * * *", "time_zone": "Europe/Berlin"}


class Change(NamedTuple):
    """A night in which clocks are changed: the day before, the day after, and when each night's time is due."""

    before: str
    after: str
    due: list[str]


FORWARD = Change("2026-03-28T12:00:00", "2026-03-30T12:00:00", ["2026-03-29T01:00", "2026-03-30T00:30"])
BACK = Change("2026-10-24T12:00:00", "2026-10-26T12:00:00", ["2026-10-25T00:30", "2026-10-26T01:30"])


@pytest.fixture
async def model() -> AsyncIterator[ModelServer]:
    async with ModelServer([Rule(Reply([Text("Done.")]), match="Scheduled")]) as server:
        yield server


def utc(minute: str) -> int:
    return Hands(f"{minute}:00", "UTC").ms


def minutes(rows: list[dict[str, Any]]) -> list[str]:
    return [row["due_at"][:16] for row in rows]


@pytest.mark.parametrize("change", [FORWARD, BACK], ids=["forward", "back"])
async def test_each_night_is_done_once_by_an_engine_that_is_there(model: ModelServer, change: Change) -> None:
    hands = Hands(change.before, "Europe/Berlin")
    async with timed(model, hands) as engine:
        found = await made(engine, **HALF_PAST_TWO)
        assert minutes([{"due_at": at} for at in found["coming"][:2]]) == change.due
        for done, minute in enumerate(change.due):
            hands.ms = utc(minute) - 30_000
            await ticks(1)
            assert len(await occurrences(engine, found)) == done, "it is not due yet"
            hands.ms = utc(minute)
            await heard(engine, hands, found, done + 1)
            hands.ms = utc(minute) + 3_600_000  # the same time again, where clocks are put back
            await ticks(1)
        rows = await occurrences(engine, found)
        assert minutes(rows) == change.due
        assert len({row["turn_id"] for row in rows}) == 2


@pytest.mark.parametrize("change", [FORWARD, BACK], ids=["forward", "back"])
async def test_a_restart_over_the_change_leaves_no_gap_and_does_nothing_twice(
    model: ModelServer, place: Place, change: Change
) -> None:
    hands = Hands(change.before, "Europe/Berlin")
    async with timed(model, hands, **place.settings) as engine:
        nights = await made(engine, **HALF_PAST_TWO, catch_up="all", catch_up_seconds=3 * 86_400)
        hours = await made(engine, **HALF_PAST, catch_up="none")
    hands.ms = Hands(change.after, "Europe/Berlin").ms
    for _ in range(2):
        async with timed(model, hands, **place.settings) as engine:
            assert minutes(await heard(engine, hands, nights, 2)) == change.due
            passed = (hands.ms - Hands(change.before, "Europe/Berlin").ms) // 3_600_000
            rows = await settled(engine, hours, *["missed"] * passed)
            due = [utc(minute) for minute in minutes(rows)]
            assert due == list(range(due[0], due[0] + passed * 3_600_000, 3_600_000)), "every hour that passed"
    asked = [call for call in model.calls if "Scheduled" in str(call.body)]
    assert len(asked) == 2
