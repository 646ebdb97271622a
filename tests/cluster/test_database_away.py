"""A database that goes away, for a moment, for long or for good: no turn ends of it, and no engine waits for ever."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from aster.testing import ModelServer
from tests import postgres
from tests.cluster.replicas import replicas, soon
from tests.cluster.turns import going, of_type, owner, phase, used, using, whole

LONG = "[[text=300 rate=100]] Talk."


@pytest.fixture
async def model() -> AsyncIterator[ModelServer]:
    async with ModelServer() as server:
        yield server


async def test_a_database_that_restarts_costs_nobody_a_turn(
    tmp_path: Path, model: ModelServer, database_url: str
) -> None:
    async with replicas(tmp_path, model.url, database_url) as (a, b):
        async with going(a, LONG, "t1") as turn:
            await turn.seen("text_delta")
            before = await owner(database_url, "t1")
            await asyncio.sleep(2.2)
            postgres.server().stop("immediate")
            postgres.server().start()

            async def back() -> bool:
                return (await b.http.get("/health")).json()["status"] == "ok"

            await soon(back, 15.0)
            assert await owner(database_url, "t1") == before
            events = await phase(b, "t1", "completed", 30)
            await turn.ended()
        assert (await b.execute("[[text=3]] Still there?", "t2"))[-1].data["phase"] == "completed"
    assert whole(events)
    assert not of_type(events, "recovery")


async def test_a_database_that_is_away_for_longer_than_a_read_waits_ends_no_turn(
    tmp_path: Path, model: ModelServer, database_url: str
) -> None:
    async with (
        replicas(tmp_path, model.url, database_url, 1, DATABASE_PATIENCE_SECONDS="1") as (a,),
        going(a, using("glob", 40, pattern="*"), "t1") as turn,
        going(a, "[[text=100 rate=20]] Talk.", "t2"),
    ):
        await turn.seen("tool_result")
        postgres.server().stop("immediate")
        await asyncio.sleep(4)
        postgres.server().start()
        for task_id in ("t1", "t2"):
            events = await phase(a, task_id, "completed", 40)
            assert whole(events)
            assert not of_type(events, "error")

        async def has_room() -> bool:
            return await used(a) == 0

        await soon(has_room, 5.0)


async def test_an_engine_ends_when_it_is_told_to_although_the_database_is_away(
    tmp_path: Path, model: ModelServer, database_url: str
) -> None:
    async with (
        replicas(tmp_path, model.url, database_url, 1, DRAIN_SECONDS="0") as (a,),
        going(a, LONG, "t1") as turn,
    ):
        await turn.seen("text_delta")
        postgres.server().stop("immediate")
        try:
            await asyncio.wait_for(a.process.stop(), 25)
        finally:
            postgres.server().start()
