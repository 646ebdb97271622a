"""An agent in the background that ends while nobody talks: the task goes on by itself when that was wanted, once."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from aster.testing import Hold, ModelServer, Reply, Rule, Text, ToolCall, Usage
from tests.engine_core.frames import events, last
from tests.live import Live, Stream, live, text_of

BEHIND = {"prompt": "work", "background": True}


def spawn(call_id: str = "s1", **more: Any) -> ToolCall:
    return ToolCall("spawn_agent", {**BEHIND, **more}, id=call_id)


def script(call: ToolCall, *woken: Rule) -> list[Rule]:
    """The person says "go"; the child holds until it is let go; the woken turn is asked about by `woken`."""
    return [
        *woken,
        Rule(Reply([Hold("woken"), Text("I went on.")]), match="Nobody has said anything since", round=0),
        Rule(Reply([Text("told later")]), match="has ended: completed", round=0),
        Rule(Reply([Text("Begun.")]), match="^go", tool="spawn_agent"),
        Rule(Reply([call]), match="^go", round=0),
        Rule(Reply([Hold("child"), Text("child's word")]), match="^work"),
    ]


async def ended(stream: Stream, child: str) -> None:
    """Read on until a child has ended."""
    await stream.until("subagent_lifecycle", child_task_id=child, phase="completed")


async def reported(engine: Live, child: str) -> None:
    """Wait until the end of a child is on the thread of its parent, whose turn is over."""
    seen: set[str] = set()
    while child not in seen:
        await asyncio.sleep(0.01)
        ends = events(await engine.replay(task_id="t1", after_seq=0), "subagent_lifecycle")
        seen = {end["child_task_id"] for end in ends if end["phase"] != "started"}


async def woken(engine: Live, model: ModelServer) -> list[Any]:
    """The frames of the turn that began by itself."""
    await model.wait_held("woken")
    task = (await engine.http.get("/tasks/t1")).json()
    async with engine.replaying(task_id="t1", after_seq=task["turns"][-1]["first_seq"] - 1) as stream:
        model.release("woken")
        return await stream.rest()


async def test_the_end_of_one_that_was_to_wake_it_begins_a_turn(aster: Live, model: ModelServer) -> None:
    model.script(script(spawn(wake=True)))
    first = await aster.execute("go", instructions="Be brief.")
    assert text_of(first) == "Begun."
    model.release("child")
    frames = await woken(aster, model)
    assert text_of(frames) == "I went on."
    started, [said] = events(frames, "thread_lifecycle")[0], events(frames, "user_message")
    assert (started["request"]["woken"], started["request"]["instructions"]) == (1, "Be brief.")
    assert said["origin"] == "engine"
    assert "has ended: completed" in said["content"][0]["text"]
    prompts = [str(call.body) for call in model.calls if "has ended: completed" in str(call.body)]
    assert len(prompts) == 1
    assert prompts[0].count("has ended: completed") == 1
    after = await aster.execute("go on")
    assert [said.get("origin", "user") for said in events(after, "user_message")] == ["user"]


async def test_without_it_the_next_message_is_waited_for(aster: Live, model: ModelServer) -> None:
    model.script(script(spawn()))
    child = events(await aster.execute("go"), "subagent_lifecycle")[0]["child_task_id"]
    model.release("child")
    await reported(aster, child)
    assert text_of(await aster.execute("hello")) == "told later"
    assert len((await aster.http.get("/tasks/t1")).json()["turns"]) == 2


async def test_one_that_ends_while_its_turn_runs_is_told_there(aster: Live, model: ModelServer) -> None:
    look = Reply([Hold("parent"), ToolCall("glob", {"pattern": "*"}, id="g")])
    model.script(
        [
            Rule(Reply([Text("Seen.")]), match="has ended: completed"),
            Rule(look, match="^go", tool="spawn_agent"),
            Rule(Reply([spawn(wake=True)]), match="^go", round=0),
            Rule(Reply([Text("quick")]), match="^work"),
        ]
    )
    async with aster.executing("go") as stream:
        child = (await stream.until("subagent_lifecycle")).data["child_task_id"]
        await ended(stream, child)
        model.release("parent")
        frames = await stream.rest()
    assert text_of(frames) == "Seen."
    assert len((await aster.http.get("/tasks/t1")).json()["turns"]) == 1


async def test_it_happens_after_a_restart_too_and_once(model: ModelServer, tmp_path: Path) -> None:
    model.script(script(spawn(wake=True)))
    brain = tmp_path / "brain.sqlite"
    async with live(model, sqlite_db_path=brain) as first:
        await first.execute("go")
        await model.wait_held("child")
    model.release("child")
    async with live(model, sqlite_db_path=brain) as second:
        frames = await woken(second, model)
        assert text_of(frames) == "I went on."
    async with live(model, sqlite_db_path=brain) as third:
        assert len((await third.http.get("/tasks/t1")).json()["turns"]) == 2


async def test_what_ended_before_a_start_and_woke_nobody_wakes_then(model: ModelServer, tmp_path: Path) -> None:
    model.script(script(spawn(wake=True)))
    brain = tmp_path / "brain.sqlite"
    async with live(model, sqlite_db_path=brain, subagent_wakes=0) as first:
        child = events(await first.execute("go"), "subagent_lifecycle")[0]["child_task_id"]
        model.release("child")
        await reported(first, child)
        assert len((await first.http.get("/tasks/t1")).json()["turns"]) == 1
    async with live(model, sqlite_db_path=brain) as second:
        assert text_of(await woken(second, model)) == "I went on."


async def test_it_goes_on_by_itself_only_so_often(model: ModelServer) -> None:
    again = Rule(
        Reply([spawn("s2", wake=True, prompt="work again")]), match="Nobody has said anything since", round=0
    )
    model.script(
        [
            Rule(Reply([Text("Once more.")]), tool="spawn_agent"),
            *script(spawn(wake=True), again),
        ]
    )
    async with live(model, subagent_wakes=1) as engine:
        await engine.execute("go")
        model.release("child")
        await model.wait_held("child", count=2)
        task = (await engine.http.get("/tasks/t1")).json()
        async with engine.replaying(task_id="t1", after_seq=task["turns"][-1]["first_seq"] - 1) as stream:
            begun = (await stream.until("subagent_lifecycle", phase="started")).data
            await stream.rest()
        model.release("child")
        await reported(engine, begun["child_task_id"])
        assert text_of(await engine.execute("hello")) == "told later"
        turns = (await engine.http.get("/tasks/t1")).json()["turns"]
    assert len(turns) == 3


async def test_many_that_were_begun_together_wake_it_no_more_often(model: ModelServer) -> None:
    """What counts is how often the task has gone on by itself, not what for."""
    model.script(
        [
            Rule(Reply([Hold("woken"), Text("I went on.")]), match="Nobody has said anything since", round=0),
            Rule(Reply([Text("told later")]), match="has ended: completed", round=0),
            Rule(Reply([Text("Begun.")]), match="^go", tool="spawn_agent"),
            Rule(Reply([spawn(f"s{at}", wake=True, prompt=f"work {at}") for at in range(3)]), match="^go", round=0),
            *(Rule(Reply([Hold(f"child {at}"), Text("word")]), match=f"^work {at}") for at in range(3)),
        ]
    )
    async with live(model, subagent_wakes=1) as engine:
        begun = events(await engine.execute("go"), "subagent_lifecycle")
        model.release("child 0")
        assert text_of(await woken(engine, model)) == "I went on."
        for at in (1, 2):
            model.release(f"child {at}")
            await reported(engine, begun[at]["child_task_id"])
        assert text_of(await engine.execute("hello")) == "told later"
        turns = (await engine.http.get("/tasks/t1")).json()["turns"]
    assert len(turns) == 3


async def test_one_that_was_stopped_wakes_nobody(aster: Live, model: ModelServer) -> None:
    model.script(script(spawn(wake=True)))
    child = events(await aster.execute("go"), "subagent_lifecycle")[0]["child_task_id"]
    await model.wait_held("child")
    assert (await aster.http.post("/execute/cancel", json={"task_id": child})).status_code == 200
    assert len((await aster.http.get("/tasks/t1")).json()["turns"]) == 1


async def test_a_message_that_waits_goes_first(aster: Live, model: ModelServer) -> None:
    """The turn of the message tells of the end; there is nothing left to wake for."""
    model.script(
        [
            Rule(Reply([Text("first "), Hold("parent"), Text("done")]), match="^go", tool="spawn_agent"),
            *script(spawn(wake=True)),
        ]
    )
    async with aster.executing("go") as stream:
        child = (await stream.until("subagent_lifecycle")).data["child_task_id"]
        await model.wait_held("parent")
        model.release("child")
        await ended(stream, child)
        async with aster.executing("and this", on_busy="queue") as second:
            model.release("parent")
            frames = await second.rest()
    assert text_of(frames).endswith("told later")
    assert len((await aster.http.get("/tasks/t1")).json()["turns"]) == 2


@pytest.mark.parametrize("limit", ["task", "unattended"])
async def test_budgets_and_the_policy_for_unattended_turns_hold(model: ModelServer, limit: str) -> None:
    danger = Rule(
        Reply([ToolCall("bash", {"command": "chmod -R 700 ."}, id="danger")]),
        match="Nobody has said anything since",
        round=0,
    )
    spent = Reply([Hold("child"), Text("dear")], usage=Usage(4_000_000, 10))
    model.script(
        [
            Rule(Reply([Hold("woken"), Text("refused")]), tool="bash"),
            Rule(spent if limit == "task" else Reply([Hold("child"), Text("cheap")]), match="^work"),
            *script(spawn(wake=True), danger),
        ]
    )
    money = {"llm_model": "gpt-4o-mini", "budget_task_usd": 0.1} if limit == "task" else {}
    async with live(model, unattended_policy="deny", **money) as engine:
        child = events(await engine.execute("go", unattended=True), "subagent_lifecycle")[0]["child_task_id"]
        model.release("child")
        if limit == "task":
            await reported(engine, child)
            refused = await engine.http.post("/execute", json={"message": "hello", "task_id": "t1"})
            assert refused.status_code == 402
            assert len((await engine.http.get("/tasks/t1")).json()["turns"]) == 1
            return
        frames = await woken(engine, model)
        assert events(frames, "tool_result")[0]["error"] == "permission_denied"
        assert last(frames)["phase"] == "completed"


async def test_only_whoever_answers_a_person_can_be_woken(aster: Live, model: ModelServer) -> None:
    model.script(
        [
            Rule(Reply([Text("end")]), match="^go", tool="spawn_agent"),
            Rule(Reply([Text("not so")]), match="^middle", tool="spawn_agent"),
            Rule(Reply([ToolCall("spawn_agent", {"prompt": "middle"}, id="m")]), match="^go", round=0),
            Rule(Reply([spawn(wake=True)]), match="^middle", round=0),
        ]
    )
    frames = await aster.execute("go")
    child = events(frames, "subagent_lifecycle")[0]["child_task_id"]
    thread = await aster.replay(task_id=child, after_seq=0)
    assert events(thread, "tool_result")[0]["error"] == "PERMISSION_DENIED"
