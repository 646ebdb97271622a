"""`/rpc`: calls without a model go the way of every call."""

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx2
import pytest

from aster.server import keys
from aster.testing import ModelServer, Reply, Text, ToolCall
from tests import process
from tests.asset_directory.server import made, serving
from tests.live import Live, live
from tests.server.conftest import KEY

HEADERS = {"X-Engine-Key": KEY}
PUSH = {"command": "git push --force origin main"}


async def call(engine: Live, method: str, params: dict[str, Any], **more: Any) -> Any:
    body = {"method": method, "params": params, **more}
    return await engine.http.post("/rpc", json=body, headers=HEADERS)


async def events(engine: Live, task: str, *types: str) -> list[dict[str, Any]]:
    params = {"types": ",".join(types), "limit": 200}
    return (await engine.http.get(f"/tasks/{task}/events", params=params, headers=HEADERS)).json()["events"]


async def test_a_tool_is_called_and_leaves_its_trace(engine: Live, model: ModelServer, task: str) -> None:
    before = len(model.calls)
    made = await call(engine, "tool.write_file", {"path": "a.txt", "content": "heron"}, task_id=task)
    assert made.status_code == 200, made.text
    read = (await call(engine, "tool.read_file", {"path": "a.txt"}, task_id=task)).json()["result"]
    assert (read["ok"], read["error"], read["task_id"]) == (True, None, task)
    assert "heron" in read["output"]
    assert len(model.calls) == before
    issued = await events(engine, task, "tool_call")
    assert [one["tool"] for one in issued] == ["write_file", "read_file"]
    ended = [one["stop_reason"] for one in await events(engine, task, "thread_lifecycle") if one.get("stop_reason")]
    assert ended == ["called", "called"]
    undone = await engine.http.post(f"/tasks/{task}/undo", json={}, headers=HEADERS)
    assert [file["action"] for file in undone.json()["files"]] == ["removed"]


async def test_the_conversation_goes_on_after_a_call(engine: Live, model: ModelServer, task: str) -> None:
    model.enqueue(Reply([Text("A grey heron.")]), Reply([Text("It stands.")]))
    await engine.execute("What is it?", task, key=KEY)
    await call(engine, "tool.write_file", {"path": "b.txt", "content": "egret"}, task_id=task)
    await engine.execute("And now?", task, key=KEY)
    shown = str(model.calls[-1].body)
    assert "A grey heron." in shown
    assert "A client called tool.write_file itself." in shown


async def test_a_call_that_needs_a_person_waits_and_its_result_is_fetched(engine: Live, task: str) -> None:
    asked = await call(engine, "tool.bash", PUSH, task_id=task)
    assert (asked.status_code, asked.json()["error"]) == (409, "HITL_REQUIRED")
    details = asked.json()["details"]
    again = await call(engine, "tool.bash", PUSH, turn_id=details["turn_id"])
    assert again.json()["details"]["request_id"] == details["request_id"]
    pending = (await engine.http.get("/hitl/pending", params={"task_id": task}, headers=HEADERS)).json()["pending"]
    assert [one["request_id"] for one in pending] == [details["request_id"]]
    answer = {"request_id": details["request_id"], "answer": "no", "feedback": "not today"}
    await engine.http.post("/hitl/respond", json=answer, headers=HEADERS)
    denied = await call(engine, "tool.bash", PUSH, turn_id=details["turn_id"])
    assert (denied.status_code, denied.json()["error"]) == (403, "PERMISSION_DENIED")
    assert "not today" in denied.json()["message"]


async def test_an_approved_call_runs_once(engine: Live, task: str) -> None:
    command = {"command": "echo gone >> log.txt"}
    details = (await call(engine, "tool.bash", command, task_id=task, permission_mode="auto")).json()["details"]
    answer = {"request_id": details["request_id"], "answer": "yes"}
    await engine.http.post("/hitl/respond", json=answer, headers=HEADERS)
    for _ in range(2):
        done = await call(engine, "tool.bash", command, turn_id=details["turn_id"])
        assert (done.status_code, done.json()["result"]["ok"]) == (200, True), done.text
    assert len(await events(engine, task, "tool_call")) == 1
    other = await call(engine, "tool.read_file", command, turn_id=details["turn_id"])
    assert (other.status_code, other.json()["error"]) == (404, "NOT_FOUND")


async def test_a_waiting_call_does_not_hold_up_others(engine: Live) -> None:
    first = (await call(engine, "tool.bash", PUSH)).json()["details"]
    second = (await call(engine, "tool.bash", {"command": "echo free"})).json()["result"]
    assert "free" in second["output"]
    assert second["task_id"] != first["task_id"]
    await engine.http.post("/execute/cancel", json={"task_id": first["task_id"]}, headers=HEADERS)


