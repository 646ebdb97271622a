"""Replays over HTTP: the same prompts and the same end on the same script, the right place of divergence on another,
and each thing that can be different."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.replay import ReplayWish
from aster.testing import Failure, Hold, ModelServer, Reply, Rule, Text, ToolCall, Usage
from tests.engine_core.frames import events
from tests.engine_core.hooks import sample
from tests.engine_core.replaying.stage import playing, refused, replayed, thread
from tests.live import Live, live

USER = "default"
GLOB = ToolCall("glob", {"pattern": "*.md"}, id="g1")
READ = ToolCall("read_file", {"path": "a.md"}, id="r1")
WRITE = ToolCall("write_file", {"path": "a.md", "content": "alpha"}, id="w1")


def plan(number: int) -> list[ToolCall]:
    return [WRITE, GLOB, READ][:number]


async def record(engine: Live, model: ModelServer, *replies: Any, message: str = "go", **more: Any) -> Any:
    model.enqueue(*replies)
    return await engine.execute(message, **more)


def prompts(model: ModelServer, begin: int, end: int | None = None) -> list[Any]:
    return [call.body["messages"] for call in model.calls[begin:end]]


async def stops(engine: Live, task_id: str = "t1") -> list[int]:
    """Where the blocks of a thread are."""
    return [one["seq"] for one in await thread(engine, task_id) if one["type"] == "content_block_stop"]


async def test_the_same_script_gives_the_same_prompts_and_the_same_end(aster: Live, model: ModelServer) -> None:
    model.script([playing(plan)])
    await aster.execute("turn 1")
    await aster.execute("turn 3")
    asked = len(model.calls)
    report = await replayed(aster)
    assert prompts(model, asked) == prompts(model, 2, asked)
    assert (report["same"], report["status"], report["from_step"]) == (True, "ended", 1)
    assert report["recorded"]["answer"] == report["replayed"]["answer"] == "answer 3"
    assert (report["replayed"]["steps"], report["replayed"]["calls"]) == (4, 3)
    assert report["recorded"]["input_tokens"] == report["replayed"]["input_tokens"] > 0
    first = (await aster.http.get("/tasks/t1")).json()["turns"][0]["turn_id"]
    assert (await replayed(aster, turn_id=first))["replayed"]["answer"] == "answer 1"


@pytest.mark.parametrize(
    ("other", "kind", "step", "at"),
    [
        ([WRITE, READ, READ], "call", 2, 1),
        ([WRITE, ToolCall("glob", {"pattern": "*.txt"}), READ], "arguments", 2, 1),
        ([WRITE, GLOB], "call", 3, 2),
        ([WRITE, GLOB, READ, READ], "call", 4, 3),
    ],
)
async def test_another_script_differs_where_it_does(
    aster: Live, model: ModelServer, other: list[ToolCall], kind: str, step: int, at: int
) -> None:
    model.script([playing(plan)])
    await aster.execute("turn 3")
    model.script([playing(lambda _: other)])
    report = await replayed(aster)
    found = report["divergence"]
    assert (report["same"], found["kind"], found["step"]) == (False, kind, step)
    assert found["source_seq"] == (await stops(aster))[at]
    assert found["replay_seq"] == (await stops(aster, report["replay_task_id"]))[at]
    called = [*other, None]
    recorded = plan(3)[at] if at < 3 else None
    assert found["recorded"] == (recorded and {"tool": recorded.name, "input": dict(recorded.input)})
    new = called[at]
    assert found["replayed"] == (new and {"tool": new.name, "input": dict(new.input)})


async def test_another_answer_is_told_line_by_line(aster: Live, model: ModelServer) -> None:
    await record(aster, model, Reply([GLOB]), Reply([Text("one\ntwo\nthree")], usage=Usage(100, 10)))
    model.enqueue(Reply([GLOB]), Reply([Text("one\n2\nthree")], usage=Usage(50, 5)))
    report = await replayed(aster)
    found = report["divergence"]
    assert (found["kind"], found["step"], found["recorded"], found["replayed"]) == (
        *("answer", 2, "one\ntwo\nthree"),
        "one\n2\nthree",
    )
    assert found["source_seq"] == (await stops(aster))[-1]
    assert report["diff"].splitlines()[2:] == ["@@ -1,3 +1,3 @@", " one", "-two", "+2", " three"]
    assert report["replayed"]["output_tokens"] < report["recorded"]["output_tokens"]


async def test_it_begins_at_the_model_call_before_any_seq(aster: Live, model: ModelServer) -> None:
    model.script([playing(plan)])
    await aster.execute("turn 3")
    seqs = await stops(aster)
    asked = prompts(model, 0)
    head = (await aster.http.get("/tasks/t1")).json()["head_seq"]
    starts = {seq: at + 1 for at, seq in enumerate(seqs)}
    for seq in range(1, head + 1):
        before = len(model.calls)
        report = await replayed(aster, from_seq=seq)
        step = max((number for place, number in starts.items() if place <= seq + 2), default=1)
        assert abs(report["from_step"] - step) <= 1
        assert report["from_seq"] <= max(seq, 2)
        assert (report["same"], report["replayed"]["steps"]) == (True, 5 - report["from_step"])
        assert prompts(model, before) == asked[report["from_step"] - 1 :]
        assert report["recorded"]["cost_usd"] == report["replayed"]["cost_usd"]
    spent = (await aster.http.get("/usage")).json()
    assert spent["total"]["calls"] == len(model.calls)


async def test_words_and_notices_from_outside_come_at_the_same_place(aster: Live, model: ModelServer) -> None:
    held = Reply([Text("wait"), Hold("step"), GLOB])
    model.enqueue(held, Reply([READ]), Reply([Text("first")]))
    async with aster.executing("go") as stream:
        await model.wait_held("step")
        steering = aster.http.post("/execute", json={"message": "mind it", "task_id": "t1", "on_busy": "steer"})
        steered = asyncio.create_task(steering)
        await stream.until("task_lifecycle", phase="queued")
        model.release("step")
        await stream.rest()
        await steered
    asked = prompts(model, 0)
    assert "mind it" in str(asked[1])
    begin = len(model.calls)
    model.enqueue(Reply([Text("wait"), GLOB]), Reply([READ]), Reply([Text("first")]))
    report = await replayed(aster)
    assert prompts(model, begin) == asked
    assert report["same"]


async def test_a_steer_that_came_at_the_end_goes_on_there_again(aster: Live, model: ModelServer) -> None:
    model.enqueue(Reply([Text("the end"), Hold("end")]), Reply([Text("one more")]))
    async with aster.executing("go") as stream:
        await model.wait_held("end")
        body = {"message": "and now?", "task_id": "t1", "on_busy": "steer"}
        steered = asyncio.create_task(aster.http.post("/execute", json=body))
        await stream.until("task_lifecycle", phase="queued")
        model.release("end")
        await stream.rest()
        await steered
    asked = prompts(model, 0)
    begin = len(model.calls)
    model.enqueue(Reply([Text("the end")]), Reply([Text("one more")]))
    report = await replayed(aster)
    assert (report["same"], prompts(model, begin)) == (True, asked)


async def test_what_a_hook_said_at_the_end_is_said_again(model: ModelServer, tmp_path: Path) -> None:
    path = tmp_path / "hooks.json"
    path.write_text('{"hooks": {"Stop": [{"command": "echo not yet >&2; exit 2"}]}}')
    sample.SEEN.clear()
    async with live(model, hooks_path=path, sqlite_db_path=tmp_path / "brain.sqlite") as engine:
        await record(engine, model, Reply([Text("done")]), Reply([Text("really done")]))
    asked = prompts(model, 0)
    async with live(model, sqlite_db_path=tmp_path / "brain.sqlite") as engine:
        model.enqueue(Reply([Text("done")]), Reply([Text("really done")]))
        report = await replayed(engine)
    assert (report["same"], prompts(model, 2)) == (True, asked)


async def test_a_call_that_is_not_on_record_is_refused_or_ends_it(aster: Live, model: ModelServer) -> None:
    await record(aster, model, Reply([GLOB]), Reply([Text("done")]))
    other = ToolCall("bash", {"command": "touch made.txt"}, id="b1")
    model.enqueue(Reply([GLOB, other]), Reply([Text("done")]))
    report = await replayed(aster)
    assert (report["replayed"]["unrecorded"], report["replayed"]["status"]) == (1, "completed")
    [_, result] = [one for one in await thread(aster, report["replay_task_id"]) if one["type"] == "tool_result"]
    assert (result["error"], "was not called with this input" in result["output"]) == ("not_recorded", True)
    model.enqueue(Reply([GLOB, other]))
    report = await replayed(aster, unrecorded="stop")
    assert (report["replayed"]["stop_reason"], report["replayed"]["steps"]) == ("not_recorded", 1)
    assert report["divergence"]["kind"] == "call"


async def test_the_same_call_gets_its_outcomes_in_order(aster: Live, model: ModelServer) -> None:
    number = ToolCall("bash", {"command": "echo x >> n.txt; wc -l < n.txt"})
    replies = [Reply([number]), Reply([number, number]), Reply([Text("done")])]
    frames = await record(aster, model, *replies)
    said = [one["output"] for one in events(frames, "tool_result")]
    assert said == ["1", "2", "3"]
    model.enqueue(*replies)
    report = await replayed(aster)
    results = [one for one in await thread(aster, report["replay_task_id"]) if one["type"] == "tool_result"]
    assert ([one["output"] for one in results], report["same"]) == (said, True)
    model.enqueue(Reply([number] * 4), Reply([Text("done")]))
    assert (await replayed(aster))["replayed"]["unrecorded"] == 1


async def test_a_look_may_be_taken_once_more(aster: Live, model: ModelServer) -> None:
    await record(aster, model, Reply([GLOB]), Reply([Text("done")]))
    model.enqueue(Reply([GLOB]), Reply([GLOB]), Reply([Text("done")]))
    report = await replayed(aster)
    assert (report["replayed"]["calls"], report["replayed"]["unrecorded"]) == (2, 0)


async def test_another_model_prompt_and_agent(model: ModelServer) -> None:
    async with live(model, llm_model="one", llm_allowed_models="one,two") as engine:
        agent = {"name": "terse", "description": "Says little.", "system_prompt": "Say three words."}
        assert (await engine.http.put("/agents/terse", json=agent)).status_code == 200
        await record(engine, model, Reply([GLOB]), Reply([Text("done")]))
        model.enqueue(*[Reply([GLOB]), Reply([Text("done")])] * 2)
        report = await replayed(engine, model="two", instructions="Be brief, heron.")
        assert (report["recorded"]["model"], report["replayed"]["model"], report["same"]) == ("one", "two", True)
        assert "Be brief, heron." in str(model.calls[-1].body)
        report = await replayed(engine, agent="terse")
        assert "Say three words." in str(model.calls[-1].body)
        assert await refused(engine, model="three") == (422, "INVALID_REQUEST")
        assert await refused(engine, agent="nobody") == (422, "INVALID_REQUEST")


async def test_memory_as_it_was_without_a_record_none_and_as_it_is(aster: Live, model: ModelServer) -> None:
    async def keep(content: str) -> str:
        body = {"kind": "fact", "fields": {"content": content}}
        made = await aster.http.post("/memory/records", json=body)
        assert made.status_code < 300, made.text
        return made.json()["record"]["id"]

    one = await keep("The blue heron nests at Grebe lake.")
    question = "Where does the blue heron nest?"
    await record(aster, model, Reply([Text("At Grebe lake.")]), message=question)
    await keep("The blue heron nests on the old pier too.")
    before = (await aster.http.get("/memory/export")).json()["records"]
    model.script([Rule(Reply([Text("At Grebe lake.")]))])

    async def shown(**body: Any) -> str:
        await replayed(aster, **body)
        return str(model.calls[-1].body["messages"])

    assert "Grebe lake" in str(model.calls[0].body["messages"])
    assert await shown() == str(model.calls[0].body["messages"])
    assert "Grebe" not in await shown(memory="none")
    assert "Grebe" not in await shown(without=[one])
    current = await shown(memory="current")
    assert ("old pier" in current, "Grebe lake" in current) == (True, True)
    lesson = "When asked about herons, name the lake first."
    wish = ReplayWish(task_id="t1", memory="none", extra=(lesson,))
    report = await aster.engine.replays.run(USER, wish, "replay-trial-1")
    assert (lesson in str(model.calls[-1].body["messages"]), report.replayed.answer) == (True, "At Grebe lake.")
    asked = len(model.calls)
    assert await aster.engine.replays.run(USER, wish, "replay-trial-1") == report
    assert len(model.calls) == asked
    assert (await aster.http.get("/memory/export")).json()["records"] == before


async def test_an_order_to_remember_is_not_obeyed_again(aster: Live, model: ModelServer) -> None:
    await record(aster, model, Reply([Text("Noted.")]), message="Remember that my bike is green and has a bell.")
    kept = (await aster.http.get("/memory/export")).json()["records"]
    assert "fact" in {one["kind"] for one in kept}
    assert (await aster.http.delete("/memory", params={"confirm": "everything"})).status_code == 200
    before = (await aster.http.get("/memory/export")).json()["records"]
    assert before == []
    model.enqueue(Reply([Text("I think it may be green, but I am not sure about that.")]))
    report = await replayed(aster)
    assert (await aster.http.get("/memory/export")).json()["records"] == before
    kinds = {one["type"] for one in await thread(aster, report["replay_task_id"])}
    assert kinds.isdisjoint({"memory_write", "uncertainty", "risk_summary"})


async def test_a_permission_is_not_used_again(aster: Live, model: ModelServer) -> None:
    rule = {"tool": "bash", "pattern": "chmod *", "behavior": "allow"}
    assert (await aster.http.post("/permissions", json=rule)).status_code == 200
    change = Reply([ToolCall("bash", {"command": "chmod -R 700 ."}, id="c")])
    await record(aster, model, change, Reply([Text("done")]))
    before = (await aster.http.get("/permissions")).json()
    assert [one["uses"] for one in before["grants"]] == [1]
    model.enqueue(change, Reply([Text("done")]))
    assert (await replayed(aster))["same"]
    head = (await aster.http.get("/tasks/t1")).json()["head_seq"]
    model.enqueue(Reply([Text("done")]))
    assert (await replayed(aster, from_seq=head))["same"]
    assert (await aster.http.get("/permissions")).json() == before


async def test_one_in_the_background_works_on_worker_models_behind_people(model: ModelServer) -> None:
    pool = f"openai_compatible:{model.url}/v1|small"
    async with live(model, llm_model="big", llm_pool_worker=pool, task_titles=False) as engine:
        await record(engine, model, Reply([GLOB]), Reply([Text("done")]))
        model.enqueue(Reply([GLOB]), Reply([Text("done")]))
        report = await engine.engine.replays.run(USER, ReplayWish(task_id="t1", background=True))
        assert (report.recorded.model, report.replayed.model, report.same) == ("big", "small", True)
        assert engine.engine.herald.background.running == 0


async def test_it_ends_when_it_has_cost_enough_and_asks_nobody_for_money(model: ModelServer) -> None:
    async with live(model, llm_model="gpt-4o", budget_task_usd=1.0) as engine:
        await record(engine, model, Reply([GLOB], usage=Usage(1000, 10)), Reply([Text("done")]))
        model.enqueue(Reply([GLOB], usage=Usage(1000, 10)))
        report = await replayed(engine, max_usd=0.0001)
        assert (report["replayed"]["stop_reason"], report["replayed"]["steps"]) == ("max_usd", 1)
        model.enqueue(Reply([GLOB], usage=Usage(370_000, 10)))
        report = await replayed(engine)
        assert (report["replayed"]["error"], report["divergence"]["kind"]) == ("BUDGET_EXCEEDED", "status")
        assert (await engine.http.get("/hitl/pending")).json()["pending"] == []


async def test_what_cannot_be_replayed_is_refused(aster: Live, model: ModelServer) -> None:
    assert await refused(aster) == (404, "TASK_NOT_FOUND")
    body = {"method": "tool.glob", "params": {"pattern": "*"}, "task_id": "t1"}
    assert (await aster.http.post("/rpc", json=body)).status_code == 200
    turn = (await aster.http.get("/tasks/t1")).json()["turns"][0]["turn_id"]
    assert await refused(aster) == (422, "INVALID_REQUEST")
    assert await refused(aster, turn_id=turn) == (422, "INVALID_REQUEST")
    await record(aster, model, Reply([Text("done")]))
    assert await refused(aster, turn_id="turn-none") == (404, "NOT_FOUND")
    assert await refused(aster, from_seq=10_000) == (422, "INVALID_REQUEST")
    assert await refused(aster, from_seq=0) == (422, "INVALID_REQUEST")
    assert await refused(aster, turn_id=turn, from_seq=10_000) == (422, "INVALID_REQUEST")
    assert await refused(aster, replay_task_id="t1") == (409, "TASK_EXISTS")
    for own in ("aster.learning", "aster.self_play"):
        assert await refused(aster, replay_task_id=own) == (422, "INVALID_REQUEST")
    assert await refused(aster, memory="some") == (422, "INVALID_REQUEST")
    model.enqueue(Reply([Text("half"), Hold("it")]))
    async with aster.executing("go", "t2") as stream:
        await model.wait_held("it")
        assert await refused(aster, "t2") == (409, "TASK_BUSY")
        model.release("it")
        await stream.rest()
    with pytest.raises(EngineError) as gone:
        await aster.engine.replays.run("somebody else", ReplayWish(task_id="t1"))
    assert gone.value.code is ErrorCode.TASK_NOT_FOUND


async def test_a_model_that_fails_is_told(aster: Live, model: ModelServer) -> None:
    await record(aster, model, Reply([GLOB]), Reply([Text("done")]))
    model.enqueue(Reply([GLOB]), Failure(400, "invalid_request"))
    report = await replayed(aster)
    assert (report["same"], report["replayed"]["status"]) == (False, "errored")
    assert (report["divergence"]["kind"], report["replayed"]["error"]) == ("status", "LLM_PROVIDER_ERROR")


async def test_it_is_hidden_found_by_its_task_and_deleted_with_it(aster: Live, model: ModelServer) -> None:
    await record(aster, model, Reply([Text("one")]))
    model.enqueue(Reply([Text("two"), Hold("it")]))
    begun = await aster.http.post("/tasks/t1/replay", json={"wait": False, "replay_task_id": "mine"})
    assert (begun.status_code, begun.json()) == (
        202,
        {"status": "running", "task_id": "t1", "replay_task_id": "mine"},
    )
    await model.wait_held("it")
    place = "/tasks/t1/replays/mine"
    assert (await aster.http.get(place)).json()["status"] == "running"
    again = await aster.http.post("/tasks/t1/replay", json={"wait": False, "replay_task_id": "mine"})
    assert again.status_code == 202
    model.release("it")
    report = (await aster.http.get(place, params={"wait": True})).json()
    assert (report["status"], report["replayed"]["answer"]) == ("ended", "two")
    assert (await aster.http.get(place)).json() == report
    assert len((await aster.http.get("/tasks/t1/replays")).json()["replays"]) == 1
    assert [one["task_id"] for one in (await aster.http.get("/tasks")).json()["tasks"]] == ["t1"]
    assert (await aster.http.get("/tasks/t1/replays/t1")).status_code == 404
    model.reset()
    model.enqueue(Reply([Text("four"), Hold("that")]))
    await aster.http.post("/tasks/t1/replay", json={"wait": False, "replay_task_id": "running"})
    await model.wait_held("that")
    assert (await aster.http.delete("/tasks/t1")).status_code == 200
    for task_id in ("mine", "running"):
        assert (await aster.http.get(f"/tasks/{task_id}")).status_code == 404


async def test_a_replay_may_be_replayed_and_calls_of_replays_are_no_calls(aster: Live, model: ModelServer) -> None:
    await record(aster, model, Reply([GLOB]), Reply([Text("done")]))
    model.script([playing(lambda _: [GLOB]), Rule(Reply([GLOB]), round=0), Rule(Reply([Text("done")]))])
    report = await replayed(aster)
    assert (await replayed(aster, report["replay_task_id"]))["same"]
    tried = {"tool": "glob", "pattern": "*", "behavior": "deny"}
    found = (await aster.http.post("/permissions/backtest", json=tried)).json()
    assert found["calls"] == 1, found


async def test_calls_that_a_client_had_made_are_taken_as_they_were(aster: Live, model: ModelServer) -> None:
    call = {"id": "c9", "type": "function", "function": {"name": "weather", "arguments": '{"city":"Ulm"}'}}
    body = {
        "model": "aster",
        "messages": [
            {"role": "user", "content": "How is it?"},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c9", "content": "sunny"},
        ],
        "tools": [{"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}],
    }
    model.enqueue(*[Reply([Text("It is sunny.")])] * 2)
    assert (await aster.http.post("/v1/chat/completions", json=body)).status_code == 200
    [task] = (await aster.http.get("/tasks")).json()["tasks"]
    report = await replayed(aster, task["task_id"])
    assert (report["same"], report["from_step"], report["replayed"]["steps"]) == (True, 2, 1)
    assert prompts(model, 1) == prompts(model, 0, 1)


async def test_one_in_the_background_takes_no_slot_from_people(model: ModelServer) -> None:
    async with live(model, task_slots=1) as engine:
        await record(engine, model, Reply([Text("one")]))
        model.enqueue(Reply([Text("one"), Hold("it")]), Reply([Text("hello")]))
        wish = ReplayWish(task_id="t1", background=True)
        replay = asyncio.create_task(engine.engine.replays.run(USER, wish))
        await model.wait_held("it")
        assert events(await engine.execute("hi", "t2"), "thread_lifecycle")[-1]["phase"] == "completed"
        model.release("it")
        assert (await replay).same
