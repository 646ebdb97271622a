"""Admission and interruption: busy tasks, queues, steering, cancels, slots, drains."""

import asyncio
import sqlite3
from pathlib import Path

import pytest

from aster.brain.sqlite.brain import SqliteBrain
from aster.testing import Hold, ModelServer, Reply, Text, ToolCall
from tests.engine_core.frames import blocks, events, last, transitions
from tests.live import Live, Seen, live, text_of


def held(name: str = "gate") -> Reply:
    """An answer that stops in the middle until it is released."""
    return Reply([Text("one two three "), Hold(name), Text("four five")])


async def test_a_busy_task_rejects_by_default(aster: Live, model: ModelServer) -> None:
    model.enqueue(held())
    async with aster.executing("first") as stream:
        await model.wait_held("gate")
        refused = await aster.http.post("/execute", json={"message": "second", "task_id": "t1"})
        assert refused.status_code == 409
        assert refused.json()["error"] == "TASK_BUSY"
        assert refused.json()["retry"] == "after"
        model.release("gate")
        assert last(await stream.rest())["phase"] == "completed"


async def test_a_second_task_is_not_bothered(aster: Live, model: ModelServer) -> None:
    model.enqueue(held())
    async with aster.executing("first", "t1") as stream:
        await model.wait_held("gate")
        model.enqueue(Reply([Text("other")]))
        assert text_of(await aster.execute("hello", "t2")) == "other"
        model.release("gate")
        await stream.rest()


async def test_a_turn_right_after_the_end_of_another_is_taken(aster: Live, model: ModelServer) -> None:
    for number in range(20):
        model.enqueue(Reply([Text("ok")]))
        assert last(await aster.execute(f"{number}"))["phase"] == "completed"


async def test_queued_messages_run_in_order_afterwards(aster: Live, model: ModelServer) -> None:
    model.enqueue(held(), Reply([Text("second answer")]), Reply([Text("third answer")]))
    async with aster.executing("first") as stream:
        await model.wait_held("gate")
        second = asyncio.create_task(aster.execute("second", on_busy="queue"))
        while not (await aster.http.get("/tasks/t1")).json()["inbox"]:
            await asyncio.sleep(0.01)
        third = asyncio.create_task(aster.execute("third", on_busy="queue"))
        while len((await aster.http.get("/tasks/t1")).json()["inbox"]) < 2:
            await asyncio.sleep(0.01)
        model.release("gate")
        await stream.rest()
    assert blocks(await second)[-1]["text"] == "second answer"
    assert blocks(await third)[-1]["text"] == "third answer"
    said = [m["content"] for m in model.calls[-1].body["messages"] if m["role"] == "user"]
    assert said == ["first", "second", "third"]
    assert (await aster.http.get("/tasks/t1")).json()["inbox"] == []


async def test_a_steer_is_delivered_between_steps(aster: Live, model: ModelServer) -> None:
    look = ToolCall("glob", {"pattern": "*"})
    model.enqueue(Reply([Text("looking "), Hold("gate"), look]), Reply([Text("as you wish")]))
    async with aster.executing("first") as stream:
        await model.wait_held("gate")
        steer = asyncio.create_task(aster.execute("rather do this", on_busy="steer"))
        while not (await aster.http.get("/tasks/t1")).json()["inbox"]:
            await asyncio.sleep(0.01)
        model.release("gate")
        frames = await stream.rest()
    assert len(events(frames, "thread_lifecycle")) == 2
    assert events(frames, "user_message")[-1]["origin"] == "steer"
    assert await steer
    tail = model.calls[-1].body["messages"][-2:]
    assert [message["role"] for message in tail] == ["tool", "user"]
    assert tail[-1]["content"] == "rather do this"


async def test_a_steer_that_comes_last_makes_the_turn_go_on(aster: Live, model: ModelServer) -> None:
    model.enqueue(held(), Reply([Text("six")]))
    async with aster.executing("first") as stream:
        await model.wait_held("gate")
        steer = asyncio.create_task(aster.execute("and then?", on_busy="steer"))
        while not (await aster.http.get("/tasks/t1")).json()["inbox"]:
            await asyncio.sleep(0.01)
        model.release("gate")
        frames = await stream.rest()
    assert transitions(frames) == ["steer"]
    assert blocks(frames)[-1]["text"] == "six"
    await steer


