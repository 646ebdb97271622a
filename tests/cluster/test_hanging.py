"""Replicas that hang: others go on with their turns, and whoever wakes too late cannot write."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from aster.testing import ModelServer
from tests.cluster.replicas import replicas, soon
from tests.cluster.turns import going, of_type, owner, phase, used, using, whole
from tests.sandbox.processes import alive, sleeper, token

LONG = "[[text=300 rate=100]] Talk."


@pytest.fixture
async def model() -> AsyncIterator[ModelServer]:
    async with ModelServer() as server:
        yield server


async def test_a_replica_that_hangs_is_cut_off_and_cannot_write_when_it_wakes(
    tmp_path: Path, model: ModelServer, database_url: str
) -> None:
    async with replicas(tmp_path, model.url, database_url, REPLICA_SILENCE_SECONDS="2") as (a, b):
        async with going(a, LONG, "t1") as turn:
            await turn.seen("text_delta")
            before = await owner(database_url, "t1")
            await asyncio.sleep(2.2)
            os.kill(a.process.pid, signal.SIGSTOP)

            async def taken() -> bool:
                return await owner(database_url, "t1") not in (before, None)

            await soon(taken, 15.0)
            os.kill(a.process.pid, signal.SIGCONT)
            events = await phase(b, "t1", "completed")
            await turn.ended()

        async def has_room() -> bool:
            return await used(a) == 0

        await soon(has_room, 10.0)
        assert (await a.execute("[[text=3]] Are you back?", "t2"))[-1].data["phase"] == "completed"
    assert whole(events)
    assert len(of_type(events, "recovery")) == 1
    turns = {event["turn_id"] for event in events if event.get("turn_id")}
    assert len(turns) == 1


async def test_what_a_hanging_replica_was_running_is_ended_when_it_wakes(
    tmp_path: Path, model: ModelServer, database_url: str
) -> None:
    async with (
        replicas(tmp_path, model.url, database_url, REPLICA_SILENCE_SECONDS="2") as (a, b),
        going(a, using("bash", command=sleeper(mark := token())), "t1") as turn,
    ):
        await turn.seen("tool_call")

        async def runs() -> bool:
            return bool(alive(mark))

        await soon(runs, 10.0)
        await asyncio.sleep(2.2)
        os.kill(a.process.pid, signal.SIGSTOP)

        async def asked() -> bool:
            return bool((await b.http.get("/hitl/pending")).json()["pending"])

        await soon(asked, 15.0)
        assert await runs()
        os.kill(a.process.pid, signal.SIGCONT)

        async def ended() -> bool:
            return not await runs()

        await soon(ended, 10.0)
