"""Runtime tasks over HTTP: listed, read, followed and ended; on a file and on PostgreSQL."""

import asyncio
from pathlib import Path

import pytest

from aster.client import AsterClient, EngineError
from aster.server import keys
from aster.testing import Hold, Reply, Rule, Text, ToolCall
from tests.live import Stream
from tests.work.places import Place
from tests.work.runtime.bench import Bench, bash, bench, notices, words

SPAWN = ToolCall("spawn_agent", {"prompt": "work  on\nit", "background": True, "wake": True}, id="s1")
WORK = Rule(Reply([Hold("child"), Text("my last words")]), match="^work")


async def test_all_of_a_user_are_listed_in_one_shape(place: Place, tmp_path: Path) -> None:
    async with bench(place, tmp_path) as at:
        item = (await at.http.post("/work/items", json={"items": [{"subject": "build"}]})).json()["items"][0]
        claim = ToolCall("task_claim", {"id": item["item_id"]}, id="c1")
        at.model.script([Rule(Reply([claim]), match="^claim", round=0), Rule(Reply([Text("Mine.")]))])
        await at.engine.execute("claim")
        command, failed, agent = await at.begun(
            bash(at.until("gate"), "b1", description="build"), bash("echo no; exit 7", "b2"), SPAWN, then=[WORK]
        )
        await at.model.wait_held("child")
        await at.reaches(failed, "failed")
        assert {*await at.listed()} == {command, failed, agent}
        assert {*await at.listed(status="active")} == {command, agent}
        assert await at.listed(status="failed") == [failed]
        assert {*await at.listed(kind="bash")} == {command, failed}
        assert await at.listed(kind="agent", task_id="t1") == [agent]
        assert await at.listed(task_id="elsewhere") == []
        assert (await at.task(command))["work_item"] == item["item_id"]
        shown = await at.task(agent)
        assert shown == {
            **shown,
            "kind": "agent",
            "task_id": "t1",
            "status": "running",
            "description": "work on it",
            "wake": True,
            "child_task_id": agent,
            "agent": "general",
            "tool_call_id": "s1",
        }
        first = (await at.http.get("/runtime", params={"limit": 2})).json()
        rest = (await at.http.get("/runtime", params={"limit": 2, "after": first["next"]})).json()
        paged = [one["id"] for one in (*first["tasks"], *rest["tasks"])]
        assert paged == await at.listed()
        assert rest["next"] is None
        at.model.release("child")
        ended = await at.reaches(agent, "completed")
        output = (await at.http.get(f"/runtime/{agent}/output")).json()
        assert (output["text"], output["size"], ended["output_size"]) == ("my last words", 13, 13)


async def test_bad_questions_are_refused_and_those_of_others_are_not_there(place: Place, tmp_path: Path) -> None:
    brain = place.url or place.file
    ada, bob = (keys.create(brain, name, name).key for name in ("ada", "bob"))
    async with bench(place, tmp_path) as at:
        at.http.headers["X-Engine-Key"] = ada
        (name,) = await at.begun(bash("echo secret; sleep 60"))
        for path in (name, f"{name}/output", f"{name}/stream", "bg_0", "bg_0/output"):
            answer = await at.http.get(f"/runtime/{path}", headers={"X-Engine-Key": bob})
            assert (answer.status_code, answer.json()["error"]) == (404, "NOT_FOUND")
        killed = await at.http.post(f"/runtime/{name}/kill", headers={"X-Engine-Key": bob})
        assert killed.status_code == 404
        assert (await at.http.get("/runtime", headers={"X-Engine-Key": bob})).json()["tasks"] == []
        assert (await at.task(name))["status"] == "running"
        for query in ("after=x", "after=-1-x", "after=9999999999999999-x", "status=gone", "kind=x", "limit=0"):
            assert (await at.http.get(f"/runtime?{query}")).status_code == 422, query
        for query in ("offset=-1", "limit=0", "limit=1000000000"):
            assert (await at.http.get(f"/runtime/{name}/output?{query}")).status_code == 422, query


async def test_output_is_read_in_pages_while_it_runs_and_afterwards(place: Place, tmp_path: Path) -> None:
    async with bench(place, tmp_path) as at:
        (name,) = await at.begun(bash(f"printf 0123456789; {at.until('gate')}; printf abc"))

        async def read(**params: int) -> tuple[str, int, bool]:
            page = (await at.http.get(f"/runtime/{name}/output", params=params)).json()
            return page["text"], page["next_offset"], page["more"]

        async with asyncio.timeout(10):
            while (await read())[1] < 10:
                await asyncio.sleep(0.02)
        assert await read(limit=4) == ("0123", 4, True)
        assert await read(offset=4, limit=6) == ("456789", 10, False)
        at.open("gate")
        await at.reaches(name, "completed")
        assert await read(offset=8) == ("89abc", 13, False)
        assert await read(offset=13) == ("", 13, False)
        assert (await at.task(name))["output_size"] == 13


