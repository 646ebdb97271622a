"""Schedules over several replicas, and over ones that die: every time is one row, is delivered, and is told of."""

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from aster.infra.clock import iso_ms
from aster.testing import Hold, ModelServer, Reply, Rule, Text
from tests.cluster.replicas import Replica, replicas, soon
from tests.cluster.turns import going, used
from tests.live import live
from tests.process import engine
from tests.work.schedules.clockwork import Hands

SETTLED = {"acknowledged", "missed", "skipped", "failed"}


@pytest.fixture
async def model() -> AsyncIterator[ModelServer]:
    async with ModelServer() as server:
        yield server


def within(seconds: float) -> str:
    return iso_ms(int((time.time() + seconds) * 1000))


async def made(http: httpx2.AsyncClient, prompt: str, **body: Any) -> str:
    answer = await http.post("/schedules", json={"prompt": prompt, **body})
    assert answer.status_code == 201, answer.text
    return answer.json()["schedule_id"]


async def rows(http: httpx2.AsyncClient, schedule_id: str) -> list[dict[str, Any]]:
    return (await http.get(f"/schedules/{schedule_id}/occurrences")).json()["occurrences"]


async def all_settled(http: httpx2.AsyncClient, ids: list[str]) -> bool:
    found = [await rows(http, one) for one in ids]
    return all(one and all(row["status"] in SETTLED for row in one) for one in found)


async def accounted_for(http: httpx2.AsyncClient, ids: list[str], model: ModelServer) -> None:
    """Each was due once, has one row, was acknowledged, and its turn is there once and says so."""
    for number, one in enumerate(ids):
        (row,) = await rows(http, one)
        assert row["status"] == "acknowledged", row
        task = (await http.get(f"/tasks/{row['task_id']}")).json()
        assert [turn["turn_id"] for turn in task["turns"]] == [row["turn_id"]]
        assert task["turns"][0]["status"] == "completed"
        events = (await http.get(f"/tasks/{row['task_id']}/events", params={"limit": 200})).json()["events"]
        told = [event["status"] for event in events if event["type"] == "schedule_fired"]
        assert told == ["delivered", "acknowledged"]
        assert sum(event["type"] == "user_message" for event in events) == 1
        assert any(f"number {number}." in str(call.body) for call in model.calls)


async def test_what_is_due_is_done_by_one_of_the_replicas(
    tmp_path: Path, model: ModelServer, database_url: str
) -> None:
    async with replicas(tmp_path, model.url, database_url, 3) as engines:
        at, ids = within(3), list[str]()
        for number in range(12):
            http = engines[number % 3].http
            ids.append(await made(http, f"[[text=3]] This is number {number}.", at=at))
        await soon(lambda: all_settled(engines[0].http, ids), 30)
        await accounted_for(engines[1].http, ids, model)
        assert len([call for call in model.calls if "This is number" in str(call.body)]) == 12


async def test_one_that_is_killed_before_it_is_acknowledged_is_taken_over(
    tmp_path: Path, model: ModelServer, database_url: str
) -> None:
    model.script([Rule(Reply([Hold("first"), Text("Done.")]), match="number 0", times=1)])
    async with replicas(tmp_path, model.url, database_url, 3) as engines:
        await asyncio.sleep(2.2)  # a replica that has just joined takes nobody for dead
        one = await made(engines[0].http, "[[text=3]] This is number 0.", at=within(2))
        await model.wait_held("first", timeout=20)
        (row,) = await rows(engines[0].http, one)
        assert row["status"] == "delivered"
        busy = await _busy(engines)
        await busy.process.kill()
        left = next(replica for replica in engines if replica is not busy)
        await soon(lambda: all_settled(left.http, [one]), 30)
        await accounted_for(left.http, [one], model)
        (after,) = await rows(left.http, one)
        assert after["turn_id"] == row["turn_id"]


@pytest.mark.parametrize(
    ("before", "times"),
    [
        ("2026-03-28T12:00:00", ["2026-03-29T01:00:00", "2026-03-30T00:30:00"]),
        ("2026-10-24T12:00:00", ["2026-10-25T00:30:00", "2026-10-26T01:30:00"]),
    ],
    ids=["forward", "back"],
)
async def test_replicas_that_see_clocks_change_do_each_night_once(
    model: ModelServer, database_url: str, before: str, times: list[str]
) -> None:
    """Both look at the same clock, which the test sets."""
    hands = Hands(before, "Europe/Berlin")
    async with (
        live(model, now=hands, database_url=database_url) as a,
        live(model, now=hands, database_url=database_url) as b,
    ):
        prompt = "[[text=3]] This is number 0."
        ids = [await made(a.http, prompt, cron="30 2 * * *", time_zone="Europe/Berlin") for _ in range(10)]
        for count, at in enumerate(times, 1):
            hands.ms = Hands(at).ms

            async def heard(count: int = count) -> bool:
                hands.forward(1)
                found = [await rows(b.http, one) for one in ids]
                return all([row["status"] for row in one] == ["acknowledged"] * count for one in found)

            await soon(heard, 30)
            hands.forward(3600)
            await asyncio.sleep(1.2)
        for one in ids:
            assert [row["due_at"][:19] for row in await rows(a.http, one)] == times[::-1]
        assert len([call for call in model.calls if "This is number" in str(call.body)]) == 2 * len(ids)


