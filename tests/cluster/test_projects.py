"""Projects over several replicas, and over one that dies: every item is worked on once, and nothing is left lying."""

import asyncio
from pathlib import Path
from typing import Any

from aster.testing import Hold, ModelServer, RecordedCall, Reply, Text
from aster.testing.script import Answer
from tests.cluster.replicas import Replica, replicas, soon
from tests.cluster.turns import used

ITEMS = 4


async def made(http: Any, *subjects: str) -> str:
    project = (await http.post("/projects", json={"title": "Bridge"})).json()["project_id"]
    items = {"items": [{"subject": subject} for subject in subjects]}
    assert (await http.post(f"/projects/{project}/items", json=items)).status_code == 201
    return project


async def done(replica: Replica, project: str) -> bool:
    return (await replica.http.get(f"/projects/{project}")).json()["status"] == "DONE"


async def test_116_one_that_is_advanced_everywhere_is_worked_on_once_and_taken_over_when_its_replica_dies(
    tmp_path: Path, database_url: str
) -> None:
    async with ModelServer() as model:
        held: list[str] = []

        def answer(call: RecordedCall) -> Answer | None:
            if "nothing beyond it: item 1" in str(call.body) and not held:
                held.append("item 1")
                return Reply([Hold("item"), Text("never")])
            return Reply([Text("It is done.")])

        model.script([answer])
        async with replicas(tmp_path, model.url, database_url, 3) as all_three:
            await asyncio.sleep(2.2)  # a replica that has just joined takes nobody for dead
            project = await made(all_three[0].http, *(f"item {at}" for at in range(ITEMS)))
            path = f"/projects/{project}"
            got = await asyncio.gather(
                *(
                    all_three[at % 3].http.post(f"{path}/advance", json={"until": "blocked"}, timeout=60)
                    for at in range(12)
                )
            )
            assert sorted(reply.status_code for reply in got) == [202] + [409] * 11
            await model.wait_held("item", timeout=30)
            busy = await _busy(all_three)
            await busy.process.kill()
            left = next(replica for replica in all_three if replica is not busy)
            await soon(lambda: done(left, project), 60)
            advances = (await left.http.get(f"{path}/advances")).json()["advances"]
            assert [one["status"] for one in advances] == ["done"] * ITEMS
            assert len({one["item_id"] for one in advances}) == ITEMS
            artifacts = (await left.http.get(f"{path}/artifacts")).json()["artifacts"]
            assert sorted(one["name"] for one in artifacts) == [f"item {at}" for at in range(ITEMS)]
            for one in advances:
                task = (await left.http.get(f"/tasks/{one['task_id']}")).json()
                assert [turn["turn_id"] for turn in task["turns"]] == [one["turn_id"]]


async def _busy(engines: list[Replica]) -> Replica:
    """The replica that has a slot in use."""
    while True:
        for replica in engines:
            if await used(replica):
                return replica
        await asyncio.sleep(0.05)