async def test_an_interrupt_cancels_and_runs(aster: Live, model: ModelServer) -> None:
    model.enqueue(held(), Reply([Text("new plan")]))
    async with aster.executing("first") as stream:
        await model.wait_held("gate")
        frames = await aster.execute("stop, do that", on_busy="interrupt")
        first = await stream.rest()
    assert last(first)["phase"] == "cancelled"
    assert last(first)["stop_reason"] == "interrupted"
    assert blocks(frames)[-1]["text"] == "new plan"
    said = [m["content"] for m in model.calls[-1].body["messages"] if m["role"] != "system"]
    assert said == ["first", "one two three ", "stop, do that"]


async def test_cancel_in_the_model_stream_keeps_the_text(aster: Live, model: ModelServer) -> None:
    model.enqueue(held())
    async with aster.executing("first") as stream:
        await model.wait_held("gate")
        before = asyncio.get_running_loop().time()
        done = await aster.http.post("/execute/cancel", json={"task_id": "t1"})
        assert asyncio.get_running_loop().time() - before < 1
        assert done.json()["status"] == "cancelled"
        frames = await stream.rest()
    assert last(frames)["phase"] == "cancelled"
    assert blocks(frames)[-1]["text"] == "one two three "
    assert events(frames, "content_block_stop")[-1]["partial"]
    await model.wait_calls(1, 5, ended=True)
    assert model.calls[0].disconnected


async def test_cancel_kills_the_command(aster: Live, model: ModelServer) -> None:
    marker = "sleep 1000.1234"
    model.enqueue(Reply([ToolCall("bash", {"command": f"echo started; {marker} & {marker}"}, id="zzz")]))
    async with aster.executing("go") as stream:
        await stream.until("tool_progress")
        while len(processes(marker)) < 2:
            await asyncio.sleep(0.01)
        before = asyncio.get_running_loop().time()
        await aster.http.post("/execute/cancel", json={"task_id": "t1"})
        assert asyncio.get_running_loop().time() - before < 1
        frames = await stream.rest()
    assert last(frames)["phase"] == "cancelled"
    result = events(frames, "tool_result")
    assert [(data["tool_call_id"], data["error"], data["output"]) for data in result] == [
        ("zzz", "cancelled", "(cancelled)")
    ]
    assert not processes(marker)
    model.enqueue(Reply([Text("fine")]))
    assert text_of(await aster.execute("again")) == "fine"


def processes(marker: str) -> list[str]:
    found: list[str] = []
    for entry in Path("/proc").iterdir():
        try:
            line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if line.startswith(marker):
            found.append(line)
    return found


async def test_cancelling_what_does_not_run(aster: Live, model: ModelServer) -> None:
    missing = await aster.http.post("/execute/cancel", json={"task_id": "nope"})
    assert (missing.status_code, missing.json()["error"]) == (404, "TASK_NOT_FOUND")
    model.enqueue(Reply([Text("ok")]))
    await aster.execute("hi")
    idle = await aster.http.post("/execute/cancel", json={"task_id": "t1"})
    assert (idle.status_code, idle.json()["error"]) == (409, "TASK_NOT_RUNNING")


async def test_cancel_can_clear_the_inbox(aster: Live, model: ModelServer) -> None:
    model.enqueue(held())
    async with aster.executing("first") as stream:
        await model.wait_held("gate")
        waiting = asyncio.create_task(aster.execute("second", on_busy="queue"))
        while not (await aster.http.get("/tasks/t1")).json()["inbox"]:
            await asyncio.sleep(0.01)
        done = await aster.http.post("/execute/cancel", json={"task_id": "t1", "clear_inbox": True})
        assert done.json()["dropped_messages"] == 1
        await stream.rest()
    assert (await waiting)[-1].data["phase"] == "dequeued"
    assert len(model.calls) == 1


async def test_slots_run_out(model: ModelServer) -> None:
    async with live(model, task_slots=1) as engine:
        model.enqueue(held())
        async with engine.executing("first", "t1") as stream:
            await model.wait_held("gate")
            refused = await engine.http.post("/execute", json={"message": "x", "task_id": "t2"})
            assert (refused.status_code, refused.json()["error"]) == (503, "SLOTS_EXHAUSTED")
            assert int(refused.headers["retry-after"]) >= 1
            model.release("gate")
            await stream.rest()
        model.enqueue(Reply([Text("now")]))
        assert text_of(await engine.execute("x", "t2")) == "now"