async def _busy(engines: list[Replica]) -> Replica:
    """The replica that has a slot in use."""
    while True:
        for replica in engines:
            if await used(replica):
                return replica
        await asyncio.sleep(0.05)


async def test_n6_what_waits_on_one_replica_is_cancelled_on_another(
    tmp_path: Path, model: ModelServer, database_url: str
) -> None:
    model.script([Rule(Reply([Hold("busy"), Text("Done.")]), match="Take your time")])
    async with replicas(tmp_path, model.url, database_url) as (a, b):
        async with going(a, "Take your time.", "t1") as turn:
            await model.wait_held("busy", timeout=20)
            one = await made(a.http, "[[text=3]] This is number 0.", at=within(1), task_id="t1")
            await soon(lambda: _stands(b.http, one, "deferred"), 20)
            assert (await b.http.delete(f"/schedules/{one}")).json()["status"] == "cancelled"
            model.release("busy")
            await turn.ended()
        (row,) = await rows(a.http, one)
        assert (row["status"], row["turn_id"]) == ("skipped", None)
        await asyncio.sleep(3)  # longer than a busy task is left alone
        assert len((await a.http.get("/tasks/t1")).json()["turns"]) == 1
        assert not any("number 0" in str(call.body) for call in model.calls)


async def test_n7_what_was_to_end_with_its_replica_ends_when_that_dies_and_the_rest_goes_on(
    tmp_path: Path, model: ModelServer, database_url: str
) -> None:
    async with replicas(tmp_path, model.url, database_url) as (a, b):
        await asyncio.sleep(2.2)  # a replica that has just joined takes nobody for dead
        kept = await made(a.http, "[[text=3]] This is number 0.", at=within(3))
        brief = await made(a.http, "[[text=3]] This is number 1.", at=within(3), durable=False)
        await a.process.kill()
        await soon(lambda: all_settled(b.http, [kept]), 30)
        await accounted_for(b.http, [kept], model)

        async def over() -> bool:
            return (await b.http.get(f"/schedules/{brief}")).json()["status"] == "ended"

        await soon(over, 20)
        assert not [row for row in await rows(b.http, brief) if row["status"] != "skipped"]
        assert not any("number 1." in str(call.body) for call in model.calls)


async def _stands(http: httpx2.AsyncClient, schedule_id: str, status: str) -> bool:
    return [row["status"] for row in await rows(http, schedule_id)] == [status]


async def test_replicas_that_die_while_much_is_due_lose_nothing(
    tmp_path: Path, model: ModelServer, database_url: str
) -> None:
    async with replicas(tmp_path, model.url, database_url, 3) as engines:
        await asyncio.sleep(2.2)
        ids = [
            await made(
                engines[number % 3].http,
                f"[[text=40 rate=100]] This is number {number}.",
                at=within(2 + number / 6),
            )
            for number in range(24)
        ]
        for replica in engines[:2]:
            await asyncio.sleep(2.5)
            await replica.process.kill()
        await soon(lambda: all_settled(engines[2].http, ids), 60)
        await accounted_for(engines[2].http, ids, model)


async def test_an_engine_that_is_killed_again_and_again_loses_nothing(tmp_path: Path, model: ModelServer) -> None:
    process = engine(tmp_path, model.url, TASK_TITLES="false", ENGINE_LOG_LEVEL="ERROR")
    await process.up()
    try:
        async with httpx2.AsyncClient(base_url=process.url, timeout=30, trust_env=False) as http:
            ids = [
                await made(http, f"[[text=20 rate=100]] This is number {number}.", at=within(2 + number / 3))
                for number in range(20)
            ]
            for pause in (2.3, 1.1, 0.7):
                await asyncio.sleep(pause)
                await process.kill()
                await process.up()
            await soon(lambda: all_settled(http, ids), 60)
            await accounted_for(http, ids, model)
    finally:
        await process.kill()
