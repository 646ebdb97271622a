"""Requests in teams over several replicas: answered once wherever the answers come in, and held to when the replica
that ran a member is no more."""

import asyncio
from pathlib import Path

from aster.testing import Hold, ModelServer, Reply, Text, ToolCall
from tests.cluster.replicas import replicas
from tests.work.teams.drills import Drill, calls, says

PLAN = ("submit_plan", {"plan": "1. Write a.txt."})
WRITE = ("write_file", {"path": "a.txt", "content": "deep"})


async def planned(own: Drill) -> tuple[str, str]:
    """A team whose member waits with its plan: the team, and the request."""
    item = await own.item()
    own.plays["Ada"][:0] = [calls(PLAN)]
    team_id = (await own.team({"name": "Ada", "item_id": item, "require_plan": True}))["team_id"]
    return team_id, (await own.until_plan(team_id, "Ada", "pending"))["request_id"]


async def test_q1_of_answers_on_all_replicas_at_once_one_counts(database_url: str, tmp_path: Path) -> None:
    async with ModelServer() as model, replicas(tmp_path, model.url, database_url) as both:
        own = Drill(both[0].http, model)
        other = own.beside(both[1].http)
        team_id, request_id = await planned(own)
        answers = [
            (own, other)[at % 2].answer(team_id, request_id, approve=at % 4 < 2, feedback=str(at))
            for at in range(12)
        ]
        done = [body for status, body in await asyncio.gather(*answers) if status == 200]
        assert len(done) == 1
        for one in (own, other):
            after = await one.get(f"/teams/{team_id}/requests/{request_id}")
            assert (after["status"], after["feedback"]) == (done[0]["status"], done[0]["feedback"])


async def test_q3_the_gate_holds_on_the_replica_that_goes_on(database_url: str, tmp_path: Path) -> None:
    async with ModelServer() as model, replicas(tmp_path, model.url, database_url) as (first, second):
        own = Drill(first.http, model)
        after = own.beside(second.http)
        own.plays["Ada"] = [Reply([Text("I try."), Hold("try"), ToolCall(*WRITE, id="w")])]
        team_id, request_id = await planned(own)
        assert (await own.answer(team_id, request_id, approve=False))[0] == 200
        await model.wait_held("try", timeout=20)
        after.plays["Ada"] = [calls(WRITE), says("Blocked.")]
        await first.process.kill()
        model.release("try")
        member = await after.until(team_id, "Ada", "waiting_approval")
        plan, write = (await after.until_results(member["task_id"], 2))[:2]
        assert "rejected" in plan["output"]
        assert write["output"].startswith("Blocked: plan status is rejected.")


async def test_q2_a_member_stops_although_the_replica_that_ran_it_is_gone(
    database_url: str, tmp_path: Path
) -> None:
    async with ModelServer() as model, replicas(tmp_path, model.url, database_url) as (first, second):
        own = Drill(first.http, model)
        after = own.beside(second.http)
        own.plays["Ada"] = [Reply([Text("I see."), Hold("see"), ToolCall(*WRITE, id="w")])]
        item = await own.item()
        team_id = (await own.team({"name": "Ada", "item_id": item}))["team_id"]
        await model.wait_held("see", timeout=20)
        _, asked = await after.post(f"/teams/{team_id}/members/Ada/shutdown")
        assert asked["status"] == "pending"
        await first.process.kill()
        heard = len(own.heard["Ada"])
        await after.until(team_id, "Ada", "stopped")
        assert len(own.heard["Ada"]) == heard
        assert (await after.get(f"/teams/{team_id}/requests/{asked['request_id']}"))["status"] == "approved"
        assert (await after.get(f"/work/items/{item}"))["owner"] is None
        model.release("see")


async def test_q2_a_member_that_another_replica_runs_finishes_its_step_and_is_gone(
    database_url: str, tmp_path: Path
) -> None:
    async with ModelServer() as model, replicas(tmp_path, model.url, database_url) as (first, second):
        own = Drill(first.http, model)
        other = own.beside(second.http)
        own.plays["Ada"] = [Reply([Hold("step"), ToolCall(*WRITE, id="w")]), says("Never said.")]
        team_id = (await own.team({"name": "Ada"}))["team_id"]
        await model.wait_held("step", timeout=20)
        await other.post(f"/teams/{team_id}/members/Ada/shutdown")
        model.release("step")
        gone = await other.until(team_id, "Ada", "stopped")
        (written,) = await other.results(gone["task_id"])
        assert written.get("error") is None
