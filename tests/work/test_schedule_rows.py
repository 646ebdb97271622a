"""The rows of the checklist about schedules, through HTTP, each on a file and on PostgreSQL."""

from collections.abc import AsyncIterator, Generator
from contextlib import contextmanager
from typing import Any

import pytest

from aster.testing import Failure, Hold, ModelServer, Reply, Rule, Text
from tests.live import Live
from tests.work.places import Place
from tests.work.schedules.clockwork import (
    Hands,
    made,
    occurrences,
    schedule,
    settled,
    ticks,
    timed,
    told,
    until,
)

EVERY_DAY: dict[str, Any] = {"cron": "0 9 * * *", "time_zone": "UTC"}
SAYS = [Rule(Reply([Text("Done.")]), match="Scheduled")]
BAD = {
    "60 * * * *": "minute",
    "* 24 * * *": "hour",
    "* * 0 * *": "day of month",
    "* * * foo *": "month",
    "* * * * 8": "day of week",
    "*/0 * * * *": "minute",
}


@pytest.fixture
async def model() -> AsyncIterator[ModelServer]:
    async with ModelServer() as server:
        yield server


async def test_n1_a_bad_cron_field_is_named(model: ModelServer, place: Place) -> None:
    async with timed(model, Hands(), **place.settings) as engine:
        for cron, part in BAD.items():
            answer = await engine.http.post("/schedules", json={"prompt": "x", "cron": cron})
            assert answer.status_code == 422
            assert part in answer.json()["message"]
            assert answer.json()["details"]["fields"][0]["part"] == part
        assert (await engine.http.get("/schedules")).json()["schedules"] == []


async def test_n1_either_kind_of_day_is_enough(model: ModelServer, place: Place) -> None:
    async with timed(model, Hands("2026-11-15T12:00:00"), **place.settings) as engine:
        found = await made(engine, cron="0 0 13 * fri", time_zone="UTC")
        days = [at[:10] for at in found["coming"]]
        assert days == ["2026-11-20", "2026-11-27", "2026-12-04", "2026-12-11", "2026-12-13"]


async def test_n2_two_looks_in_a_minute_fire_once_and_the_next_day_again(model: ModelServer, place: Place) -> None:
    hands = Hands()
    async with timed(model, hands, **place.settings) as engine:
        await engine.execute("[[text=1]] Hello.", "t1")
        found = await made(engine, **EVERY_DAY, task_id="t1")
        await ticks(1)
        assert await occurrences(engine, found) == []
        hands.forward(3600)
        await settled(engine, found, "delivered")
        hands.forward(30)
        await settled(engine, found, "acknowledged")
        await ticks()
        assert len(await occurrences(engine, found)) == 1
        hands.forward(86_400 - 30)
        await settled(engine, found, "acknowledged", "delivered")
        assert len((await engine.http.get("/tasks/t1")).json()["turns"]) == 3


async def test_n3_a_failed_call_is_delivered_again_without_a_second_message(
    model: ModelServer, place: Place
) -> None:
    hands = Hands()
    async with timed(model, hands, task_titles=False, **place.settings) as engine:
        await engine.execute("[[text=1]] Hello.", "t1")
        model.script(
            [
                Rule(Failure(401), match="Water the plants", times=1),
                Rule(Reply([Text("Watered.")]), match="Water the plants"),
            ]
        )
        found = await made(engine, at="2026-11-16T09:00:00Z", task_id="t1", prompt="Water the plants.")
        hands.forward(3600)
        (first,) = await settled(engine, found, "delivered")

        async def failed() -> bool:
            return (await engine.http.get("/tasks/t1")).json()["turns"][-1]["status"] == "errored"

        await until(failed)
        hands.forward(2)
        (waiting,) = await settled(engine, found, "due")
        assert "before the model answered" in waiting["reason"]
        hands.forward(20)
        (again,) = await settled(engine, found, "delivered")
        assert (again["turn_id"] != first["turn_id"], again["attempt"]) == (True, 1)
        hands.forward(2)
        await settled(engine, found, "acknowledged")
        asked = [str(call.body) for call in model.calls if "Water the plants" in str(call.body)]
        assert [text.count("Water the plants") for text in asked] == [1, 1]
        assert (await schedule(engine, found))["status"] == "ended"
        statuses = [event["status"] for event in await told(engine, "t1", "schedule_fired")]
        assert statuses == ["due", "delivered", "due", "delivered", "acknowledged"]


async def test_n3_what_fails_every_time_is_failed_in_the_end_and_said_so(model: ModelServer, place: Place) -> None:
    hands = Hands()
    async with timed(model, hands, task_titles=False, **place.settings) as engine:
        await engine.execute("[[text=1]] Hello.", "t1")
        found = await made(engine, at="2026-11-16T09:00:00Z", task_id="t1", prompt="[[fail=401]] Do it.")
        hands.forward(3600)
        for _ in range(4):
            await settled(engine, found, "delivered")

            async def failed() -> bool:
                return (await engine.http.get("/tasks/t1")).json()["status"] == "idle"

            await until(failed)
            hands.forward(2)
            await until(lambda: _not_delivered(engine, found))
            hands.forward(400)
        (row,) = await settled(engine, found, "failed")
        assert row["attempt"] == 3
        assert (await told(engine, "t1", "schedule_fired"))[-1]["status"] == "failed"


