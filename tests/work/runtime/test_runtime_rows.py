"""The rows B1 to B6 of the harness's checklist, over HTTP, on a file and on PostgreSQL."""

import asyncio
import json
import time
from pathlib import Path

import pytest

from aster.client import AsterClient
from aster.contracts.blocks import text_of as text_in
from aster.contracts.events import BackgroundTask, UserMessage
from aster.testing import Hold, Reply, Rule, Text, ToolCall
from tests.engine_core.frames import events, last
from tests.live import text_of
from tests.process import Process, engine
from tests.sandbox.processes import alive, daemon, sleeper, sleeping, token
from tests.work.places import Place
from tests.work.runtime.bench import GO_ON, bash, begins, bench, notices, words

LOOK = ToolCall("glob", {"pattern": "*"}, id="look")


async def test_b1_the_call_returns_at_once_with_an_id_and_is_answered_once(place: Place, tmp_path: Path) -> None:
    async with bench(place, tmp_path) as at:
        at.model.script(begins(bash(f"echo up; {at.until('gate')}", description="wait for it")))
        began = time.monotonic()
        frames = await at.engine.execute("go")
        assert time.monotonic() - began < 5
        (result,) = events(frames, "tool_result")
        name = result["data"]["id"]
        assert result["data"]["status"] == "running"
        shown = await at.task(name)
        assert shown == {
            **shown,
            "kind": "bash",
            "task_id": "t1",
            "status": "running",
            "description": "wait for it",
            "tool_call_id": "b1",
            "turn_id": frames[0].data["turn_id"],
            "ended_at": None,
            "notified": False,
            "wake": False,
            "work_item": None,
        }
        assert await at.listed(status="active") == [name]
        at.open("gate")
        ended = await at.reaches(name, "completed")
        assert (ended["exit_code"], ended["output_size"]) == (0, 3)
        assert ended["ended_at"] >= ended["started_at"]
        assert await at.listed(status="active") == []
        results = [one for one in await at.thread("tool_result") if one["tool_call_id"] == "b1"]
        assert len(results) == 1
        answers = [one for one in at.model.calls[-1].body["messages"] if one.get("tool_call_id") == "b1"]
        assert len(answers) == 1


async def test_b2_one_notice_with_an_id_of_its_own_before_the_next_model_call(place: Place, tmp_path: Path) -> None:
    look = Reply([Hold("look"), LOOK])
    async with bench(place, tmp_path) as at:
        at.model.script(
            [
                Rule(Reply([Text("Seen.")]), match="has ended: completed"),
                Rule(look, match="^go", tool="bash"),
                *begins(bash(f"{at.until('gate')}; echo done")),
            ]
        )
        async with at.engine.executing("go") as stream:
            name = (await stream.until("background_task", status="running")).data["runtime_task_id"]
            await at.model.wait_held("look")
            at.open("gate")
            await stream.until("background_task", status="completed")
            at.model.release("look")
            frames = await stream.rest()
        assert text_of(frames) == "Seen."
        (notice,) = notices(frames)
        assert name in words(notice)
        calls = {one["tool_call_id"] for one in events(frames, "tool_result")}
        assert notice["message_id"] not in calls | {name}
        told = at.model.calls[-1].body["messages"]
        at_result = max(place for place, one in enumerate(told) if one["role"] == "tool")
        at_notice = [
            place for place, one in enumerate(told) if "has ended: completed" in json.dumps(one["content"])
        ]
        assert at_notice == [at_result + 1] == [len(told) - 1], "once, after the results, at the end"
        assert not any("has ended: completed" in str(call.body) for call in at.model.calls[:-1])
        assert (await at.task(name))["notified"] is True
        assert notices(await at.engine.execute("more")) == []


async def test_b2_several_are_told_in_one_notice(place: Place, tmp_path: Path) -> None:
    async with bench(place, tmp_path) as at:
        wait, work = at.until("gate"), Rule(Reply([Hold("child"), Text("done")]), match="^work")
        spawn = ToolCall("spawn_agent", {"prompt": "work", "background": True}, id="s1")
        names = await at.begun(bash(wait, "b1"), bash(f"{wait}; true", "b2"), spawn, then=[work])
        at.open("gate")
        at.model.release("child")
        for name in names:
            await at.reaches(name, "completed")
        (notice,) = notices(await at.engine.execute("hello"))
        assert all(words(notice).count(name) >= 1 for name in names)
        assert len(words(notice).splitlines()) == 3


