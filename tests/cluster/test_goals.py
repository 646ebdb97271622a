"""Row O1 over several replicas: a goal is held to wherever its task works, and whoever goes on with a turn counts on
from where the other was."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from aster.testing import Hold, ModelServer, Reply, Rule, Text
from tests.cluster.replicas import Replica, replicas
from tests.cluster.turns import going, of_type, phase, whole

JUDGE = "You judge whether a goal"


@pytest.fixture
async def model() -> AsyncIterator[ModelServer]:
    async with ModelServer() as server:
        yield server


def verdict(*before: Any, ok: bool = False, **more: Any) -> Rule:
    said = {"ok": ok, "impossible": False, "reason": "seen" if ok else "not yet", "evidence": ["Hm."] if ok else []}
    return Rule(Reply([*before, Text(json.dumps(said))]), system=JUDGE, **more)


HM = Rule(Reply([Text("Hm.")]))


async def aimed(replica: Replica) -> None:
    """A task with a goal."""
    await replica.execute("[[text=3]] Hello.", "t1")
    answer = await replica.http.put("/tasks/t1/goal", json={"goal": "The answer is 42."})
    assert answer.status_code == 200, answer.text


async def goal(replica: Replica) -> dict[str, Any]:
    return (await replica.http.get("/tasks/t1/goal")).json()


def said(events: list[dict[str, Any]]) -> list[str]:
    return [event["status"] for event in of_type(events, "goal_status")]


async def ended(replica: Replica, count: int) -> list[dict[str, Any]]:
    """The thread, once so many turns of it are over."""
    async with asyncio.timeout(30):
        while True:
            events = await phase(replica, "t1", "completed")
            ends = [one for one in of_type(events, "thread_lifecycle") if one["phase"] == "completed"]
            if len(ends) == count:
                return events
            await asyncio.sleep(0.05)


async def test_o1_a_goal_that_is_set_on_one_replica_holds_on_every_other(
    tmp_path: Path, model: ModelServer, database_url: str
) -> None:
    async with replicas(tmp_path, model.url, database_url) as (a, b):
        await aimed(a)
        model.script([verdict(times=1), verdict(ok=True), HM])
        frames = await b.execute("Go.", "t1")
        assert [frame.data["status"] for frame in frames if frame.event == "goal_status"] == ["blocked", "achieved"]
        assert [(await goal(one))["status"] for one in (a, b)] == ["achieved", "achieved"]
        asked = len(model.calls)
        await a.execute("[[text=3]] And now?", "t1")
        assert not any(JUDGE in str(call.body) for call in model.calls[asked:]), (
            "what is achieved is judged no more"
        )


async def test_o1_a_replica_that_dies_while_it_judges_is_followed_by_one_that_counts_on(
    tmp_path: Path, model: ModelServer, database_url: str
) -> None:
    async with replicas(tmp_path, model.url, database_url) as (a, b):
        await aimed(a)
        model.script([verdict(times=3), verdict(Hold("judge"), times=1), verdict(), HM])
        async with going(a, "Go.", "t1") as turn:
            await turn.seen("goal_status", status="blocked")
            await model.wait_held("judge", timeout=20)
            await asyncio.sleep(2.2)  # a replica that has just joined takes nobody for dead
            await a.process.kill()
        model.release("judge")
        events = await ended(b, 2)
        assert whole(events)
        assert said(events) == ["active", *["blocked"] * 8, "limit"]
        assert [one["blocks"] for one in of_type(events, "goal_status")[1:]] == [1, 2, 3, 4, 5, 6, 7, 8, 8]
        kept = await goal(b)
        assert (kept["status"], kept["outcome"], kept["blocks"]) == ("active", "limit", 8)
        await a.process.up()
        model.script([verdict(ok=True), HM])
        await a.execute("Again.", "t1")
        assert (await goal(b))["status"] == "achieved"


async def test_o1_a_goal_that_is_cleared_elsewhere_while_it_is_judged_sends_nobody_on(
    tmp_path: Path, model: ModelServer, database_url: str
) -> None:
    async with replicas(tmp_path, model.url, database_url) as (a, b):
        await aimed(a)
        model.script([verdict(Hold("judge")), HM])
        async with going(a, "Go.", "t1") as turn:
            await model.wait_held("judge", timeout=20)
            assert (await b.http.delete("/tasks/t1/goal")).status_code == 204
            model.release("judge")
            await turn.ended()
        assert said(await ended(b, 2)) == ["active", "cleared"]
        for one in (a, b):
            assert (await one.http.get("/tasks/t1/goal")).status_code == 404


async def test_o1_a_goal_that_is_replaced_while_it_is_judged_is_judged_as_it_is_then(
    tmp_path: Path, model: ModelServer, database_url: str
) -> None:
    async with replicas(tmp_path, model.url, database_url) as (a, b):
        await aimed(a)
        model.script([verdict(Hold("judge"), times=1), verdict(ok=True), HM])
        async with going(a, "Go.", "t1") as turn:
            await model.wait_held("judge", timeout=20)
            assert (await b.http.put("/tasks/t1/goal", json={"goal": "Another."})).status_code == 200
            model.release("judge")
            await turn.ended()
        assert said(await ended(b, 2)) == ["active", "active", "achieved"]
        assert (await goal(b))["goal"] == "Another."
        assert "Another." in str(model.calls[-1].body)