async def test_the_turn_goes_on_when_the_client_leaves(aster: Live, model: ModelServer) -> None:
    model.enqueue(held())
    async with aster.executing("first") as stream:
        await model.wait_held("gate")
        seen = list(stream.seen)
    model.release("gate")
    rest = await aster.replay(task_id="t1", after_seq=seen[-1].id if seen else 0)
    frames: list[Seen] = [*seen, *rest]
    assert last(frames)["phase"] == "completed"
    assert text_of(frames) == "one two three four five"


@pytest.mark.parametrize("drain", [5.0, 0.0], ids=["in time", "too late"])
async def test_a_turn_survives_a_graceful_restart(model: ModelServer, tmp_path: Path, drain: float) -> None:
    brain = tmp_path / "brain.sqlite"
    look = ToolCall("glob", {"pattern": "*"})
    model.enqueue(Reply([Text("looking "), Hold("gate"), look]), Reply([Text("looking again "), look]))
    model.enqueue(Reply([Text("done")]))
    async with live(model, sandbox="auto", sqlite_db_path=brain, drain_seconds=drain) as engine:
        async with engine.executing("go") as stream:
            await model.wait_held("gate")
            leaving = asyncio.create_task(engine.engine.drain())
            await asyncio.sleep(0)
            assert (await engine.http.get("/health")).status_code == 503
            refused = await engine.http.post("/execute", json={"message": "x", "task_id": "t2"})
            assert (refused.status_code, refused.json()["error"]) == (503, "DRAINING")
            model.release("gate")
            goodbye = await stream.until("reconnect")
        assert await leaving == (drain > 0)
    async with live(model, sandbox="auto", sqlite_db_path=brain) as engine:
        frames = await engine.replay(task_id="t1", after_seq=goodbye.data["after_seq"])
        assert last(frames)["phase"] == "completed"
        assert blocks(frames)[-1]["text"] == "done"
        assert bool(events(frames, "recovery")) == (drain == 0.0)


async def test_a_full_disk_is_said_and_loses_nothing(aster: Live, model: ModelServer) -> None:
    def shrink(db: sqlite3.Connection) -> None:
        pages = db.execute("PRAGMA page_count").fetchone()[0]
        db.execute(f"PRAGMA max_page_count = {pages}")

    brain = aster.engine.brain
    assert isinstance(brain, SqliteBrain)
    model.enqueue(Reply([Text("so "), Hold("gate"), Text("x" * 400_000)], chunk="all"), Reply([Text("fine")]))
    async with aster.executing("fill it") as stream:
        await model.wait_held("gate")
        await brain._file.run(shrink)
        model.release("gate")
        while brain.fault is None:
            await asyncio.sleep(0.01)
        refused = await aster.http.post("/execute", json={"message": "x", "task_id": "t2"})
        assert (refused.status_code, refused.json()["error"]) == (503, "STORAGE_UNAVAILABLE")
        health = (await aster.http.get("/health")).json()
        assert health["status"] == "degraded"
        assert not health["subsystems"]["brain"]["ok"]
        brain._file._db.execute("PRAGMA max_page_count = 1000000")
        frames = await stream.rest()
    assert last(frames)["phase"] == "completed"
    assert text_of(frames) == "so " + "x" * 400_000
    assert text_of(await aster.execute("x", "t2")) == "fine"


async def test_a_turn_that_cannot_be_read_does_not_keep_the_engine_from_starting(
    model: ModelServer, tmp_path: Path
) -> None:
    brain = tmp_path / "brain.sqlite"
    model.enqueue(held())
    async with live(model, sqlite_db_path=brain) as engine, engine.executing("go") as stream:
        await model.wait_held("gate")
        await stream.until("user_message")
    with sqlite3.connect(brain) as db:
        db.execute("UPDATE thread_events SET data = '{}' WHERE type = 'user_message'")
    db.close()
    model.release("gate")
    async with live(model, sqlite_db_path=brain) as engine:
        task = (await engine.http.get("/tasks/t1")).json()
        assert task["status"] == "idle"
        assert task["turns"][0]["status"] == "errored"
