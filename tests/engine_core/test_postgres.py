"""The engine on PostgreSQL, over HTTP: what a person does with a task, across restarts of the engine."""

from pathlib import Path

from aster.testing import ModelServer, Reply, Text, ToolCall
from tests.engine_core.frames import events, last
from tests.live import Live, live, text_of
from tests.postgres import server

NOTE = ToolCall("bash", {"command": "echo from the shell"}, id="noted")
DANGER = ToolCall("bash", {"command": "chmod -R 700 ."}, id="danger")


async def brain_of(engine: Live) -> dict[str, object]:
    return (await engine.http.get("/health")).json()["subsystems"]["brain"]


async def test_a_turn_with_tools_is_stored_and_replayed(model: ModelServer, clean_url: str, tmp_path: Path) -> None:
    model.enqueue(Reply([NOTE]), Reply([Text("it said so")]))
    file = tmp_path / "brain.sqlite"
    async with live(model, database_url=clean_url, runner="local", sqlite_db_path=file, sandbox="auto") as engine:
        frames = await engine.execute("say something")
        brain = await brain_of(engine)
    assert (brain["ok"], brain["backend"]) == (True, "postgresql")
    assert "from the shell" in events(frames, "tool_result")[0]["output"]
    assert text_of(frames) == "it said so"
    assert [frame.id for frame in frames] == list(range(1, len(frames) + 1))
    assert not file.exists()
    async with live(model, database_url=clean_url, runner="local") as again:
        assert [frame.raw for frame in await again.replay(task_id="t1")] == [frame.raw for frame in frames]
        model.enqueue(Reply([Text("and again")]))
        assert text_of(await again.execute("go on")) == "and again"
        assert "it said so" in str(model.calls[-1].body)
        assert (await again.http.get("/tasks/t1")).json()["status"] == "idle"


async def test_a_person_is_asked_and_answers_after_a_restart(model: ModelServer, clean_url: str) -> None:
    model.enqueue(Reply([DANGER]), Reply([Text("done")]))
    async with (
        live(model, database_url=clean_url, runner="local", sandbox="auto") as engine,
        engine.executing("go") as stream,
    ):
        await stream.until("thread_lifecycle", phase="suspended")
    async with live(model, database_url=clean_url, runner="local", sandbox="auto") as engine:
        [pending] = (await engine.http.get("/hitl/pending")).json()["pending"]
        answered = await engine.http.post("/hitl/respond", json={"task_id": "t1", "answer": "yes"})
        assert answered.json() == {"status": "resumed", "request_id": pending["request_id"]}
        frames = await engine.replay(task_id="t1")
    assert last(frames)["phase"] == "completed"
    assert text_of(frames) == "done"


async def test_a_task_is_forked_and_deleted(model: ModelServer, clean_url: str) -> None:
    model.enqueue(Reply([Text("one")]), Reply([Text("two")]))
    async with live(model, database_url=clean_url, runner="local") as engine:
        first = await engine.execute("first")
        forked = await engine.http.post("/tasks/t1/fork", json={"seq": first[-1].id, "task_id": "t2"})
        assert forked.status_code == 201, forked.text
        assert text_of(await engine.execute("second", "t2")) == "two"
        assert "one" in str(model.calls[-1].body)
        assert (await engine.http.delete("/tasks/t1")).status_code in (200, 204)
        assert [task["task_id"] for task in (await engine.http.get("/tasks")).json()["tasks"]] == ["t2"]


async def test_a_turn_is_cancelled(model: ModelServer, clean_url: str) -> None:
    async with live(model, database_url=clean_url, runner="local") as engine:
        model.enqueue(Reply([Text("word " * 200)], rate=50))
        async with engine.executing("go") as stream:
            await stream.until("text_delta")
            done = await engine.http.post("/execute/cancel", json={"task_id": "t1"})
            assert done.json()["status"] == "cancelled"
            frames = await stream.rest()
    assert last(frames)["phase"] == "cancelled"
    assert text_of(frames).startswith("word")


async def test_the_server_may_die_during_a_turn(model: ModelServer, clean_url: str) -> None:
    async with live(model, database_url=clean_url, runner="local") as engine:
        model.enqueue(Reply([Text("word " * 100)], rate=100))
        async with engine.executing("go") as stream:
            await stream.until("text_delta")
            server().stop("immediate")
            server().start()
            frames = await stream.rest()
        assert text_of(frames) == "word " * 100
        assert [frame.raw for frame in await engine.replay(task_id="t1")] == [frame.raw for frame in frames]