async def test_b3_an_exit_code_that_is_not_zero_is_failed(place: Place, tmp_path: Path) -> None:
    async with bench(place, tmp_path) as at:
        (name,) = await at.begun(bash(f"echo oh; {at.until('gate')}; exit 3"))
        at.open("gate")
        failed = await at.reaches(name, "failed")
        assert failed["exit_code"] == 3
        (end,) = [one for one in await at.thread("background_task") if one["status"] != "running"]
        assert (end["status"], end["exit_code"], end["summary"]) == ("failed", 3, "oh")
        (notice,) = notices(await at.engine.execute("hello"))
        assert "has ended: failed with exit status 3" in words(notice)


async def test_b4_the_end_of_one_that_was_to_wake_an_idle_task_begins_one_turn(
    place: Place, tmp_path: Path
) -> None:
    woken = Rule(Reply([Text("I went on.")]), match=GO_ON, round=0)
    async with bench(place, tmp_path) as at:
        (name,) = await at.begun(bash(f"{at.until('gate')}; exit 4", wake=True), then=[woken])
        assert (await at.task(name))["wake"] is True
        assert len(await at.turns()) == 1
        at.open("gate")
        _, second = await at.ended(2)
        frames = await at.engine.replay(task_id="t1", after_seq=second["first_seq"] - 1)
        assert text_of(frames) == "I went on."
        started, (said,) = events(frames, "thread_lifecycle")[0], events(frames, "user_message")
        assert (started["request"]["woken"], said.get("origin")) == (1, "engine")
        assert "has ended: failed with exit status 4" in words(said)
        assert (await at.task(name))["notified"] is True
        assert notices(await at.engine.execute("hello")) == []
        assert len(await at.turns()) == 3


async def test_b4_without_wake_or_when_it_was_killed_nothing_begins(place: Place, tmp_path: Path) -> None:
    async with bench(place, tmp_path) as at:
        plain, killed = await at.begun(bash(at.until("gate"), "b1"), bash("sleep 60", "b2", wake=True))
        at.open("gate")
        await at.reaches(plain, "completed")
        assert (await at.http.post(f"/runtime/{killed}/kill")).json()["status"] == "killed"
        (notice,) = notices(await at.engine.execute("hello"))
        assert len(words(notice).splitlines()) == 2
        assert len(await at.turns()) == 2


@pytest.mark.parametrize("why", ["limit", "unattended", "sub-agent"])
async def test_b4_within_its_limits(place: Place, tmp_path: Path, why: str) -> None:
    woken = Rule(Reply([ToolCall("bash", {"command": "chmod -R 700 ."}, id="danger")]), match=GO_ON, round=0)
    async with bench(place, tmp_path, unattended_policy="deny", subagent_wakes=0 if why == "limit" else 5) as at:
        wait = bash(f"{at.until('gate')}", wake=True)
        if why == "sub-agent":
            child = Rule(Reply([wait]), match="^work", round=0)
            at.model.script(begins(ToolCall("spawn_agent", {"prompt": "work"}, id="s1"), then=[child]))
            frames = await at.engine.execute("go")
            thread = await at.thread("tool_result", events(frames, "subagent_lifecycle")[0]["child_task_id"])
            assert thread[0]["error"] == "permission_denied"
            return
        at.model.script(begins(wait, then=[woken]))
        frames = await at.engine.execute("go", unattended=True)
        (result,) = events(frames, "tool_result")
        at.open("gate")
        await at.reaches(result["data"]["id"], "completed")
        if why == "limit":
            assert len(notices(await at.engine.execute("hello"))) == 1
            assert len(await at.turns()) == 2
            return
        _, second = await at.ended(2)
        frames = await at.engine.replay(task_id="t1", after_seq=second["first_seq"] - 1)
        assert events(frames, "tool_result")[0]["error"] == "permission_denied"
        assert last(frames)["phase"] == "completed"


async def test_b4_what_ended_with_its_engine_wakes_at_the_next_start(place: Place, tmp_path: Path) -> None:
    async with bench(place, tmp_path) as first:
        (name,) = await first.begun(bash("sleep 60", wake=True))
    async with bench(place, tmp_path) as second:
        second.model.script([Rule(Reply([Text("I went on.")]), match=GO_ON, round=0)])
        await second.ended(2)
        assert (await second.task(name))["status"] == "killed"
    async with bench(place, tmp_path) as third:
        assert len(await third.turns()) == 2


