"""Row F1 over several replicas: another one goes on with the run of one that dies, no agent is begun twice, and of two
that resume a run at once one does."""

import asyncio
from pathlib import Path
from typing import Any

from aster.testing import Failure, ModelServer, Rule
from tests.cluster.replicas import Replica, replicas
from tests.work.workflows.conftest import REVIEW, declare
from tests.work.workflows.halves import FILES, SCRIPT, half_done, seen, whole


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


async def test_f1_of_two_who_resume_on_two_replicas_at_once_one_goes_on(tmp_path: Path, database_url: str) -> None:
    catalog = str(declare(tmp_path, REVIEW))
    async with (
        ModelServer([Rule(Failure(400), match="^Review b.py", times=1), *SCRIPT]) as model,
        replicas(tmp_path, model.url, database_url, CATALOG_DIR=catalog, ALLOWED_ROOTS="") as (a, b),
    ):
        body = {"args": FILES, "task_id": "t1"}
        run_id = (await a.http.post("/workflows/review/runs", json=body)).json()["run_id"]
        await come_to(b, run_id, "failed")
        assert sorted(await asyncio.gather(*(resumed(one, run_id) for one in (a, b)))) == [202, 409]
        await model.wait_held("b", timeout=20)
        model.release("b")
        run = await come_to(b, run_id, "completed")
        assert (run["attempts"], run["result"]["summary"]) == (2, "all is fine")
        asked = [call for call in model.calls if "Review b.py" in str(call.body["messages"][-1])]
        assert len(asked) == 2, "once in vain, and once more"


async def come_to(replica: Replica, run_id: str, status: str) -> dict[str, Any]:
    """The run when it stands so, and its task is at rest."""
    async with asyncio.timeout(30):
        while True:
            run = await seen(replica.http, run_id)
            at_rest = (await replica.http.get(f"/tasks/{run['task_id']}")).json()["status"] == "idle"
            if run["status"] == status and at_rest:
                return run
            await asyncio.sleep(0.05)


async def resumed(replica: Replica, run_id: str) -> int:
    return (await replica.http.post(f"/workflows/runs/{run_id}/resume", json={})).status_code
