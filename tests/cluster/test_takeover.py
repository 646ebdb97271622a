"""Replicas that die: their turns go on elsewhere, once, and nothing is done twice."""

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from aster.testing import ModelServer
from tests.cluster.replicas import Replica, replicas, soon
from tests.cluster.turns import going, of_type, phase, thread, used, using, whole

LONG = "[[text=300 rate=100]] Talk."
ENDLESS = "[[text=5000 rate=50]] Talk."


@pytest.fixture
async def model() -> AsyncIterator[ModelServer]:
    async with ModelServer() as server:
        yield server


async def test_another_replica_goes_on_within_two_seconds_of_a_kill(
    tmp_path: Path, model: ModelServer, database_url: str
) -> None:
    async with replicas(tmp_path, model.url, database_url, 3) as (a, b, c):
        async with going(a, LONG, "t1") as turn:
            await turn.seen("text_delta")
            await asyncio.sleep(2.2)  # a replica that has just joined takes nobody for dead
            await a.process.kill()
            began = time.monotonic()

            async def recovered() -> bool:
                return bool(of_type(await thread(b, "t1"), "recovery"))

            await soon(recovered, 5.0)
            assert time.monotonic() - began < 2.0
        events = await phase(c, "t1", "completed")
    assert whole(events)
    assert [event["phase"] for event in of_type(events, "thread_lifecycle")] == ["started", "completed"]


async def test_a_command_that_was_running_is_asked_about_and_never_repeated(
    tmp_path: Path, model: ModelServer, database_url: str
) -> None:
    async with replicas(tmp_path, model.url, database_url) as (a, b):
        async with going(a, using("bash", command="echo ran >> marks.txt; sleep 20"), "t1") as turn:
            call = await turn.seen("tool_call")

            async def ran() -> bool:
                return any(tmp_path.glob("workspaces/*/t1/marks.txt"))

            await soon(ran, 10.0)
            (marks,) = tmp_path.glob("workspaces/*/t1/marks.txt")
            await a.process.kill()

        async def asked() -> bool:
            return bool((await b.http.get("/hitl/pending")).json()["pending"])

        await soon(asked, 15.0)
        (request,) = (await b.http.get("/hitl/pending")).json()["pending"]
        assert (request["kind"], request["tool"]) == ("in_doubt", "bash")
        await b.http.post("/hitl/respond", json={"request_id": request["request_id"], "answer": "skip"})
        events = await phase(b, "t1", "completed")
    assert marks.read_text().split() == ["ran"]
    (result,) = of_type(events, "tool_result")
    assert result["tool_call_id"] == call.data["tool_call_id"]
    assert whole(events)


async def test_a_turn_over_which_every_replica_dies_is_given_up(
    tmp_path: Path, model: ModelServer, database_url: str
) -> None:
    async with replicas(tmp_path, model.url, database_url, 3, CRASH_LIMIT="2") as engines:
        async with going(engines[0], ENDLESS, "t1") as turn:
            await turn.seen("text_delta")
            await asyncio.sleep(2.2)
            await engines[0].process.kill()
        left = engines[1:]

        async def taken_up() -> bool:
            return bool(of_type(await thread(left[0], "t1"), "recovery"))

        await soon(taken_up, 10.0)
        second = await _busy_one(left)
        await second.process.kill()
        (last,) = (replica for replica in left if replica is not second)
        events = await phase(last, "t1", "errored")
        (error,) = of_type(events, "error")
        assert error["error"] == "TURN_CRASHED"
        assert error["details"]["crashes"] == 2
        task = (await last.http.get("/tasks/t1")).json()
        assert (task["turns"][-1]["stop_reason"], task["turns"][-1]["error"]) == ("dead_letter", "TURN_CRASHED")
        assert (await last.execute("[[text=3]] Again.", "t1"))[-1].data["phase"] == "completed"


async def _busy_one(engines: list[Replica]) -> Replica:
    """The replica that has a slot in use."""
    async with asyncio.timeout(10):
        while True:
            for replica in engines:
                if await used(replica):
                    return replica
            await asyncio.sleep(0.05)
