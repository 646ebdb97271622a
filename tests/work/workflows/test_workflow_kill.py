"""Row F1 where processes die: an engine that is killed in the middle of a run, and a replica whose run another one goes
on with. No agent is begun twice, whoever goes on."""

import asyncio
from pathlib import Path
from typing import Any

import httpx2

from aster.testing import Hold, ModelServer, Reply, Rule, Text
from tests.cluster.replicas import Replica, replicas
from tests.process import engine
from tests.work.workflows.conftest import REVIEW, declare

FILES = {"files": ["a.py", "b.py"]}
SCRIPT = [
    Rule(Reply([Text("a is fine")]), match="^Review a.py"),
    Rule(Reply([Hold("b"), Text("b is fine")]), match="^Review b.py"),
    Rule(Reply([Text("all is fine")]), match="^Sum up"),
]


async def half_done(http: httpx2.AsyncClient, model: ModelServer) -> str:
    """A run of which one agent has answered and another is at it."""
    answer = await http.post("/workflows/review/runs", json={"args": FILES, "task_id": "t1"})
    assert answer.status_code == 202, answer.text
    run_id = str(answer.json()["run_id"])
    await model.wait_held("b")
    async with asyncio.timeout(20):
        while "completed" not in [call["status"] for call in (await seen(http, run_id))["calls"]]:
            await asyncio.sleep(0.02)
    return run_id


async def seen(http: httpx2.AsyncClient, run_id: str) -> dict[str, Any]:
    return (await http.get(f"/workflows/runs/{run_id}")).json()


async def whole(http: httpx2.AsyncClient, model: ModelServer, run_id: str) -> None:
    """The run comes to its end, and each agent was begun once."""
    async with asyncio.timeout(40):
        while (run := await seen(http, run_id))["status"] in ("running", "interrupted"):
            await asyncio.sleep(0.05)
    assert (run["status"], run["result"]["reviews"]) == ("completed", ["a is fine", "b is fine"])
    assert run["attempts"] == 2
    assert [call["attempt"] for call in run["calls"]] == [1, 1, 1]
    answered = [call for call in model.calls if str(call.body["messages"][-1]).find("Review a.py") >= 0]
    assert len(answered) == 1


async def test_f1_a_killed_engine_goes_on_with_the_run(tmp_path: Path) -> None:
    async with ModelServer(SCRIPT) as model:
        host = engine(tmp_path, model.url, CATALOG_DIR=str(declare(tmp_path, REVIEW)), ALLOWED_ROOTS="")
        await host.up()
        try:
            async with httpx2.AsyncClient(base_url=host.url, timeout=20, trust_env=False) as http:
                run_id = await half_done(http, model)
                await host.kill()
                model.release("b")
                await host.up()
                await whole(http, model, run_id)
        finally:
            await host.kill()


async def test_f1_another_replica_goes_on_with_the_run_and_one_of_two_resumes_wins(
    tmp_path: Path, database_url: str
) -> None:
    catalog = str(declare(tmp_path, REVIEW))
    async with (
        ModelServer(SCRIPT) as model,
        replicas(tmp_path, model.url, database_url, CATALOG_DIR=catalog, ALLOWED_ROOTS="") as (a, b),
    ):
        await asyncio.sleep(2.2)  # a replica that has just joined takes nobody for dead
        run_id = await half_done(a.http, model)
        answer = await b.http.post(f"/workflows/runs/{run_id}/resume", json={})
        assert (answer.status_code, answer.json()["details"]["reason"]) == (409, "running")
        await a.process.kill()
        model.release("b")
        await whole(b.http, model, run_id)
        await a.process.up()
        answers = await asyncio.gather(*(resumed(one, run_id) for one in (a, b)))
        assert 202 in answers
        assert all(status in (202, 409) for status in answers)


async def resumed(replica: Replica, run_id: str) -> int:
    return (await replica.http.post(f"/workflows/runs/{run_id}/resume", json={})).status_code
