"""Which turns are learned from, through HTTP: one entry each, in the commit of their end."""

import asyncio
from pathlib import Path
from typing import Any

from aster.brain.sqlite.brain import SqliteBrain
from aster.testing import Failure, Hold, ModelServer, Reply, Rule, Text, ToolCall
from tests.brain.learned import NOW, Drawn, applied, claim_of, ended
from tests.engine_core.frames import last
from tests.live import Live, live

FAIL = ToolCall("bash", {"command": "cat missing.txt"})


async def journal(engine: Live) -> list[dict[str, Any]]:
    """The queue, oldest first."""
    answer = await engine.http.get("/learning/journal")
    assert answer.status_code == 200, answer.text
    return list(reversed(answer.json()["entries"]))


async def kinds(engine: Live) -> list[tuple[str, str]]:
    return [(entry["kind"], entry["task_id"]) for entry in await journal(engine)]


async def test_every_turn_is_an_entry_with_its_end(aster: Live, model: ModelServer) -> None:
    model.enqueue(Reply([Text("hello")]), Reply([Text("again")]))
    async with aster.executing("hi") as stream:
        await stream.rest()
        turn_id = stream.headers["X-Turn-ID"]
    [entry] = await journal(aster)
    assert (entry["kind"], entry["task_id"], entry["turn_id"], entry["state"]) == ("turn", "t1", turn_id, "waiting")
    await aster.execute("and again")
    assert await kinds(aster) == [("turn", "t1")] * 2


async def test_a_turn_that_got_nowhere_is_a_failure(aster: Live, model: ModelServer) -> None:
    model.enqueue(*[Reply([FAIL])] * 20)
    frames = await aster.execute("go")
    assert last(frames)["stop_reason"] == "loop_guard"
    assert await kinds(aster) == [("failure", "t1")]


async def test_a_turn_that_ends_with_an_error_is_a_failure(model: ModelServer) -> None:
    model.enqueue(Failure(400))
    async with live(model) as engine:
        frames = await engine.execute("go")
        assert last(frames)["phase"] == "errored"
        assert await kinds(engine) == [("failure", "t1")]


async def test_a_cancelled_turn_counts_when_something_was_said(aster: Live, model: ModelServer) -> None:
    model.enqueue(Reply([Hold("early"), Text("never")]), Reply([Text("one two "), Hold("late"), Text("three")]))
    for task, gate in (("t1", "early"), ("t2", "late")):
        async with aster.executing("go", task) as stream:
            await model.wait_held(gate)
            await aster.http.post("/execute/cancel", json={"task_id": task})
            await stream.rest()
    assert await kinds(aster) == [("turn", "t2")]


async def test_what_agents_do_for_a_turn_belongs_to_it(aster: Live, model: ModelServer) -> None:
    model.script(
        [
            Rule(Reply([Text("the end")]), tool="spawn_agent"),
            Rule(Reply([ToolCall("spawn_agent", {"prompt": "work"}, id="s1")]), match="^go", round=0),
            Rule(Reply([Text("did it")]), match="^work", round=0),
        ]
    )
    await aster.execute("go")
    assert await kinds(aster) == [("turn", "t1")]


async def test_a_call_without_a_model_teaches_nothing(aster: Live) -> None:
    body = {"method": "tool.glob", "params": {"pattern": "*"}, "task_id": "t1"}
    assert (await aster.http.post("/rpc", json=body)).status_code == 200
    assert await kinds(aster) == []


async def test_what_a_person_says_of_a_turn_is_an_entry_of_its_own(aster: Live, model: ModelServer) -> None:
    model.enqueue(Reply([Text("Rome")]))
    async with aster.executing("where do I live?") as stream:
        await stream.rest()
        turn_id = stream.headers["X-Turn-ID"]
    about = {"turn_id": turn_id}
    said = await aster.http.post("/feedback", json={**about, "rating": -1})
    assert said.status_code == 200, said.text
    assert [kind for kind, _ in await kinds(aster)] == ["turn", "feedback"]
    await aster.http.post("/feedback", json={**about, "rating": -1, "correction": "Oslo"})
    assert [kind for kind, _ in await kinds(aster)] == ["turn", "correction"]
    assert (await aster.http.delete("/tasks/t1")).status_code == 200
    assert await kinds(aster) == []


async def test_nothing_is_kept_when_learning_is_off(model: ModelServer) -> None:
    model.enqueue(Reply([Text("hello")]))
    async with live(model, learning="off") as engine:
        async with engine.executing("hi") as stream:
            await stream.rest()
            turn_id = stream.headers["X-Turn-ID"]
        about = {"turn_id": turn_id}
        await engine.http.post("/feedback", json={**about, "rating": -1})
        assert await engine.engine.brain.learning.entries("default", limit=9) == []
        assert (await engine.engine.brain.learning.queue(None)).waiting == 0


async def test_what_was_learned_from_long_ago_is_forgotten_by_itself(model: ModelServer, tmp_path: Path) -> None:
    place = tmp_path / "brain.sqlite"
    brain = SqliteBrain(place)
    await brain.start()
    for turn_id in ("t1", "t2"):
        await ended(brain, turn_id)
    found = await brain.learning.claim("h", now=NOW, until=NOW + 1000, limit=1)
    await applied(brain, Drawn("c1"), claim_of("h", found))
    await brain.close()
    async with live(model, sqlite_db_path=place, database_url=None) as engine, asyncio.timeout(10):
        while (await engine.engine.brain.learning.queue("ada")).done:
            await asyncio.sleep(0.02)
        assert (await engine.engine.brain.learning.queue("ada")).waiting == 1
