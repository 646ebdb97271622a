"""Row F1: a run that is resumed makes no call again that was made, refuses other arguments, a journal that was tampered
with, and a second one at the same time. Everything over HTTP, with a model that is told what to say."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from aster.testing import Failure, Hold, ModelServer, Reply, Rule, Text, ToolCall
from tests.engine_core.frames import events
from tests.live import Live, live, text_of
from tests.work.places import Place
from tests.work.workflows.conftest import REVIEW, agent, declare, ended, flow, resume, start

FILES = {"files": ["a.py", "b.py"]}
ANSWERS = [
    Rule(Reply([Text("a is fine")]), match="^Review a.py"),
    Rule(Reply([Text("b is fine")]), match="^Review b.py"),
    Rule(Reply([Text("all is fine")]), match="^Sum up"),
]


def updates(frames: list[Any]) -> list[tuple[str, str]]:
    return [(one["action"], one.get("label", "")) for one in events(frames, "workflow_update")]


async def thread(engine: Live, run: dict[str, Any]) -> list[Any]:
    return await engine.replay(task_id=run["task_id"], after_seq=0)


async def test_f1_a_run_comes_to_its_result_and_tells_of_it_on_the_thread(
    model: ModelServer, tmp_path: Path, place: Place
) -> None:
    async with live(model, catalog_dir=declare(tmp_path, REVIEW), **place.settings) as engine:
        [listed] = (await engine.http.get("/workflows")).json()["workflows"]
        assert (listed["name"], listed["args"]["required"]) == ("review", ["files"])
        model.script(ANSWERS)
        run = await ended(engine, await start(engine, args=FILES))
        assert (run["status"], run["agents"], run["cached"]) == ("completed", 3, 0)
        assert run["result"] == {"summary": "all is fine", "reviews": ["a is fine", "b is fine"]}
        assert [call["status"] for call in run["calls"]] == ["completed"] * 3
        assert {call["phase"] for call in run["calls"]} == {"Review", "Sum up"}
        seen = updates(await thread(engine, run))
        assert seen[0] == ("started", "")
        assert seen[-1] == ("completed", "")
        assert ("log", "") in seen
        assert ("agent_completed", "review a.py") in seen
        [summed] = [str(call.body) for call in model.calls if "Sum up" in str(call.body)]
        assert "<untrusted-" in summed.split("Sum up")[1]
        [found] = (await engine.http.get("/workflows/runs", params={"task_id": run["task_id"]})).json()["runs"]
        assert found["run_id"] == run["run_id"]


async def test_f1_unchanged_calls_are_cached_and_no_agent_is_begun(
    model: ModelServer, tmp_path: Path, place: Place
) -> None:
    async with live(model, catalog_dir=declare(tmp_path, REVIEW), **place.settings) as engine:
        model.script(ANSWERS)
        first = await ended(engine, await start(engine, args=FILES))
        calls = len(model.calls)
        again = await ended(engine, await resume(engine, first, args=FILES))
        assert (again["status"], again["agents"], again["cached"], again["attempts"]) == ("completed", 0, 3, 2)
        assert again["result"] == first["result"]
        assert len(model.calls) == calls


async def test_f1_only_what_changed_is_asked_again(model: ModelServer, tmp_path: Path, place: Place) -> None:
    catalog = declare(tmp_path, REVIEW)
    async with live(model, catalog_dir=catalog, **place.settings) as engine:
        model.script([*ANSWERS, Rule(Reply([Text("in short: fine")]), match="^In short")])
        first = await ended(engine, await start(engine, args=FILES))
        changed = json.loads(json.dumps(REVIEW))
        changed["steps"][-1]["prompt"] = "In short: {{reviews}}"
        declare(tmp_path, changed)
        assert (await engine.http.post("/admin/reload-catalog")).status_code in (200, 204)
        again = await ended(engine, await resume(engine, first))
        assert (again["agents"], again["cached"]) == (1, 2)
        assert again["result"]["summary"] == "in short: fine"


async def test_f1_changed_args_are_refused(model: ModelServer, tmp_path: Path, place: Place) -> None:
    async with live(model, catalog_dir=declare(tmp_path, REVIEW), **place.settings) as engine:
        model.script(ANSWERS)
        run = await ended(engine, await start(engine, args=FILES))
        answer = await engine.http.post(f"/workflows/runs/{run['run_id']}/resume", json={"args": {"files": ["c"]}})
        assert (answer.status_code, answer.json()["error"]) == (409, "WORK_CONFLICT")
        assert answer.json()["details"]["reason"] == "other_args"
        call = {"workflow": "review", "args": {"files": ["c"]}, "resume": run["run_id"]}
        model.script(
            [
                Rule(Reply([Text("refused")]), tool="run_workflow"),
                Rule(Reply([ToolCall("run_workflow", call, id="w1")]), match="^go"),
            ]
        )
        frames = await engine.execute("go", task_id=run["task_id"])
        [result] = events(frames, "tool_result")
        assert result["error"] == "WORK_CONFLICT"
        assert "other arguments" in result["output"]
        assert not events(frames, "subagent_lifecycle")


async def test_f1_a_second_one_at_the_same_time_is_refused(
    model: ModelServer, tmp_path: Path, place: Place
) -> None:
    async with live(model, catalog_dir=declare(tmp_path, REVIEW), **place.settings) as engine:
        model.script([Rule(Reply([Hold("a"), Text("a is fine")]), match="^Review a.py"), *ANSWERS])
        run = await start(engine, args=FILES)
        await model.wait_held("a")
        answer = await engine.http.post(f"/workflows/runs/{run['run_id']}/resume", json={})
        assert (answer.status_code, answer.json()["details"]["reason"]) == (409, "running")
        call = {"workflow": "review", "args": FILES, "resume": run["run_id"]}
        model.script(
            [
                Rule(Reply([Text("refused")]), tool="run_workflow"),
                Rule(Reply([ToolCall("run_workflow", call, id="w1")]), match="^go"),
                *ANSWERS,
            ]
        )
        [result] = events(await engine.execute("go", task_id="elsewhere"), "tool_result")
        assert result["error"] == "WORK_CONFLICT"
        model.release("a")
        done = await ended(engine, run)
        assert (done["status"], done["attempts"]) == ("completed", 1)
        both = await asyncio.gather(
            *(engine.http.post(f"/workflows/runs/{run['run_id']}/resume", json={}) for _ in range(2))
        )
        assert sorted(answer.status_code for answer in both) in ([202, 409], [202, 202])
        after = await ended(engine, run)
        assert after["agents"] == 0


def tamper(place: Place) -> None:
    """Change what the journal says a call came to."""
    said = "'\"all yours\"'" + ("::bytea" if place.url else "")
    place.run(f"UPDATE workflow_calls SET result = {said} WHERE label = 'review a.py'")


async def test_f1_a_damaged_journal_is_refused(model: ModelServer, tmp_path: Path, place: Place) -> None:
    catalog = declare(tmp_path, REVIEW)
    model.script(ANSWERS)
    async with live(model, catalog_dir=catalog, **place.settings) as engine:
        run = await ended(engine, await start(engine, args=FILES))
    tamper(place)
    async with live(model, catalog_dir=catalog, **place.settings) as engine:
        answer = await engine.http.post(f"/workflows/runs/{run['run_id']}/resume", json={})
        assert (answer.status_code, answer.json()["error"]) == (409, "WORK_CONFLICT"), answer.text
        assert "damaged" in answer.json()["message"]
        found = (await engine.http.get(f"/workflows/runs/{run['run_id']}")).json()
        assert (found["status"], found["attempts"]) == ("completed", 1)


@pytest.mark.parametrize("drain", [0.0, 2.0])
async def test_f1_a_run_goes_on_after_a_restart_without_beginning_an_agent_twice(
    model: ModelServer, tmp_path: Path, place: Place, drain: float
) -> None:
    catalog = declare(tmp_path, REVIEW)
    model.script([Rule(Reply([Hold("b"), Text("b is fine")]), match="^Review b.py", times=1), *ANSWERS])
    async with live(model, catalog_dir=catalog, drain_seconds=drain, **place.settings) as engine:
        run = await start(engine, args=FILES)
        await model.wait_held("b")
        while (await engine.http.get(f"/workflows/runs/{run['run_id']}")).json()["calls"][0]["status"] == "running":
            await asyncio.sleep(0.01)
    model.release("b")
    async with live(model, catalog_dir=catalog, **place.settings) as engine:
        done = await ended(engine, run)
        assert (done["status"], done["attempts"]) == ("completed", 2)
        assert done["result"]["reviews"] == ["a is fine", "b is fine"]
        assert sum("Review a.py" in str(call.body) for call in model.calls if "Sum up" not in str(call.body)) == 1
        begun = [one for one in updates(await thread(engine, run)) if one[0] == "agent_started"]
        assert len(begun) == 3


async def test_f1_what_failed_is_asked_again_and_the_rest_is_kept(
    model: ModelServer, tmp_path: Path, place: Place
) -> None:
    async with live(model, catalog_dir=declare(tmp_path, REVIEW), **place.settings) as engine:
        model.script([Rule(Failure(400), match="^Review b.py", times=1), *ANSWERS])
        run = await ended(engine, await start(engine, args=FILES))
        assert run["status"] == "failed"
        assert "review b.py" in run["problem"]
        assert {call["label"]: call["status"] for call in run["calls"]} == {
            "review a.py": "completed",
            "review b.py": "failed",
        }
        again = await ended(engine, await resume(engine, run))
        assert (again["status"], again["agents"], again["cached"]) == ("completed", 2, 1)


async def test_a_model_runs_one_and_gets_its_result(model: ModelServer, tmp_path: Path) -> None:
    async with live(model, catalog_dir=declare(tmp_path, REVIEW)) as engine:
        model.script(
            [
                Rule(Reply([Text("Done.")]), tool="run_workflow"),
                Rule(
                    Reply([ToolCall("run_workflow", {"workflow": "review", "args": FILES}, id="w1")]), match="^go"
                ),
                *ANSWERS,
            ]
        )
        frames = await engine.execute("go")
        assert text_of(frames) == "Done."
        [result] = [one for one in events(frames, "tool_result") if one["tool"] == "run_workflow"]
        assert json.loads(result["output"])["summary"] == "all is fine"
        assert result["data"]["agents"] == 3
        assert not result.get("trusted")
        children = [one for one in events(frames, "subagent_lifecycle") if one["phase"] == "completed"]
        assert len(children) == 3
        for call in model.calls:
            if "Review" in str(call.body["messages"][-1]) and "go" not in str(call.body["messages"][0]):
                offered = {tool["function"]["name"] for tool in call.body["tools"]}
                assert not offered & {"spawn_agent", "run_workflow"}
        after = await engine.execute("[[text=3]]")
        assert "has ended" not in str(events(after, "user_message"))


async def test_without_workflows_there_is_no_such_tool(model: ModelServer) -> None:
    async with live(model) as engine:
        assert (await engine.http.get("/workflows")).json() == {"workflows": []}
        assert (await engine.http.post("/workflows/review/runs", json={})).status_code == 404
        assert "run_workflow" not in [tool.definition.name for tool in engine.engine.tools]


async def test_an_answer_that_does_not_fit_is_given_again_once(model: ModelServer, tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    one = flow(agent("Count it", schema=schema, **{"as": "count"}), result="{{count.n}}")
    async with live(model, catalog_dir=declare(tmp_path, one)) as engine:
        model.script(
            [
                Rule(Reply([Text('```json\n{"n": 7}\n```')]), match="^Your answer does not fit"),
                Rule(Reply([Text("seven")]), match="^Count"),
            ]
        )
        run = await ended(engine, await start(engine, "flow"))
        assert (run["status"], run["result"], run["agents"]) == ("completed", 7, 2)
        assert [call["attempt"] for call in run["calls"]] == [2]
        told = [call for call in model.calls if "does not fit" in str(call.body["messages"][-1])]
        assert "seven" in str(told[0].body["messages"])
        model.script([Rule(Reply([Text("seven")]))])
        run = await ended(engine, await start(engine, "flow"))
        assert (run["status"], run["agents"]) == ("failed", 2)
        assert "not JSON" in run["problem"]
        assert (await engine.http.delete(f"/tasks/{run['task_id']}")).status_code in (200, 204)
        assert (await engine.http.get(f"/workflows/runs/{run['run_id']}")).status_code == 404


async def test_a_pipeline_has_no_barrier_and_a_parallel_step_has(model: ModelServer, tmp_path: Path) -> None:
    stages = [
        agent("First {{item}}", label="first {{item}}"),
        agent("Second {{previous}}", label="second {{item}}"),
    ]
    one = flow({"do": "pipeline", "over": "{{args.list}}", "stages": stages})
    async with live(model, catalog_dir=declare(tmp_path, one)) as engine:
        model.script(
            [
                Rule(Reply([Hold("slow"), Text("S1")]), match="^First slow"),
                Rule(Reply([Text("Q1")]), match="^First quick"),
                Rule(Reply([Text("Q2")]), match="(?s)^Second.*Q1"),
                Rule(Reply([Text("S2")]), match="(?s)^Second.*S1"),
            ]
        )
        run = await start(engine, "flow", args={"list": ["slow", "quick"]})
        while True:
            calls = (await engine.http.get(f"/workflows/runs/{run['run_id']}")).json()["calls"]
            if {"second quick"} == {call["label"] for call in calls if call["status"] == "completed"} - {
                "first quick"
            }:
                break
            await asyncio.sleep(0.02)
        model.release("slow")
        assert (await ended(engine, run))["result"] == ["S2", "Q2"]


async def test_at_most_eight_agents_work_at_once(model: ModelServer, tmp_path: Path) -> None:
    one = flow({"do": "parallel", "over": "{{args.list}}", "each": agent("Do {{item}}", label="{{item}}")})
    async with live(model, catalog_dir=declare(tmp_path, one), task_slots=32, user_slots=32) as engine:
        model.script([Rule(Reply([Hold("all"), Text("ok")]), match="^Do")])
        run = await start(engine, "flow", args={"list": list(range(12))})
        while len(model.calls) < 8:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.3)
        assert len(model.calls) == 8
        model.release("all")
        assert (await ended(engine, run))["agents"] == 12


async def test_limits_end_a_run(model: ModelServer, tmp_path: Path) -> None:
    steps = [agent("One"), agent("Two"), agent("Three")]
    catalog = declare(
        tmp_path,
        flow(*steps, name="few", max_agents=2),
        flow(*steps, name="short", max_tokens=1),
    )
    async with live(model, catalog_dir=catalog) as engine:
        model.script([Rule(Reply([Text("ok")]))])
        run = await ended(engine, await start(engine, "few"))
        assert (run["status"], run["agents"]) == ("failed", 2)
        assert "the most it may" in run["problem"]
        run = await ended(engine, await start(engine, "short"))
        assert (run["status"], run["agents"]) == ("failed", 1)
        assert "tokens" in run["problem"]


async def test_one_level_of_workflows_in_workflows(model: ModelServer, tmp_path: Path) -> None:
    inner = flow(
        agent("Inner {{args.x}}", **{"as": "y"}),
        name="inner",
        result="{{y}}",
        args={"type": "object", "required": ["x"]},
    )
    nested = {"do": "workflow", "workflow": "inner", "args": {"x": "{{args.z}}"}, "as": "got"}
    catalog = declare(tmp_path, inner, flow(nested, name="outer", result={"got": "{{got}}"}))
    async with live(model, catalog_dir=catalog) as engine:
        model.script([Rule(Reply([Text("inner word")]), match="^Inner 5")])
        run = await ended(engine, await start(engine, "outer", args={"z": 5}))
        assert run["result"] == {"got": "inner word"}


async def test_a_run_is_cancelled_with_its_agents_and_can_be_resumed(model: ModelServer, tmp_path: Path) -> None:
    async with live(model, catalog_dir=declare(tmp_path, REVIEW)) as engine:
        model.script([Rule(Reply([Hold("a"), Text("a is fine")]), match="^Review a.py", times=1), *ANSWERS])
        run = await start(engine, args=FILES)
        await model.wait_held("a")
        answer = await engine.http.post(f"/workflows/runs/{run['run_id']}/cancel")
        assert answer.status_code == 202, answer.text
        done = await ended(engine, run)
        assert done["status"] == "cancelled"
        assert (await engine.http.post(f"/workflows/runs/{run['run_id']}/cancel")).status_code == 409
        again = await ended(engine, await resume(engine, run))
        assert (again["status"], again["result"]["reviews"]) == ("completed", ["a is fine", "b is fine"])


async def test_the_turn_of_a_run_can_be_cancelled_and_the_run_is_interrupted(
    model: ModelServer, tmp_path: Path
) -> None:
    async with live(model, catalog_dir=declare(tmp_path, REVIEW)) as engine:
        model.script([Rule(Reply([Hold("a"), Text("a is fine")]), match="^Review a.py", times=1), *ANSWERS])
        run = await start(engine, args=FILES)
        await model.wait_held("a")
        assert (await engine.http.post("/execute/cancel", json={"task_id": run["task_id"]})).status_code == 200
        done = await ended(engine, run)
        assert done["status"] == "interrupted"
        again = await ended(engine, await resume(engine, run))
        assert again["status"] == "completed"


@pytest.mark.parametrize("path", ["/workflows/runs/run-nowhere", "/workflows/runs/..%2F"])
async def test_a_run_that_is_not_there(model: ModelServer, path: str) -> None:
    async with live(model) as engine:
        assert (await engine.http.get(path)).status_code == 404


async def test_bad_arguments_are_refused_before_anything_begins(model: ModelServer, tmp_path: Path) -> None:
    async with live(model, catalog_dir=declare(tmp_path, REVIEW)) as engine:
        for args in ({}, {"files": "a"}, {"files": [], "more": 1}):
            answer = await engine.http.post("/workflows/review/runs", json={"args": args})
            assert (answer.status_code, answer.json()["error"]) == (422, "INVALID_REQUEST"), answer.text
        assert (await engine.http.get("/workflows/runs")).json() == {"runs": []}
        assert not model.calls


@pytest.mark.parametrize(("behavior", "status"), [("deny", 403), ("ask", 409)])
async def test_where_no_agent_may_be_begun_no_workflow_is_run(
    model: ModelServer, tmp_path: Path, behavior: str, status: int
) -> None:
    rules = tmp_path / "rules.json"
    rules.write_text(json.dumps([{"behavior": behavior, "tool": "spawn_agent"}]))
    async with live(model, catalog_dir=declare(tmp_path, REVIEW), permission_rules_path=rules) as engine:
        answer = await engine.http.post("/workflows/review/runs", json={"args": FILES, "task_id": "t1"})
        assert answer.status_code == status, answer.text
        assert (await engine.http.get("/workflows/runs")).json() == {"runs": []}
        assert not model.calls
        if behavior == "ask":
            model.script(ANSWERS)
            await engine.http.post("/hitl/respond", json={"task_id": "t1", "answer": "yes"})
            while not (runs := (await engine.http.get("/workflows/runs")).json()["runs"]):
                await asyncio.sleep(0.02)
            assert (await ended(engine, runs[0]))["status"] == "completed"


async def test_the_agents_of_a_run_have_the_authority_of_whoever_runs_it(
    model: ModelServer, tmp_path: Path
) -> None:
    one = flow(agent("Write it"))
    write = ToolCall("write_file", {"path": "x.txt", "content": "x"}, id="f1")
    async with live(model, catalog_dir=declare(tmp_path, one)) as engine:
        model.script([Rule(Reply([write]), match="^Write", round=0), Rule(Reply([Text("Could not.")]))])
        run = await ended(engine, await start(engine, "flow", permission_mode="plan"))
        child = await engine.replay(task_id=run["calls"][0]["task_id"], after_seq=0)
        [result] = [frame.data for frame in child if frame.event == "tool_result"]
        assert "plan mode" in result["output"]
