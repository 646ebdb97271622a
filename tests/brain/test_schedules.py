"""Schedules in the brain, on both databases: what is due, who wins a change, and what is forgotten."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from aster.brain.protocol import Brain
from aster.brain.records import ThreadKey
from aster.brain.schedules import Firing
from aster.brain.sqlite.brain import SqliteBrain
from aster.contracts.events import TaskLifecycle
from aster.contracts.schedules import IntervalTrigger, Occurrence, Schedule, ScheduleSpec

NOW = 1_800_000_000_000


def made(name: str = "s1", next_at: int = NOW, **spec: Any) -> Schedule:
    return Schedule(
        schedule_id=name,
        user_id="ada",
        spec=ScheduleSpec(trigger=IntervalTrigger(seconds=60), prompt="x", **spec),
        status="active",
        next_at=next_at,
        created_at=NOW,
        updated_at=NOW,
    )


def time_of(schedule: Schedule, due_at: int = NOW) -> Occurrence:
    return Occurrence(
        schedule_id=schedule.schedule_id,
        user_id=schedule.user_id,
        due_at=due_at,
        status="due",
        look_at=due_at,
        created_at=NOW,
        task_id=schedule.spec.task_id or "",
    )


async def kept(brain: Brain, schedule: Schedule) -> Schedule:
    assert await brain.schedules.create(schedule, 50)
    found = await brain.schedules.schedule("ada", schedule.schedule_id)
    assert found is not None
    return found


async def test_of_many_that_find_it_due_one_writes_it_down(brain: Brain) -> None:
    schedule = await kept(brain, made())
    firing = Firing([time_of(schedule)], NOW + 60_000)
    won = await asyncio.gather(*(brain.schedules.fire(schedule, firing, NOW) for _ in range(10)))
    assert sorted(won) == [False] * 9 + [True]
    (row,) = await brain.schedules.occurrences("ada", "s1", limit=10)
    assert row.status == "due"
    after = await brain.schedules.schedule("ada", "s1")
    assert after is not None
    assert (after.runs, after.next_at, after.version) == (1, NOW + 60_000, 1)


async def test_of_many_one_delivers_and_only_for_a_while(brain: Brain) -> None:
    schedule = await kept(brain, made())
    await brain.schedules.fire(schedule, Firing([time_of(schedule)], NOW + 60_000), NOW)
    store = brain.schedules
    (row,) = (await store.due(NOW, 10)).occurrences
    won = await asyncio.gather(*(store.claim(row, NOW, NOW + 1000) for _ in range(10)))
    assert sorted(won) == [False] * 9 + [True]
    assert (await store.due(NOW, 10)).occurrences == []
    assert await store.claim(row, NOW + 1000, NOW + 2000)


async def test_what_is_being_delivered_is_not_cancelled_and_the_rest_is(brain: Brain) -> None:
    schedule = await kept(brain, made(catch_up="all"))
    times = [time_of(schedule, NOW - 1), time_of(schedule)]
    await brain.schedules.fire(schedule, Firing(times, NOW + 60_000), NOW)
    assert await brain.schedules.claim(times[0], NOW, NOW + 1000)
    seen = await brain.schedules.schedule("ada", "s1")
    assert seen is not None
    assert await brain.schedules.change(seen, "cancelled", None, NOW, "no more")
    assert not await brain.schedules.change(seen, "paused", None, NOW), "somebody has changed it since"
    rows = await brain.schedules.occurrences("ada", "s1", limit=10)
    assert [(row.status, row.reason) for row in rows] == [("skipped", "no more"), ("due", "")]


async def test_only_what_nobody_wanted_is_a_problem(brain: Brain) -> None:
    wanted = await kept(brain, made())
    assert await brain.schedules.change(wanted, "paused", None, NOW, "It was paused.")
    paused = await brain.schedules.schedule("ada", "s1")
    assert paused is not None
    assert paused.problem == ""
    assert await brain.schedules.change(paused, "ended", None, NOW, "It is gone.", problem="It is gone.")
    ended = await brain.schedules.schedule("ada", "s1")
    assert ended is not None
    assert ended.problem == "It is gone."


async def test_a_change_and_what_tells_of_it_are_one(brain: Brain) -> None:
    key = ThreadKey("ada", "t1")
    await brain.append(key, None, [TaskLifecycle(phase="renamed", title="one")])
    schedule = await kept(brain, made(task_id="t1"))
    await brain.schedules.fire(schedule, Firing([time_of(schedule)], NOW + 60_000), NOW)
    (row,) = (await brain.schedules.due(NOW, 10)).occurrences
    changes = (
        brain.schedules.settle(row, "deferred", now=NOW, look_at=NOW + 1, reason="busy", home=key) for _ in range(5)
    )
    assert sorted(await asyncio.gather(*changes)) == [False] * 4 + [True]
    frames = await brain.frames(key, 0, 10)
    assert [frame.type for frame in frames] == ["task_lifecycle", "schedule_fired", "schedule_fired"]
    gone = ThreadKey("ada", "nowhere")
    (row,) = (await brain.schedules.due(NOW + 1, 10)).occurrences
    assert await brain.schedules.settle(row, "failed", now=NOW, look_at=NOW, home=gone)
    assert await brain.thread(gone) is None


async def test_what_is_long_over_is_forgotten_a_little_at_a_time(brain: Brain) -> None:
    schedule = await kept(brain, made())
    times = [time_of(schedule, NOW + number) for number in range(5)]
    await brain.schedules.fire(schedule, Firing(times, None, ended=True), NOW)
    for row in times:
        await brain.schedules.settle(row, "acknowledged", now=NOW, look_at=NOW)
    await kept(brain, made("s2"))
    assert [await brain.schedules.forget(NOW, 3), await brain.schedules.forget(NOW + 1, 3)] == [0, 3]
    assert await brain.schedules.forget(NOW + 1, 3) == 3
    assert await brain.schedules.schedule("ada", "s1") is None
    assert await brain.schedules.schedule("ada", "s2") is not None


async def test_a_look_is_found_by_time_alone(file_brain: SqliteBrain, tmp_path: Path) -> None:
    del file_brain
    with closing(sqlite3.connect(tmp_path / "brain.sqlite")) as db:
        waiting = "status IN ('due', 'deferred', 'delivered') AND look_at <= 1 ORDER BY look_at"
        for sql, index in (
            ("SELECT * FROM schedules WHERE status = 'active' AND next_at <= 1 ORDER BY next_at", "schedules_due"),
            (f"SELECT * FROM schedule_occurrences WHERE {waiting}", "occurrences_open"),
        ):
            plan = str(db.execute(f"EXPLAIN QUERY PLAN {sql}").fetchall())
            assert index in plan
            assert "SCAN" not in plan
