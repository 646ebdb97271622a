"""A run of the review of which one agent has answered and another is held, for tests in which processes die."""

import asyncio
from typing import Any

import httpx2

from aster.testing import Hold, ModelServer, Reply, Rule, Text

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