async def test_nobody_there_means_no(model: ModelServer) -> None:
    async with live(model, unattended_policy="deny") as engine:
        answer = await engine.http.post("/rpc", json={"method": "tool.bash", "params": PUSH, "unattended": True})
        assert (answer.status_code, answer.json()["error"]) == (403, "PERMISSION_DENIED")


async def test_plan_mode_changes_nothing(engine: Live, task: str) -> None:
    params = {"path": "c.txt", "content": "x"}
    answer = await call(engine, "tool.write_file", params, task_id=task, permission_mode="plan")
    assert (answer.status_code, answer.json()["error"]) == (403, "PERMISSION_DENIED")


async def test_hooks_and_rules_speak_as_in_a_turn(model: ModelServer, tmp_path: Path) -> None:
    hooks, rules = tmp_path / "hooks.json", tmp_path / "rules.json"
    hook = {"matcher": "write_file", "command": "echo 'not on a Sunday' >&2; exit 2"}
    hooks.write_text(json.dumps({"hooks": {"PreToolUse": [hook]}}))
    rules.write_text(json.dumps({"rules": [{"behavior": "deny", "tool": "bash", "pattern": "curl *"}]}))
    async with live(model, sandbox="auto", hooks_path=hooks, permission_rules_path=rules) as engine:
        for method, params, said in (
            ("tool.write_file", {"path": "a.txt", "content": "x"}, "not on a Sunday"),
            ("tool.bash", {"command": "curl example.org"}, "forbids"),
        ):
            answer = await engine.http.post("/rpc", json={"method": method, "params": params})
            assert (answer.status_code, answer.json()["error"]) == (403, "PERMISSION_DENIED")
            assert said in answer.json()["message"]


async def test_secrets_do_not_come_out(engine: Live, task: str) -> None:
    answer = await call(engine, "tool.bash", {"command": f"echo {KEY}"}, task_id=task)
    assert KEY not in answer.text
    page = await engine.http.get(f"/tasks/{task}/events", headers=HEADERS)
    assert KEY not in page.text


async def test_memory_by_name(engine: Live, task: str) -> None:
    made = await call(engine, "memory.write", {"text": "The osprey nests in May."}, task_id=task)
    assert made.status_code == 200, made.text
    found = (await call(engine, "memory.search", {"query": "osprey nests"})).json()["result"]
    assert "osprey" in found["output"]
    record = (await call(engine, "memory.get", {"id": found["data"]["ids"][0]})).json()["result"]
    assert "osprey" in record["text"]
    assert (await call(engine, "memory.soul", {})).json()["result"]["identity"]
    assert (await call(engine, "memory.statistics", {})).json()["result"]["stores"]["knowledge"] >= 1
    assert (await call(engine, "memory.get", {})).status_code == 422


async def test_a_skill_by_name(engine: Live, model: ModelServer, task: str) -> None:
    model.enqueue(Reply([Text("Herons, briefly.")]))
    answer = await call(engine, "skill.summarizer", {"text": "A long text about herons."}, task_id=task)
    assert answer.status_code == 200, answer.text
    assert "Herons, briefly." in answer.json()["result"]["output"]
    assert "A long text about herons." in str(model.calls[-1].body)
    assert [one["tool"] for one in await events(engine, task, "tool_call")] == ["run_skill"]


async def test_a_parked_call_outlives_the_engine(model: ModelServer, tmp_path: Path) -> None:
    brain = tmp_path / "brain.sqlite"
    params = {"command": "echo back > log.txt && cat log.txt"}
    body: dict[str, Any] = {"method": "tool.bash", "params": params, "permission_mode": "auto", "task_id": "t1"}
    async with live(model, sqlite_db_path=brain) as engine:
        details = (await engine.http.post("/rpc", json=body)).json()["details"]
    async with live(model, sqlite_db_path=brain) as engine:
        said = {"request_id": details["request_id"], "answer": "yes"}
        assert (await engine.http.post("/hitl/respond", json=said)).status_code == 200
        done = await engine.http.post("/rpc", json={**body, "turn_id": details["turn_id"]})
        assert "back" in done.json()["result"]["output"]