async def _not_delivered(engine: Live, found: dict[str, Any]) -> bool:
    return (await occurrences(engine, found))[0]["status"] != "delivered"


async def test_n4_what_cannot_be_written_down_does_not_begin_and_is_tried_again(
    model: ModelServer, place: Place
) -> None:
    hands = Hands()
    async with timed(model, hands, **place.settings) as engine:
        await engine.execute("[[text=1]] Hello.", "t1")
        found = await made(engine, **EVERY_DAY, task_id="t1")
        before = len(model.calls)
        with refusing(place):
            hands.forward(3600)
            await ticks()
            assert len(model.calls) == before
            assert (await engine.http.get("/tasks/t1")).json()["status"] == "idle"
        await settled(engine, found, "delivered")
        hands.forward(5)
        await settled(engine, found, "acknowledged")
        assert len((await engine.http.get("/tasks/t1")).json()["turns"]) == 2


@contextmanager
def refusing(place: Place) -> Generator[None]:
    """The database takes no times of schedules meanwhile."""
    if place.url is not None:
        begin = "ALTER TABLE schedule_occurrences ADD CONSTRAINT no CHECK (due_at < 0) NOT VALID"
        end = "ALTER TABLE schedule_occurrences DROP CONSTRAINT no"
    else:
        refuse = "BEGIN SELECT RAISE(ABORT, 'full'); END"
        begin = f"CREATE TRIGGER no BEFORE INSERT ON schedule_occurrences {refuse}"
        end = "DROP TRIGGER no"
    place.run(begin)
    yield
    place.run(end)


async def test_n5_a_time_waits_while_a_turn_runs(model: ModelServer, place: Place) -> None:
    hands = Hands()
    model.script([Rule(Reply([Hold("busy"), Text("done")]), match="Take your time"), *SAYS])
    async with timed(model, hands, **place.settings) as engine:
        async with engine.executing("Take your time.", "t1") as stream:
            await stream.until("thread_lifecycle", phase="started")
            await model.wait_held("busy")
            found = await made(engine, **EVERY_DAY, task_id="t1")
            hands.forward(3600)
            (row,) = await settled(engine, found, "deferred")
            assert row["reason"] == "The task is busy."
            hands.forward(10)
            await ticks()
            assert [row["status"] for row in await occurrences(engine, found)] == ["deferred"]
            model.release("busy")
            await stream.rest()
        hands.forward(10)
        await settled(engine, found, "delivered")
        hands.forward(5)
        await settled(engine, found, "acknowledged")
        assert [event["status"] for event in await told(engine, "t1", "schedule_fired")] == [
            *("due", "deferred", "delivered", "acknowledged")
        ]


async def test_n6_cancelling_removes_what_waits(model: ModelServer, place: Place) -> None:
    hands = Hands()
    model.script([Rule(Reply([Hold("busy"), Text("done")]), match="Take your time"), *SAYS])
    async with timed(model, hands, **place.settings) as engine:
        async with engine.executing("Take your time.", "t1") as stream:
            await model.wait_held("busy")
            found = await made(engine, **EVERY_DAY, task_id="t1")
            hands.forward(3600)
            await settled(engine, found, "deferred")
            gone = (await engine.http.delete(f"/schedules/{found['schedule_id']}")).json()
            assert (gone["status"], gone["next_at"]) == ("cancelled", None)
            model.release("busy")
            await stream.rest()
        (row,) = await settled(engine, found, "skipped")
        assert row["reason"] == "The schedule was cancelled."
        hands.forward(2 * 86_400)
        await ticks()
        assert len(await occurrences(engine, found)) == 1
        assert len((await engine.http.get("/tasks/t1")).json()["turns"]) == 1
        assert (await told(engine, "t1", "schedule_fired"))[-1]["status"] == "skipped"


async def test_n7_after_a_restart_the_durable_go_on_and_the_others_are_gone(
    model: ModelServer, place: Place
) -> None:
    hands = Hands()
    model.script([Rule(Reply([Hold("busy"), Text("done")]), match="Take your time"), *SAYS])
    async with timed(model, hands, **place.settings) as engine, engine.executing("Take your time.", "t1"):
        await model.wait_held("busy")
        kept = await made(engine, **EVERY_DAY, task_id="t1")
        brief = await made(engine, **EVERY_DAY, task_id="t1", durable=False)
        hands.forward(3600)
        await settled(engine, kept, "deferred")
        await settled(engine, brief, "deferred")
    model.release("busy")
    hands.forward(600)
    async with timed(model, hands, **place.settings) as engine:

        async def rested() -> bool:
            return (await engine.http.get("/tasks/t1")).json()["status"] == "idle"

        await until(rested)
        hands.forward(30)
        (row,) = await settled(engine, kept, "delivered")
        assert row["due_at"] == "2026-11-16T09:00:00.000Z"
        gone = await schedule(engine, brief)
        assert (gone["status"], gone["next_at"]) == ("ended", None)
        assert [row["status"] for row in await occurrences(engine, brief)] == ["skipped"]
        assert (await schedule(engine, kept))["next_at"] == "2026-11-17T09:00:00.000Z"
