"""Sub-agents and the death of the engine: whatever was on record goes on, nothing is begun or told twice."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import pytest

from aster.brain.records import ThreadKey
from aster.engine_core import segments
from aster.engine_core.runtime import notices
from aster.testing import Failure, Hold, ModelServer, Reply, Rule, Script, Text, ToolCall, Usage
from tests.engine_core.frames import events, last
from tests.live import Live, live, text_of
from tests.process import Process

SPAWN = ToolCall("spawn_agent", {"prompt": "work"}, id="s1")
BEHIND = ToolCall("spawn_agent", {"prompt": "work", "background": True}, id="s1")
OUTPUT = "agent_output"


def script(child: Reply, call: ToolCall = SPAWN) -> list[Rule]:
    return [
        Rule(Reply([Text("told")]), tool="spawn_agent"),
        Rule(Reply([call]), match="^go", round=0),
        Rule(child, match="^work", round=0),
    ]


@pytest.fixture
async def scripted() -> AsyncIterator[ModelServer]:
    async with ModelServer() as server:
        yield server


async def test_a_parent_and_its_child_survive_a_kill(host: Process, upstream: Process) -> None:
    held = Reply([Text("half "), Hold("child"), Text("whole")])
    async with httpx2.AsyncClient(trust_env=False, timeout=30) as http:
        await http.post(f"{upstream.url}/_script", content=Script(rules=script(held)).dump())
        follow = asyncio.create_task(http.post(f"{host.url}/execute", json={"message": "go", "task_id": "t1"}))
        child = await begun(http, host.url)
        await streaming(http, host.url, child)
        await host.kill()
        await asyncio.gather(follow, return_exceptions=True)
        await http.post(f"{upstream.url}/_release", params={"name": "child"})
        await host.up()
        text = (await http.get(f"{host.url}/execute/replay", params={"task_id": "t1"})).text
        detail = (await http.get(f"{host.url}/tasks/{child}")).json()
        task = (await http.get(f"{host.url}/tasks/t1")).json()
    assert text.count("event: subagent_lifecycle") == 2
    assert text.count("event: tool_result") == 1
    assert '"output":"half whole"' in text
    assert [turn["status"] for turn in detail["turns"]] == ["completed"]
    assert [turn["status"] for turn in task["turns"]] == ["completed"]


async def begun(http: httpx2.AsyncClient, url: str) -> str:
    while True:
        found = (await http.get(f"{url}/tasks", params={"parent": "t1"})).json()["tasks"]
        if found:
            return found[0]["task_id"]
        await asyncio.sleep(0.02)


async def streaming(http: httpx2.AsyncClient, url: str, task_id: str) -> None:
    while (await http.get(f"{url}/tasks/{task_id}")).json()["head_seq"] < 4:
        await asyncio.sleep(0.02)


async def reported(aster: Live) -> None:
    """Wait until the end of a child is on the thread of its parent."""
    while len(events(await aster.replay(task_id="t1", after_seq=0), "subagent_lifecycle")) < 2:
        await asyncio.sleep(0.01)


async def test_one_that_was_on_record_but_never_begun_is_begun_by_the_next_start(
    scripted: ModelServer, tmp_path: Path
) -> None:
    """The engine stops admitting between the record and the turn it is about."""
    scripted.script(script(Reply([Text("worked")])))
    scripted.enqueue(Reply([Hold("parent"), SPAWN]))
    brain = tmp_path / "brain.sqlite"
    async with live(scripted, sqlite_db_path=brain) as first, first.executing("go") as stream:
        await scripted.wait_held("parent")
        leaving = asyncio.create_task(first.engine.drain(10))
        while not first.engine.draining:
            await asyncio.sleep(0)
        scripted.release("parent")
        await stream.until("thread_lifecycle", phase="suspended")
        assert await leaving
        assert len(scripted.calls) == 1
    async with live(scripted, sqlite_db_path=brain) as second:
        frames = await second.replay(task_id="t1", after_seq=0)
    assert text_of(frames) == "told"
    assert [result["output"] for result in events(frames, "tool_result")] == ["worked"]


async def test_an_end_that_was_not_reported_is_reported_by_the_next_start(
    scripted: ModelServer, tmp_path: Path
) -> None:
    scripted.script(script(Reply([Text("half "), Hold("child"), Text("whole")])))
    brain = tmp_path / "brain.sqlite"
    async with live(scripted, sqlite_db_path=brain) as first, first.executing("go") as stream:
        await stream.until("thread_lifecycle", phase="suspended")
        await scripted.wait_held("child")
        leaving = asyncio.create_task(first.engine.drain(10))
        while not first.engine.draining:
            await asyncio.sleep(0)
        scripted.release("child")
        assert await leaving
    with sqlite3.connect(brain) as db:
        gone = db.execute(
            "DELETE FROM thread_events WHERE type = 'subagent_lifecycle' AND CAST(data AS TEXT) LIKE '%\"completed\"%'"
        )
        assert gone.rowcount == 1
        db.execute("UPDATE subagents SET status = 'running', result = NULL, ended_at = NULL")
    db.close()
    async with live(scripted, sqlite_db_path=brain) as second:
        frames = await second.replay(task_id="t1", after_seq=0)
    assert [result["output"] for result in events(frames, "tool_result")] == ["half whole"]
    assert len(scripted.calls) == 3


async def test_the_error_and_the_cost_of_one_that_failed_are_reported_by_the_next_start(
    scripted: ModelServer, tmp_path: Path
) -> None:
    looked = Reply([ToolCall("glob", {"pattern": "*"}, id="look")], usage=Usage(input=100_000))
    scripted.script([Rule(Failure(401), tool="glob"), *script(looked)])
    scripted.enqueue(Reply([SPAWN]))
    brain = tmp_path / "brain.sqlite"
    async with live(scripted, sqlite_db_path=brain, llm_model="gpt-4o") as first:
        before = events(await first.execute("go"), "subagent_lifecycle")[1]
    assert (before["phase"], before["cost_usd"] > 0.2) == ("errored", True)
    with sqlite3.connect(brain) as db:
        end = db.execute(
            "SELECT min(seq) FROM thread_events WHERE type = 'subagent_lifecycle'"
            " AND CAST(data AS TEXT) LIKE '%\"errored\"%'"
        ).fetchone()[0]
        thread = "thread_id = (SELECT thread_id FROM threads WHERE task_id = 't1')"
        db.execute(f"DELETE FROM thread_events WHERE seq >= ? AND {thread}", (end,))
        db.execute("UPDATE subagents SET status = 'running', result = NULL, ended_at = NULL")
        db.execute(f"UPDATE turns SET status = 'suspended', ended_at = NULL WHERE {thread}")
    db.close()
    async with live(scripted, sqlite_db_path=brain, llm_model="gpt-4o") as second:
        await reported(second)
        after = events(await second.replay(task_id="t1", after_seq=0), "subagent_lifecycle")[1]
    assert {**after, "timestamp": ""} == {**before, "timestamp": ""}


async def test_a_child_whose_parent_was_stopped_is_stopped_by_the_next_start(
    scripted: ModelServer, tmp_path: Path
) -> None:
    scripted.script(script(Reply([Text("half "), Hold("child"), Text("whole")])))
    brain = tmp_path / "brain.sqlite"
    async with live(scripted, sqlite_db_path=brain) as first, first.executing("go") as stream:
        child = (await stream.until("subagent_lifecycle")).data["child_task_id"]
        await stream.until("thread_lifecycle", phase="suspended")
        await scripted.wait_held("child")
    with sqlite3.connect(brain) as db:
        db.execute("UPDATE turns SET status = 'cancelled' WHERE status = 'suspended'")
        db.execute("UPDATE threads SET status = 'idle', active_turn_id = NULL WHERE task_id = 't1'")
    db.close()
    async with live(scripted, sqlite_db_path=brain) as second:
        frames = await second.replay(task_id=child, after_seq=0)
        assert last(frames)["phase"] == "cancelled"


async def test_one_in_the_background_does_not_hold_the_turn_up_and_is_told_of_once(scripted: ModelServer) -> None:
    scripted.script(
        [
            Rule(Reply([Text("It said so.")]), tool=OUTPUT),
            Rule(Reply([Text("as told")]), match="background .*has ended: completed", round=0),
            *script(Reply([Text("half "), Hold("child"), Text("whole")]), BEHIND),
            Rule(Reply([Text("again")]), match="^hello", round=0),
        ]
    )
    async with live(scripted) as aster:
        frames = await aster.execute("go")
        assert last(frames)["phase"] == "completed"
        child = events(frames, "subagent_lifecycle")[0]["child_task_id"]
        assert child in events(frames, "tool_result")[0]["output"]
        scripted.release("child")
        await reported(aster)
        told = await aster.execute("hello")
        scripted.enqueue(Reply([ToolCall(OUTPUT, {"id": child}, id="o1")]))
        shown = await aster.execute("what did it say?")
        after = await aster.execute("hello")
    assert text_of(told) == "as told"
    assert "half whole" in events(shown, "tool_result")[0]["output"]
    assert text_of(after) == "again"


async def test_a_cancel_while_the_model_is_about_to_be_told_loses_nothing(scripted: ModelServer) -> None:
    scripted.script(
        [
            Rule(Reply([Text("as told")]), match="has ended: completed", round=0),
            *script(Reply([Hold("child"), Text("quick")]), BEHIND),
            Rule(Reply([Text("again")]), match="^hello", round=0),
        ]
    )
    async with live(scripted) as aster:
        turn_id = last(await aster.execute("go"))["turn_id"]
        scripted.release("child")
        await reported(aster)
        services, key = aster.engine.coordinator._services, ThreadKey("default", "t1")
        turn = await segments.load(services, key, turn_id)
        telling = asyncio.create_task(notices.tell(turn, services))
        await asyncio.sleep(0)
        telling.cancel()
        assert isinstance((await asyncio.gather(telling, return_exceptions=True))[0], asyncio.CancelledError)
        assert text_of(await aster.execute("hello")) == "as told"
        assert text_of(await aster.execute("hello")) == "again"
        assert key not in services.offspring.untold


async def test_one_in_the_background_that_ended_before_a_restart_is_told_of_after_it(
    scripted: ModelServer, tmp_path: Path
) -> None:
    scripted.script(
        [
            Rule(Reply([Text("as told")]), match="has ended: completed", round=0),
            *script(Reply([Text("quick")]), BEHIND),
        ]
    )
    brain = tmp_path / "brain.sqlite"
    async with live(scripted, sqlite_db_path=brain) as first:
        child = events(await first.execute("go"), "subagent_lifecycle")[0]["child_task_id"]
        await first.replay(task_id=child, after_seq=0)
    async with live(scripted, sqlite_db_path=brain) as second:
        assert text_of(await second.execute("hello")) == "as told"