async def test_a_connected_servers_tool_by_name(model: ModelServer, tmp_path: Path) -> None:
    (tmp_path / "catalog" / "mcp").mkdir(parents=True)
    body: dict[str, Any] = {"method": "tool.fix.add", "params": {"a": 20, "b": 22}}
    async with serving(made()) as url:
        server = {"url": url, "policy": {"*": "allow"}}
        (tmp_path / "catalog" / "mcp" / "fix.json").write_text(json.dumps(server))
        settings = {"catalog_dir": tmp_path / "catalog", "sqlite_db_path": tmp_path / "brain.sqlite"}
        async with live(model, **settings) as engine:
            early = await engine.http.post("/rpc", json=body)
            assert (early.status_code, early.json()["error"]) == (502, "MCP_CONNECTION_FAILED")
            connected = await engine.http.post("/assets/connect", json={"server_name": "fix"})
            assert connected.status_code == 200, connected.text
        async with live(model, **settings) as engine:
            answer = await engine.http.post("/rpc", json=body)
            assert "42" in answer.text, answer.text


async def test_what_a_sub_agent_asks_is_answered_too(engine: Live, model: ModelServer, task: str) -> None:
    model.enqueue(Reply([ToolCall("ask_user", {"question": "Which heron?"})]), Reply([Text("The grey one.")]))
    params = {"prompt": "Find the heron."}
    asked = await call(engine, "tool.spawn_agent", params, task_id=task)
    assert (asked.status_code, asked.json()["error"]) == (409, "HITL_REQUIRED"), asked.text
    details = asked.json()["details"]
    said = {"request_id": details["request_id"], "answer": "grey"}
    await engine.http.post("/hitl/respond", json=said, headers=HEADERS)
    done = await call(engine, "tool.spawn_agent", params, turn_id=details["turn_id"])
    assert "The grey one." in done.json()["result"]["output"]


@pytest.mark.parametrize(
    ("method", "params", "status", "code"),
    [
        ("tool.nothing", {}, 404, "NOT_FOUND"),
        ("tool.", {}, 404, "NOT_FOUND"),
        ("skill.", {}, 404, "NOT_FOUND"),
        ("skill.no-such-skill", {}, 404, "NOT_FOUND"),
        ("memory.explode", {}, 404, "NOT_FOUND"),
        ("elsewhere", {}, 404, "NOT_FOUND"),
        ("tool.read_file", {"paths": 1}, 422, "INVALID_REQUEST"),
        ("tool.read_file", [], 422, "INVALID_REQUEST"),
    ],
)
async def test_bad_calls_are_refused(engine: Live, method: str, params: Any, status: int, code: str) -> None:
    answer = await call(engine, method, params)
    assert (answer.status_code, answer.json()["error"]) == (status, code), answer.text


async def test_a_tool_that_fails_is_a_result(engine: Live, task: str) -> None:
    answer = await call(engine, "tool.read_file", {"path": "missing.txt"}, task_id=task)
    assert (answer.status_code, answer.json()["result"]["ok"]) == (200, False)


async def test_calls_of_others_are_not_fetched(model: ModelServer, tmp_path: Path) -> None:
    brain = tmp_path / "brain.sqlite"
    ada, bob = ({"X-Engine-Key": keys.create(brain, who, who).key} for who in ("ada", "bob"))
    async with live(model, sqlite_db_path=brain) as engine:
        body = {"method": "tool.bash", "params": {"command": "echo secret"}}
        made = (await engine.http.post("/rpc", json=body, headers=ada)).json()["result"]
        stolen = await engine.http.post("/rpc", json={**body, "turn_id": made["turn_id"]}, headers=bob)
        assert (stolen.status_code, "secret" in stolen.json()["message"]) == (404, False)


async def test_a_call_that_was_running_when_the_engine_was_killed_is_in_doubt(
    model: ModelServer, tmp_path: Path
) -> None:
    body: dict[str, Any] = {
        "method": "tool.bash",
        "params": {"command": "sleep 60; echo x >> log.txt"},
        "task_id": "t1",
    }
    running = process.engine(tmp_path, model.url)
    await running.up()
    try:
        async with httpx2.AsyncClient(base_url=running.url, timeout=30, trust_env=False) as http:
            calling = asyncio.create_task(http.post("/rpc", json=body))
            seen: list[dict[str, Any]] = []
            async with asyncio.timeout(20):
                while not seen:
                    page = await http.get("/tasks/t1/events", params={"types": "tool_call"})
                    seen = page.json().get("events", [])
            await running.kill()
            with pytest.raises(httpx2.HTTPError):
                await calling
            await running.up()
            again = await http.post("/rpc", json={**body, "turn_id": seen[0]["turn_id"]})
            assert (again.status_code, again.json()["details"]["kind"]) == (409, "in_doubt")
            said = {"request_id": again.json()["details"]["request_id"], "answer": "done"}
            await http.post("/hitl/respond", json=said)
            done = await http.post("/rpc", json={**body, "turn_id": seen[0]["turn_id"]})
            assert "A person confirms" in done.json()["result"]["output"]
    finally:
        await running.kill()
