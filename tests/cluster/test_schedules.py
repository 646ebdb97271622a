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
from tests.cluster.turns import used
from tests.process import engine

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


async def _busy(engines: list[Replica]) -> Replica:
    """The replica that has a slot in use."""
    while True:
        for replica in engines:
            if await used(replica):
                return replica
        await asyncio.sleep(0.05)


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
