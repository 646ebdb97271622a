"""Schedules through HTTP: making and refusing them, their times over restarts and changes of clocks, and their ends."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from aster.server import keys
from aster.testing import Hold, ModelServer, Reply, Rule, Text
from tests.live import live
from tests.work.schedules.clockwork import (
    Hands,
    heard,
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


@pytest.fixture
async def model() -> AsyncIterator[ModelServer]:
    async with ModelServer() as server:
        server.script(SAYS)
        yield server


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({}, "cron"),
    ({"cron": "@daily", "every_seconds": 60}, "cron"),
    ({"every_seconds": 9}, "every_seconds"),
    ({"every_seconds": True}, "every_seconds"),
    ({"every_seconds": "interval:60"}, "every_seconds"),
    ({"at": "2020-01-01T00:00:00Z"}, "at"),
    ({"at": "tomorrow"}, "at"),
    ({"cron": "0 0 31 2 *"}, "cron"),
    ({"cron": "@daily", "time_zone": "../../etc/passwd"}, "time_zone"),
    ({"cron": "@daily", "prompt": " "}, "prompt"),
    ({"cron": "@daily", "name": "a\nb"}, "name"),
    ({"cron": "@daily", "max_runs": 0}, "max_runs"),
    ({"cron": "@daily", "expires_at": "2020-01-01T00:00:00Z"}, "expires_at"),
    ({"cron": "@daily", "catch_up_seconds": -1}, "catch_up_seconds"),
    ({"cron": "@daily", "model": "no-such"}, "model"),
    ({"watch": {}}, "watch"),
    ({"watch": {"command": "true"}}, "watch.command"),
    ({"watch": {"command": "true", "url": "http://example.com"}}, "watch"),
    ({"watch": {"url": "http://example.com", "every_seconds": 5}}, "watch.every_seconds"),
    ({"watch": {"url": "ftp://example.com"}}, "watch.url"),
]


async def test_what_could_never_be_done_is_refused_and_not_kept(model: ModelServer) -> None:
    async with live(model) as engine:
        for body, field in REFUSED:
            answer = await engine.http.post("/schedules", json={"prompt": "x", **body})
            assert answer.status_code == 422, answer.text
            assert [found["field"] for found in answer.json()["details"]["fields"]] == [field]
        assert (await engine.http.get("/schedules")).json() == {"schedules": [], "next": None}


async def test_it_needs_a_task_and_an_agent_that_are_there(model: ModelServer) -> None:
    async with live(model) as engine:
        missing = await engine.http.post("/schedules", json={"prompt": "x", "cron": "@daily", "task_id": "nowhere"})
        assert (missing.status_code, missing.json()["error"]) == (404, "TASK_NOT_FOUND")
        nobody = await engine.http.post("/schedules", json={"prompt": "x", "cron": "@daily", "agent": "nobody"})
        assert nobody.status_code in (404, 422)
        mode = {"prompt": "x", "cron": "@daily", "permission_mode": "bypass"}
        assert (await engine.http.post("/schedules", json=mode)).status_code == 403


async def test_nobody_sees_or_touches_the_schedules_of_another(model: ModelServer, tmp_path: Path) -> None:
    brain = tmp_path / "brain.sqlite"
    other = {"X-Engine-Key": keys.create(brain, "phone", "bob").key}
    async with live(model, engine_api_key="operator", sqlite_db_path=brain, database_url=None) as engine:
        found = await made(engine, **EVERY_DAY)
        path = f"/schedules/{found['schedule_id']}"
        asked = [
            await engine.http.get(path, headers=other),
            await engine.http.delete(path, headers=other),
            await engine.http.post(f"{path}/run", headers=other),
            await engine.http.post(f"{path}/pause", headers=other),
            await engine.http.get(f"{path}/occurrences", headers=other),
        ]
        assert [answer.status_code for answer in asked] == [404] * 5
        assert (await engine.http.get("/schedules", headers=other)).json()["schedules"] == []
        assert (await schedule(engine, found))["status"] == "active"


async def test_there_is_a_most_of_schedules(model: ModelServer) -> None:
    async with live(model, schedules_per_user=3) as engine:
        bodies = [{"prompt": f"n{n}", "cron": "@daily"} for n in range(10)]
        answers = await asyncio.gather(*(engine.http.post("/schedules", json=body) for body in bodies))
        assert sorted(answer.status_code for answer in answers) == [201] * 3 + [422] * 7
        page = (await engine.http.get("/schedules", params={"limit": 2})).json()
        assert (len(page["schedules"]), page["next"] is None) == (2, False)
        rest = (await engine.http.get("/schedules", params={"limit": 2, "before": page["next"]})).json()
        assert (len(rest["schedules"]), rest["next"]) == (1, None)
        await engine.http.delete(f"/schedules/{rest['schedules'][0]['schedule_id']}")
        assert (await engine.http.post("/schedules", json=bodies[0])).status_code == 201


@pytest.mark.parametrize("policy", ["latest", "all", "none"])
async def test_what_was_due_while_no_engine_ran_is_made_up_for_as_wanted(
    model: ModelServer, tmp_path: Path, policy: str
) -> None:
    hands, file = Hands(), tmp_path / "brain.sqlite"
    async with timed(model, hands, sqlite_db_path=file) as engine:
        await engine.execute("Scheduled? Not yet.", "t1")
        found = await made(engine, every_seconds=3600, task_id="t1", catch_up=policy, catch_up_seconds=7200)
    hands.forward(3 * 3600 + 1800)
    runs = {"latest": 1, "all": 2, "none": 0}[policy]
    async with timed(model, hands, sqlite_db_path=file) as engine:

        async def all_done() -> bool:
            hands.forward(1)
            statuses = [row["status"] for row in await occurrences(engine, found)]
            return statuses == ["missed"] * (3 - runs) + ["acknowledged"] * runs

        await until(all_done)
        events = await told(engine, "t1", "schedule_fired")
        assert len([event for event in events if event["status"] == "missed"]) == 3 - runs
        assert len((await engine.http.get("/tasks/t1")).json()["turns"]) == 1 + runs


async def test_every_run_has_a_task_of_its_own_when_none_is_named(model: ModelServer) -> None:
    hands = Hands()
    model.script([Rule(Reply([Hold("first"), Text("Done.")]), match="Scheduled", times=1), *SAYS])
    async with timed(model, hands, task_titles=False) as engine:
        found = await made(engine, every_seconds=60, name="round", prompt="Look around.", max_runs=2)
        hands.forward(60)
        (one,) = await settled(engine, found, "delivered")
        await model.wait_held("first")
        thread = (await engine.http.get(f"/tasks/{one['task_id']}")).json()
        assert [turn["turn_id"] for turn in thread["turns"]] == [one["turn_id"]]
        hands.forward(60)
        await settled(engine, found, "delivered", "deferred")
        model.release("first")
        first, second = await heard(engine, hands, found, 2)
        assert first["task_id"] != second["task_id"]
        (said,) = await told(engine, one["task_id"], "user_message")
        assert said["origin"] == "engine"
        assert said["content"][0]["text"] == "[Scheduled: round, due 2026-11-16T08:01:00.000Z]\nLook around."
        started = (await told(engine, one["task_id"], "thread_lifecycle"))[0]
        assert started["request"]["unattended"] is True
        over = await schedule(engine, found)
        assert (over["status"], over["runs"], over["next_at"]) == ("ended", 2, None)


async def test_a_time_that_comes_while_one_still_waits_is_skipped(model: ModelServer) -> None:
    hands = Hands()
    model.script([Rule(Reply([Hold("busy"), Text("ok")]), match="Take your time"), *SAYS])
    async with timed(model, hands) as engine, engine.executing("Take your time.", "t1") as stream:
        await model.wait_held("busy")
        found = await made(engine, every_seconds=600, task_id="t1")
        hands.forward(600)
        await settled(engine, found, "deferred")
        hands.forward(600)
        rows = await settled(engine, found, "deferred", "skipped")
        assert rows[1]["reason"] == "The time before it still waits."
        model.release("busy")
        await stream.rest()


async def test_paused_nothing_is_due_and_resumed_it_is_from_then_on(model: ModelServer) -> None:
    hands = Hands()
    async with timed(model, hands) as engine:
        found = await made(engine, every_seconds=3600)
        path = f"/schedules/{found['schedule_id']}"
        paused = (await engine.http.post(f"{path}/pause")).json()
        assert (paused["status"], paused["next_at"], paused["coming"]) == ("paused", None, [])
        assert paused["problem"] == "", "somebody wanted it"
        hands.forward(3 * 3600)
        await ticks()
        assert await occurrences(engine, found) == []
        by_hand = await engine.http.post(f"{path}/run")
        assert (by_hand.status_code, by_hand.json()["by_hand"]) == (202, True)
        await settled(engine, found, "delivered")
        resumed = (await engine.http.post(f"{path}/resume")).json()
        assert (resumed["status"], resumed["next_at"]) == ("active", "2026-11-16T12:00:00.000Z")
        hands.forward(3600)
        await settled(engine, found, "acknowledged", "delivered")
        gone = await engine.http.delete(path)
        assert gone.json()["status"] == "cancelled"
        assert (await engine.http.delete(path)).status_code == 200
        assert (await engine.http.post(f"{path}/resume")).status_code == 422
        assert (await engine.http.post(f"{path}/run")).status_code == 422


async def test_a_budget_that_is_spent_defers_it_and_says_why(model: ModelServer) -> None:
    hands = Hands()
    async with timed(model, hands, budget_user_day_usd=0.0) as engine:
        found = await made(engine, every_seconds=60)
        hands.forward(60)
        (row,) = await settled(engine, found, "deferred")
        assert "budget" in row["reason"].lower()


async def test_one_that_cannot_be_read_is_set_aside_and_the_others_go_on(
    model: ModelServer, tmp_path: Path
) -> None:
    hands, file = Hands(), tmp_path / "brain.sqlite"
    async with live(model, now=hands, sqlite_db_path=file, database_url=None) as engine:
        bad, good = await made(engine, **EVERY_DAY), await made(engine, **EVERY_DAY)
        with closing(sqlite3.connect(file, timeout=10)) as db:
            db.execute("UPDATE schedules SET spec = ? WHERE schedule_id = ?", (b"{nonsense", bad["schedule_id"]))
            db.commit()
        hands.forward(3600)
        await settled(engine, good, "delivered")
        listed = (await engine.http.get("/schedules")).json()["schedules"]
        assert [one["schedule_id"] for one in listed] == [good["schedule_id"]]


async def test_what_waits_for_its_task_too_long_is_missed(model: ModelServer) -> None:
    hands = Hands()
    model.script([Rule(Reply([Hold("busy"), Text("ok")]), match="Take your time"), *SAYS])
    async with timed(model, hands) as engine, engine.executing("Take your time.", "t1") as stream:
        await model.wait_held("busy")
        found = await made(engine, at="2026-11-16T09:00:00Z", task_id="t1")
        hands.forward(3600)
        await settled(engine, found, "deferred")
        hands.forward(86_401)
        (row,) = await settled(engine, found, "missed")
        assert row["reason"] == "The task is busy."
        model.release("busy")
        await stream.rest()


async def test_a_task_that_is_deleted_takes_its_schedules_with_it(model: ModelServer) -> None:
    hands = Hands()
    async with timed(model, hands) as engine:
        await engine.execute("Scheduled? Hello.", "t1")
        found = await made(engine, every_seconds=60, task_id="t1")
        assert (await engine.http.delete("/tasks/t1")).status_code == 200
        assert (await engine.http.get(f"/schedules/{found['schedule_id']}")).status_code == 404
        hands.forward(120)
        await ticks()
        assert (await engine.http.get("/tasks/t1")).status_code == 404


async def test_a_draining_engine_begins_nothing(model: ModelServer) -> None:
    hands = Hands()
    async with timed(model, hands) as engine:
        found = await made(engine, every_seconds=60)
        await engine.engine.coordinator.drain(0)
        hands.forward(60)
        await ticks(3)
        assert await occurrences(engine, found) == []


async def test_its_times_are_told_before_it_is_made(model: ModelServer) -> None:
    async with live(model) as engine:
        told = await engine.http.post("/schedules/preview", json={"cron": "0 9 * * *", "time_zone": "Asia/Tokyo"})
        assert told.status_code == 200
        assert [at[11:16] for at in told.json()["coming"]] == ["00:00"] * 5
        assert told.json()["time_zone"] == "Asia/Tokyo"
        refused = await engine.http.post("/schedules/preview", json={"cron": "0 0 31 2 *"})
        assert refused.status_code == 422
        assert refused.json()["details"]["fields"][0]["field"] == "cron"
        assert (await engine.http.get("/schedules")).json()["schedules"] == []
