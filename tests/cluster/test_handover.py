"""Replicas that leave or have no room: others go on with their turns, and all together refuse what is too much."""

import asyncio
import time
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import pytest

from aster.testing import ModelServer
from tests.cluster.replicas import replicas, soon
from tests.cluster.turns import going, of_type, owner, phase, used, using, whole
from tests.process import engine

LONG = "[[text=300 rate=100]] Talk."
ENDLESS = "[[text=5000 rate=50]] Talk."


@pytest.fixture
async def model() -> AsyncIterator[ModelServer]:
    async with ModelServer() as server:
        yield server


async def test_a_replica_that_is_told_to_stop_hands_its_turns_over(
    tmp_path: Path, model: ModelServer, database_url: str
) -> None:
    async with replicas(tmp_path, model.url, database_url, DRAIN_SECONDS="5") as (a, b):
        steps = using("bash", 15, command="sleep 0.2; echo $round >> rounds.txt")
        async with going(a, steps, "t1") as turn:
            await turn.seen("tool_result")
            await asyncio.wait_for(a.process.stop(), 15)
            seen = await turn.ended()
        assert seen[-1].event == "reconnect"
        events = await phase(b, "t1", "completed", 30)
    assert whole(events)
    assert not of_type(events, "recovery")
    assert len(of_type(events, "tool_result")) == 15
    (rounds,) = tmp_path.glob("workspaces/*/t1/rounds.txt")
    assert len(rounds.read_text().split()) == 15


async def test_a_full_replica_passes_a_turn_on_and_all_together_refuse_what_is_too_much(
    tmp_path: Path, model: ModelServer, database_url: str
) -> None:
    async with (
        replicas(tmp_path, model.url, database_url, TASK_SLOTS="1") as (a, b),
        going(a, ENDLESS, "t1"),
        going(a, ENDLESS, "t2") as second,
    ):
        await second.seen("text_delta")
        assert [await used(a), await used(b)] == [1, 1]
        async with going(a, ENDLESS, "t3") as third:
            await soon(partial(_waits, database_url, "t3"), 5.0)
            full = await b.http.post("/execute", json={"message": "One more.", "task_id": "t4"})
            assert (full.status_code, full.json()["error"]) == (503, "SLOTS_EXHAUSTED")
            assert not any(frame.event == "text_delta" for frame in third.stream.seen)
            await a.http.post("/execute/cancel", json={"task_id": "t2"})
            await third.seen("text_delta")
            async with going(b, ENDLESS, "t5") as waiting:
                began = time.monotonic()
                cancelled = await a.http.post("/execute/cancel", json={"task_id": "t5"})
                assert (cancelled.status_code, cancelled.json()["status"]) == (200, "cancelled")
                assert time.monotonic() - began < 5.0
                assert not any(frame.event == "text_delta" for frame in await waiting.ended())
            assert [await used(a), await used(b)] == [1, 1]
            cancelled = await a.http.post("/execute/cancel", json={"task_id": "t3"})
            assert cancelled.json()["status"] == "cancelled"


async def test_a_user_has_no_more_turns_than_one_may_over_all_replicas(
    tmp_path: Path, model: ModelServer, database_url: str
) -> None:
    async with (
        replicas(tmp_path, model.url, database_url, USER_SLOTS="1") as (a, b),
        going(a, LONG, "t1") as turn,
    ):
        await turn.seen("text_delta")
        refused = await b.http.post("/execute", json={"message": "Me too.", "task_id": "t2"})
        assert (refused.status_code, refused.json()["error"]) == (503, "SLOTS_EXHAUSTED")
        assert refused.json()["details"]["user_slots"] == 1


async def test_an_engine_that_is_to_be_alone_refuses_company(
    tmp_path: Path, model: ModelServer, database_url: str
) -> None:
    async with replicas(tmp_path, model.url, database_url, 1):
        alone = engine(tmp_path, model.url, DATABASE_URL=database_url, RUNNER="local")
        with pytest.raises(AssertionError, match="RUNNER=local is for one engine alone"):
            await alone.up()
    async with replicas(tmp_path, model.url, database_url, 1, RUNNER="local") as (only,):
        assert (await only.execute("[[text=3]] Hello.", "t1"))[-1].data["phase"] == "completed"
        other = engine(tmp_path, model.url, DATABASE_URL=database_url)
        with pytest.raises(AssertionError, match="is alone there by its settings"):
            await other.up()


async def test_an_answer_to_a_replica_that_leaves_is_gone_on_with_elsewhere_at_once(
    tmp_path: Path, model: ModelServer, database_url: str
) -> None:
    async with replicas(tmp_path, model.url, database_url, DRAIN_SECONDS="8") as (a, b):
        async with going(a, using("ask_user", question="Shall I?"), "asks") as asking:
            await asking.seen("thread_lifecycle", phase="suspended")
        (request,) = (await a.http.get("/hitl/pending")).json()["pending"]
        async with going(a, using("bash", command="sleep 6"), "busy") as turn:
            await turn.seen("tool_call")
            leaving = asyncio.create_task(a.process.stop())

            async def drains() -> bool:
                return (await a.http.get("/health")).json()["status"] == "draining"

            await soon(drains, 5.0)
            began = time.monotonic()
            answered = {"request_id": request["request_id"], "answer": "Do."}
            answer = await a.http.post("/hitl/respond", json=answered)
            assert answer.json()["status"] == "resumed"
            await phase(b, "asks", "completed", 5)
            assert time.monotonic() - began < 2.0
            assert not leaving.done()
            await leaving
        assert whole(await phase(b, "busy", "completed"))


async def _waits(database_url: str, task_id: str) -> bool:
    """Whether a turn has been let in, and nobody has it."""
    return await owner(database_url, task_id) is None
