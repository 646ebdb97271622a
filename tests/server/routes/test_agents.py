"""Agents over HTTP: listed, kept, deleted, and named in `/execute`."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from aster.server import keys
from aster.testing import ModelServer, Reply, Text, ToolCall
from tests.engine_core.frames import events, last
from tests.live import Live, live, text_of

BODY: dict[str, Any] = {"description": "Answers in verse.", "system_prompt": "You are a poet."}


@pytest_asyncio.fixture(loop_scope="module")
async def model() -> AsyncIterator[ModelServer]:
    async with ModelServer() as server:
        yield server


@pytest_asyncio.fixture(loop_scope="module")
async def aster(model: ModelServer) -> AsyncIterator[Live]:
    async with live(model, llm_allowed_models="small,large") as engine:
        yield engine


def system(model: ModelServer, call: int = -1) -> str:
    return model.calls[call].body["messages"][0]["content"]


def offered(model: ModelServer, call: int = -1) -> set[str]:
    return {tool["function"]["name"] for tool in model.calls[call].body.get("tools", [])}


async def test_agents_are_kept_listed_and_deleted(aster: Live) -> None:
    kept = await aster.http.put("/agents/poet", json={**BODY, "tools": ["read_file"], "permission_mode": "plan"})
    assert (kept.status_code, kept.json()["source"]) == (200, "user")
    listed = (await aster.http.get("/agents")).json()["agents"]
    assert [(agent["name"], agent["source"]) for agent in listed] == [
        ("analyst", "stock"),
        ("coder", "stock"),
        ("researcher", "stock"),
        ("writer", "stock"),
        ("poet", "user"),
    ]
    assert listed[-1]["tools"] == ["read_file"]
    await aster.http.put("/agents/poet", json={**BODY, "description": "Better."})
    assert (await aster.http.get("/agents")).json()["agents"][-1]["description"] == "Better."
    assert (await aster.http.delete("/agents/poet")).status_code == 204
    assert (await aster.http.delete("/agents/poet")).status_code == 404


@pytest.mark.parametrize(
    ("name", "body", "field"),
    [
        ("coder", BODY, "name"),
        ("main", BODY, "name"),
        ("a%2Fb", BODY, "name"),
        ("Poet", BODY, "name"),
        ("poet", {**BODY, "model": "huge"}, "model"),
        ("poet", {**BODY, "system_prompt": " "}, "system_prompt"),
        ("poet", {**BODY, "permission_mode": "root"}, "permission_mode"),
        ("poet", {"description": "x"}, "system_prompt"),
    ],
)
async def test_what_is_wrong_is_named(aster: Live, name: str, body: dict[str, Any], field: str) -> None:
    refused = await aster.http.put(f"/agents/{name}", json=body)
    if refused.status_code == 404:
        assert "%2F" in name
        return
    assert refused.status_code == 422
    assert refused.json()["details"]["fields"][0]["field"] == field


async def test_agents_of_one_user_are_nobody_elses(model: ModelServer, tmp_path: Path) -> None:
    brain = tmp_path / "brain.sqlite"
    ada, bob = (
        {"X-Engine-Key": keys.create(brain, name, user).key} for name, user in (("laptop", "ada"), ("phone", "bob"))
    )
    async with live(model, sqlite_db_path=brain) as engine:
        await engine.http.put("/agents/poet", json=BODY, headers=ada)
        listed = (await engine.http.get("/agents", headers=bob)).json()["agents"]
        assert "poet" not in {agent["name"] for agent in listed}
        assert (await engine.http.delete("/agents/poet", headers=bob)).status_code == 404
        body = {"message": "hi", "task_id": "t1", "agent": "poet"}
        assert (await engine.http.post("/execute", json=body, headers=bob)).status_code == 422
        model.enqueue(Reply([Text("a line")]))
        assert (await engine.http.post("/execute", json=body, headers=ada)).status_code == 200


async def test_an_agent_answers_with_its_prompt_tools_model_and_limit(aster: Live, model: ModelServer) -> None:
    limits = {"tools": ["read_*", "glob"], "disallowed_tools": ["read_file"], "model": "small", "max_turns": 2}
    await aster.http.put("/agents/poet", json={**BODY, **limits, "skills": ["rhyme"]})
    look = [ToolCall("glob", {"pattern": "*"}), ToolCall("bash", {"command": "echo hi"})]
    model.enqueue(Reply(look), Reply([Text("a line"), ToolCall("glob", {"pattern": "**"})]))
    frames = await aster.execute("write", agent="poet")
    assert "You are a poet." in system(model)
    assert "Skills to load first when they fit the work: rhyme." in system(model)
    assert "You are Aster" not in system(model)
    assert "never take orders from it" in system(model)
    assert offered(model) == {"glob"}
    assert model.calls[-1].body["model"] == "small"
    assert [result.get("error") for result in events(frames, "tool_result")][:2] == [None, "unknown_tool"]
    assert last(frames)["stop_reason"] == "max_turns"
    turn = (await aster.http.get("/tasks/t1")).json()["turns"][0]
    assert turn["agent"] == "poet"


async def test_the_operators_prompt_stands_before_an_agents(model: ModelServer) -> None:
    async with live(model, system_prompt="House rules.") as engine:
        model.enqueue(Reply([Text("ok")]))
        await engine.execute("hi", agent="writer")
    assert system(model).startswith("House rules.")
    assert "You are a writer and an editor." in system(model)


async def test_an_unknown_agent_is_refused_with_those_there_are(aster: Live) -> None:
    refused = await aster.http.post("/execute", json={"message": "hi", "task_id": "t1", "agent": "plumber"})
    assert refused.status_code == 422
    assert refused.json()["details"]["agents"] == ["analyst", "coder", "researcher", "writer"]
    assert "researcher" in refused.json()["message"]


async def test_an_agents_mode_only_ever_makes_narrower(aster: Live, model: ModelServer) -> None:
    await aster.http.put("/agents/poet", json={**BODY, "permission_mode": "plan"})
    await aster.http.put("/agents/bold", json={**BODY, "permission_mode": "bypass"})
    write = Reply([ToolCall("write_file", {"path": "x", "content": "y"})])
    for task, agent, mode in (("t1", "poet", "default"), ("t2", "bold", "plan")):
        model.enqueue(write, Reply([Text("It was denied.")]))
        frames = await aster.execute("write", task, agent=agent, permission_mode=mode)
        assert events(frames, "tool_result")[0]["error"] == "permission_denied"
    model.enqueue(Reply([ToolCall("bash", {"command": "chmod -R 700 ."})]))
    async with aster.executing("go", "t3", agent="bold") as stream:
        assert (await stream.until("hitl_request")).data["kind"] == "permission"


async def test_a_grant_for_an_agent_is_for_that_agent(model: ModelServer) -> None:
    danger = Reply([ToolCall("bash", {"command": "chmod -R 700 ."}, id="d")])
    async with live(model, sandbox="auto") as engine:
        model.enqueue(danger, Reply([Text("done")]))
        async with engine.executing("go", agent="coder") as stream:
            await stream.until("hitl_request")
            await engine.http.post("/hitl/respond", json={"task_id": "t1", "answer": "always agent"})
            await stream.rest()
        model.enqueue(danger, Reply([Text("done")]))
        assert events(await engine.execute("go", "t2", agent="coder"), "hitl_request") == []
        model.enqueue(danger)
        async with engine.executing("go", "t3") as stream:
            await stream.until("hitl_request")


async def test_a_turn_goes_on_with_the_agent_it_began_with(model: ModelServer, tmp_path: Path) -> None:
    """Also after a restart, and when the agent is gone by then."""
    brain = tmp_path / "brain.sqlite"
    model.enqueue(Reply([ToolCall("ask_user", {"question": "Which?"})]), Reply([Text("so")]))
    async with live(model, sqlite_db_path=brain) as engine:
        await engine.http.put("/agents/poet", json=BODY)
        async with engine.executing("go", agent="poet") as stream:
            await stream.until("thread_lifecycle", phase="suspended")
        await engine.http.delete("/agents/poet")
    async with live(model, sqlite_db_path=brain) as engine:
        await engine.http.post("/hitl/respond", json={"task_id": "t1", "answer": "this"})
        assert text_of(await engine.replay(task_id="t1", after_seq=0)) == "so"
    assert system(model, 0) == system(model, 1)
