"""Changing a schedule through HTTP: its next time follows, and what waited of the old one is accounted for."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from aster.server import keys
from aster.testing import Hold, ModelServer, Reply, Rule, Text
from tests.live import Live, live
from tests.work.places import Place
from tests.work.schedules.clockwork import (
    Hands,
    heard,
    made,
    occurrences,
    schedule,
    settled,
    timed,
    told,
    until,
)

NINE: dict[str, Any] = {"cron": "0 9 * * *", "time_zone": "UTC"}


@pytest.fixture
async def model() -> AsyncIterator[ModelServer]:
    async with ModelServer() as server:
        server.script([Rule(Reply([Text("Done.")]), match="Scheduled")])
        yield server


async def edited(engine: Live, found: dict[str, Any], **body: Any) -> dict[str, Any]:
    answer = await engine.http.patch(f"/schedules/{found['schedule_id']}", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def test_a_new_expression_has_new_times_and_the_rest_stays(model: ModelServer, place: Place) -> None:
    async with timed(model, Hands("2026-11-16T08:00:00"), **place.settings) as engine:
        found = await made(engine, **NINE, name="news", max_runs=5)
        assert (found["version"], found["next_at"]) == (1, "2026-11-16T09:00:00.000Z")
        moved = await edited(engine, found, cron="30 10 * * *", version=1)
        assert (moved["version"], moved["next_at"]) == (2, "2026-11-16T10:30:00.000Z")
        assert (moved["name"], moved["max_runs"], moved["prompt"]) == ("news", 5, found["prompt"])
        zoned = await edited(engine, found, time_zone="Europe/Berlin", max_runs=None, name="")
        assert (zoned["next_at"], zoned["max_runs"], zoned["name"]) == ("2026-11-16T09:30:00.000Z", None, "")
        hourly = await edited(engine, found, every_seconds=3600)
        assert (hourly["kind"], hourly["next_at"]) == ("interval", "2026-11-16T09:00:00.000Z")
        same = await edited(engine, found, every_seconds=3600)
        assert same["version"] == hourly["version"] == 4


async def test_of_two_who_change_it_the_second_is_told(model: ModelServer, place: Place) -> None:
    async with timed(model, Hands(), **place.settings) as engine:
        found = await made(engine, **NINE)
        path = f"/schedules/{found['schedule_id']}"
        got = await asyncio.gather(
            *(engine.http.patch(path, json={"prompt": f"p{at}", "version": 1}) for at in range(8))
        )
        assert sorted(answer.status_code for answer in got) == [200] + [409] * 7
        lost = next(answer.json() for answer in got if answer.status_code == 409)
        assert (lost["error"], lost["details"]["reason"], lost["details"]["version"]) == (
            "WORK_CONFLICT",
            "stale",
            2,
        )


async def test_what_waits_of_the_old_times_is_skipped_and_the_thread_tells(
    model: ModelServer, place: Place
) -> None:
    hands = Hands()
    async with timed(model, hands, **place.settings) as engine:
        found = await _waiting(engine, model, hands)
        await edited(engine, found, cron="0 20 * * *")
        (row,) = await occurrences(engine, found)
        assert (row["status"], row["reason"]) == ("skipped", "The schedule was changed.")
        model.release("busy")
        statuses = [event["status"] for event in await told(engine, "t1", "schedule_fired")]
        assert statuses == ["due", "deferred", "skipped"]
        hands.forward(11 * 3600)
        rows = await until(lambda: _heard_again(engine, hands, found))
        assert [row["status"] for row in rows] == ["skipped", "acknowledged"]


async def test_what_waits_is_said_in_the_new_words_when_only_they_change(model: ModelServer, place: Place) -> None:
    hands = Hands()
    async with timed(model, hands, **place.settings) as engine:
        found = await _waiting(engine, model, hands)
        await edited(engine, found, prompt="Say it in the new words.")
        model.release("busy")
        await heard(engine, hands, found)
        assert "Say it in the new words." in model.calls[-1].text


async def test_a_time_that_has_come_is_written_down_before_it_is_changed(model: ModelServer, place: Place) -> None:
    hands = Hands()
    async with timed(model, hands, **place.settings) as engine:
        found = await made(engine, **NINE)
        hands.forward(3700)
        await edited(engine, found, cron="0 20 * * *")
        (row,) = await occurrences(engine, found)
        assert row["due_at"] == "2026-11-16T09:00:00.000Z"
        assert row["status"] in ("skipped", "delivered", "acknowledged")
        assert (await schedule(engine, found))["next_at"] == "2026-11-16T20:00:00.000Z"


async def test_a_paused_one_is_changed_and_stays_paused_and_one_that_is_over_is_not(
    model: ModelServer, place: Place
) -> None:
    async with timed(model, Hands("2026-11-16T08:00:00"), **place.settings) as engine:
        found = await made(engine, **NINE)
        path = f"/schedules/{found['schedule_id']}"
        await engine.http.post(f"{path}/pause")
        changed = await edited(engine, found, cron="0 10 * * *")
        assert (changed["status"], changed["next_at"]) == ("paused", None)
        assert (await engine.http.post(f"{path}/resume")).json()["next_at"] == "2026-11-16T10:00:00.000Z"
        await engine.http.delete(path)
        over = await engine.http.patch(path, json={"prompt": "x"})
        assert (over.status_code, over.json()["error"]) == (422, "INVALID_REQUEST")


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"cron": "60 * * * *"}, "cron"),
    ({"cron": "@daily", "every_seconds": 60}, "cron"),
    ({"every_seconds": 3}, "every_seconds"),
    ({"at": "2020-01-01T00:00:00Z"}, "at"),
    ({"expires_at": "2020-01-01T00:00:00Z"}, "expires_at"),
    ({"time_zone": "Mars/Base"}, "time_zone"),
    ({"prompt": " "}, "prompt"),
    ({"model": "no-such"}, "model"),
    ({"watch": {"command": "true"}}, "watch.command"),
]


async def test_what_could_not_be_made_cannot_be_changed_to(model: ModelServer) -> None:
    async with live(model) as engine:
        found = await made(engine, **NINE)
        for body, field in REFUSED:
            answer = await engine.http.patch(f"/schedules/{found['schedule_id']}", json=body)
            assert answer.status_code == 422, answer.text
            assert [one["field"] for one in answer.json()["details"]["fields"]] == [field]
        assert (await schedule(engine, found))["version"] == 1


async def test_nobody_changes_the_schedule_of_another(model: ModelServer, tmp_path: Path) -> None:
    brain = tmp_path / "brain.sqlite"
    other = {"X-Engine-Key": keys.create(brain, "phone", "bob").key}
    async with live(model, engine_api_key="operator", sqlite_db_path=brain, database_url=None) as engine:
        found = await made(engine, **NINE)
        path = f"/schedules/{found['schedule_id']}"
        assert (await engine.http.patch(path, json={"prompt": "x"}, headers=other)).status_code == 404


async def _waiting(engine: Live, model: ModelServer, hands: Hands) -> dict[str, Any]:
    """A schedule whose time waits for its task, which is busy until `busy` is released."""
    model.script(
        [
            Rule(Reply([Hold("busy"), Text("At last.")]), match="Work"),
            Rule(Reply([Text("Done.")]), match="Scheduled"),
        ]
    )
    await engine.execute("[[text=1]] Hello.", "t1")
    found = await made(engine, **NINE, task_id="t1", catch_up_seconds=86_400)
    busy = {"message": "Work", "task_id": "t1", "stream": False}
    asyncio.get_running_loop().create_task(engine.http.post("/execute", json=busy))
    await until(lambda: _running(engine))
    hands.forward(3600)
    await settled(engine, found, "deferred")
    return found


async def _running(engine: Live) -> bool:
    return (await engine.http.get("/tasks/t1")).json()["status"] == "running"


async def _heard_again(engine: Live, hands: Hands, found: dict[str, Any]) -> list[dict[str, Any]] | None:
    hands.forward(1)
    rows = await occurrences(engine, found)
    return rows if len(rows) == 2 and rows[-1]["status"] == "acknowledged" else None