async def test_what_is_said_is_followed_live_and_come_back_to(place: Place, tmp_path: Path) -> None:
    async with bench(place, tmp_path) as at:
        script = f"echo one; {at.until('two')}; echo two; {at.until('three')}; echo three; exit 5"
        (name,) = await at.begun(bash(script))
        async with at.engine.stream("GET", f"/runtime/{name}/stream") as stream:
            assert (await stream.until("runtime_status")).data["status"] == "running"
            first = await stream.until("runtime_output")
            assert (first.data["text"], first.id, first.data["offset"]) == ("one\n", 4, 0)
            at.open("two")
            assert (await stream.until("runtime_output")).data["text"] == "two\n"
        headers = {"Last-Event-ID": str(first.id)}
        async with at.engine.stream("GET", f"/runtime/{name}/stream", headers=headers) as stream:
            assert (await stream.until("runtime_output")).data["text"] == "two\n"
            at.open("three")
            frames = await stream.rest()
        assert [frame.data["text"] for frame in frames if frame.event == "runtime_output"] == ["two\n", "three\n"]
        assert (frames[-1].event, frames[-1].data["status"]) == ("runtime_end", "failed")
        assert frames[-1].data["exit_code"] == 5
        whole = await _followed(at, name, offset=8)
        assert whole == "three\n"


async def _followed(at: Bench, name: str, **params: int) -> str:
    async with at.engine.stream("GET", f"/runtime/{name}/stream", params=params) as stream:
        frames = await stream.rest()
    assert [frame.event for frame in frames].count("runtime_end") == 1
    return "".join(frame.data["text"] for frame in frames if frame.event == "runtime_output")


async def test_the_sdk_follows_and_kills(place: Place, tmp_path: Path) -> None:
    async with bench(place, tmp_path) as at, AsterClient(at.engine.url) as client:
        name, agent = await at.begun(bash("echo up; sleep 60"), SPAWN, then=[WORK])
        await at.model.wait_held("child")
        said: list[str] = []
        async for piece in client.runtime.follow(name):
            said.append(piece.text)
            assert (await client.runtime.kill(name)).status == "killed"
        assert said == ["up\n"]
        assert (await client.runtime.kill(name)).status == "killed", "once more changes nothing"
        assert [piece async for piece in client.runtime.follow(name, offset=3)] == []
        assert (await client.runtime.kill(agent)).status == "killed"
        assert (await client.runtime.list(status="active")).tasks == ()
        assert (await client.runtime.output(name)).text == "up\n"
        with pytest.raises(EngineError):
            await client.runtime.get("bg_0")
        assert len(await at.turns()) == 1, "what a person has ended wakes nobody"


async def test_one_that_waits_for_an_answer_is_told_of_once_and_goes_on(place: Place, tmp_path: Path) -> None:
    async with bench(place, tmp_path, bash_stall_seconds=0.2) as at:
        script = f"echo start; printf 'Go on? [y/N] '; {at.until('answer')}; echo yes; {at.until('end')}"
        asks, silent = await at.begun(bash(script, "b1", description="ask"), bash("echo working; sleep 60", "b2"))
        async with at.engine.stream("GET", f"/runtime/{asks}/stream") as stream:
            await _stalls(stream)
            found = await at.task(asks)
            assert found["stalled_since"] >= found["started_at"]
            assert await at.listed(status="stalled") == [asks]
            assert {*await at.listed(status="active")} == {asks, silent}
            (notice,) = notices(await at.engine.execute("hello"))
            assert asks in words(notice)
            assert "bash_kill" in words(notice)
            assert "[y/N]" not in words(notice), "what it said comes marked as data"
            assert notices(await at.engine.execute("hello")) == []
            at.open("answer")
            assert (await stream.until("runtime_status", status="running")).data["stalled_since"] is None
            at.open("end")
            assert (await stream.rest())[-1].data["status"] == "completed"
        told = [one for one in await at.thread("background_task") if one["runtime_task_id"] == asks]
        assert [(one["status"], one.get("resumed", False)) for one in told] == [
            ("running", False),
            ("stalled", False),
            ("running", True),
            ("completed", False),
        ]
        assert told[1]["summary"].endswith("Go on? [y/N]")
        assert (await at.task(silent))["status"] == "running"
        output = (await at.http.get(f"/runtime/{asks}/output")).json()
        assert output["text"] == "start\nGo on? [y/N] yes\n"


async def _stalls(stream: Stream) -> None:
    async with asyncio.timeout(15):
        await stream.until("runtime_status", status="stalled")