async def test_b5_the_most_urgent_first_and_the_newest_for_each(place: Place, tmp_path: Path) -> None:
    async with bench(place, tmp_path, bash_stall_seconds=0.2, bash_background_limit=10) as at:
        asking = f"printf 'Go on? [y/N] '; {at.until('answer')}; exit 2"
        names = await at.begun(
            bash(at.until("gate"), "done"),
            bash("sleep 60", "killed"),
            bash(f"{at.until('gate')}; exit 1", "failed"),
            bash("printf 'Password: '; sleep 60", "asks"),
            bash(asking, "asked"),
        )
        done, killed, failed, asks, asked = names
        await at.reaches(asked, "stalled")
        await at.reaches(asks, "stalled")
        at.open("gate")
        await at.reaches(failed, "failed")
        at.open("answer")
        for name in (done, failed, asked):
            await at.reaches(name, "completed", "failed")
        await at.http.post(f"/runtime/{killed}/kill")
        (notice,) = notices(await at.engine.execute("hello"))
        told = [next(name for name in names if name in line) for line in words(notice).splitlines()]
        assert told == [asks, failed, asked, done, killed]
        assert words(notice).count(asked) == 1, "that it has ended stands for that it had stalled"
        assert notices(await at.engine.execute("hello again")) == []
        await at.http.post(f"/runtime/{asks}/kill")
        (later,) = notices(await at.engine.execute("and now"))
        assert (words(later).count(asks), len(words(later).splitlines())) == (1, 1)


@pytest.mark.parametrize("how", ["kill", "delete", "drain"])
async def test_b6_nothing_is_left_running(place: Place, tmp_path: Path, how: str) -> None:
    mark = token()
    async with bench(place, tmp_path, sandbox="auto") as at:
        (name,) = await at.begun(bash(f"{daemon(mark)}; {sleeper(mark)}"))
        async with asyncio.timeout(10):
            while len(sleeping(mark)) < 2:
                await asyncio.sleep(0.02)
        match how:
            case "kill":
                assert (await at.http.post(f"/runtime/{name}/kill")).json()["status"] == "killed"
            case "delete":
                assert (await at.http.delete("/tasks/t1")).is_success
                assert (await at.http.get(f"/runtime/{name}")).status_code == 404
            case _:
                await at.engine.engine.drain(0)
        assert alive(mark) == []


async def test_b6_not_even_when_the_engine_is_told_to_go_or_dies(
    place: Place, tmp_path: Path, upstream: Process
) -> None:
    brain = {} if place.url is None else {"DATABASE_URL": place.url, "RUNNER": "local"}
    host = engine(tmp_path, upstream.url, ENGINE_API_KEY="a-key", **brain)
    await host.up()
    try:
        for end, status in ((host.stop, "killed"), (host.kill, "lost")):
            mark = token()
            given = {"command": f"echo up; {daemon(mark)}; {sleeper(mark)}", "run_in_background": True}
            async with AsterClient(host.url, "a-key", patience=20) as client:
                message = f"[[text=3 tools=1 tool=bash input={json.dumps(given)}]] Do it."
                begun = [event async for event in client.execute(message, status)]
                (name,) = (one.runtime_task_id for one in begun if isinstance(one, BackgroundTask))
                async with asyncio.timeout(10):
                    while len(sleeping(mark)) < 2:
                        await asyncio.sleep(0.02)
                await end()
                async with asyncio.timeout(10):
                    while alive(mark):
                        await asyncio.sleep(0.02)
                await host.up()
                assert [one.id for one in (await client.runtime.list(status=status)).tasks] == [name]
                assert (await client.runtime.list(status="active")).tasks == ()
                told = [event async for event in client.execute("[[text=3]] And now?", status)]
                said = [one for one in told if isinstance(one, UserMessage) and one.origin == "engine"]
                assert [name in text_in(one.content) for one in said] == [True]
                ends = [one async for one in client.thread(status) if isinstance(one, BackgroundTask)]
                assert [one.status for one in ends] == ["running", status]
    finally:
        await host.kill()


async def test_b6_there_is_a_limit_for_each_user(place: Place, tmp_path: Path) -> None:
    async with bench(place, tmp_path, bash_background_limit=2) as at:
        await at.begun(bash("sleep 60", "b1"), bash("sleep 61", "b2"))
        at.model.script(begins(bash("sleep 62", "b3")))
        (result,) = events(await at.engine.execute("go", task_id="t2"), "tool_result")
        assert result["error"] == "background_limit"
        assert len(await at.listed(status="active")) == 2
