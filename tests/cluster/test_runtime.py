"""Runtime tasks on several replicas: read, followed and ended from another one, and a task that is woken by one that
did not begin it."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from aster.testing import ModelServer, Reply, Rule, Text, ToolCall
from tests.cluster.replicas import Replica, replicas, soon
from tests.live import Stream
from tests.sandbox.processes import alive, sleeper, token

GO_ON = "Nobody has said anything since"


@pytest.fixture
async def model() -> AsyncIterator[ModelServer]:
    async with ModelServer() as server:
        yield server


async def begun(replica: Replica, model: ModelServer, command: str, **more: Any) -> str:
    call = ToolCall("bash", {"command": command, "run_in_background": True, **more}, id="b1")
    model.script(
        [
            Rule(Reply([Text("I went on.")]), match=GO_ON, round=0),
            Rule(Reply([call]), match="^go", round=0),
            Rule(Reply([Text("Begun.")])),
        ]
    )
    frames = await replica.execute("go", "t1")
    (result,) = (frame.data for frame in frames if frame.event == "tool_result")
    return result["data"]["id"]


async def test_it_is_read_followed_and_ended_from_another_replica(
    model: ModelServer, database_url: str, tmp_path: Path
) -> None:
    mark, gate = token(), tmp_path / "gate"
    async with replicas(tmp_path, model.url, database_url, SANDBOX="off", BASH_STALL_SECONDS="0.3") as (a, b):
        command = f"echo one; until [ -e {gate} ]; do sleep 0.05; done; printf 'Go on? '; {sleeper(mark)}"
        name = await begun(a, model, command)
        assert [one["id"] for one in (await b.http.get("/runtime")).json()["tasks"]] == [name]

        async def written() -> bool:
            return (await b.http.get(f"/runtime/{name}/output")).json()["text"] == "one\n"

        await soon(written, 10.0)
        following = b.http.stream("GET", f"/runtime/{name}/stream", params={"offset": 2})
        async with following as response, asyncio.timeout(60):
            stream = Stream(response)
            assert (await stream.until("runtime_output")).data["text"] == "e\n"
            gate.touch()
            assert (await stream.until("runtime_output")).data["text"] == "Go on? "
            await stream.until("runtime_status", status="stalled")
            killed = (await b.http.post(f"/runtime/{name}/kill")).json()
            assert (killed["status"], killed["ended_at"] is not None) == ("killed", True)
            assert alive(mark) == []
            end = (await stream.rest())[-1]
        assert (end.event, end.data["status"]) == ("runtime_end", "killed")
        assert (await a.http.get(f"/runtime/{name}/output")).json()["text"] == "one\nGo on? "


async def test_a_task_is_woken_once_also_when_its_replica_has_died(
    model: ModelServer, database_url: str, tmp_path: Path
) -> None:
    async with replicas(tmp_path, model.url, database_url, SANDBOX="off") as (a, b):
        name = await begun(a, model, "sleep 60", wake=True)
        await a.process.kill()

        async def woken() -> bool:
            turns = (await b.http.get("/tasks/t1")).json()["turns"]
            return [turn["status"] for turn in turns] == ["completed", "completed"]

        await soon(woken, 40.0)
        found = (await b.http.get(f"/runtime/{name}")).json()
        assert (found["status"], found["notified"]) == ("lost", True)
        frames = await b.execute("hello", "t1")
        said = [frame.data.get("origin") for frame in frames if frame.event == "user_message"]
        assert "engine" not in said
        assert len((await b.http.get("/tasks/t1")).json()["turns"]) == 3
