"""Lessons over HTTP: marked by people and by the turns that were given them."""

from pathlib import Path
from typing import Any

from aster.server import keys
from aster.testing import Failure, ModelServer, Reply, Text
from tests.live import Live, live

FIELDS = {"trigger": "deploying the heron service", "correct_pattern": "Run the heron migration before the deploy."}


async def learned(engine: Live, **headers: str) -> str:
    body = {"kind": "lesson", "fields": FIELDS}
    return (await engine.http.post("/memory/records", json=body, headers=headers)).json()["record"]["id"]


async def read(engine: Live, name: str) -> dict[str, Any]:
    return (await engine.http.get(f"/memory/records/{name}")).json()


async def test_a_person_marks_a_lesson(engine: Live) -> None:
    name = await learned(engine)
    before = (await read(engine, name))["utility"]
    answer = await engine.http.post(f"/memory/lessons/{name}/mark", json={"helpful": True})
    assert (answer.status_code, answer.json()["helpful"], answer.json()["harmful"]) == (200, 1, 0)
    assert answer.json()["utility"] > before
    answer = await engine.http.post(f"/memory/lessons/{name}/mark", json={"helpful": False})
    assert (answer.json()["helpful"], answer.json()["harmful"], answer.json()["utility"]) == (1, 1, before)


async def test_only_ones_own_lessons_are_marked(model: ModelServer, tmp_path: Path) -> None:
    brain = tmp_path / "b.sqlite"
    ada, bob = keys.create(brain, "laptop", "ada").key, keys.create(brain, "phone", "bob").key
    async with live(model, sqlite_db_path=brain, embeddings_provider="off") as engine:
        name = await learned(engine, **{"X-Engine-Key": ada})
        path = f"/memory/lessons/{name}/mark"
        answer = await engine.http.post(path, json={"helpful": True}, headers={"X-Engine-Key": bob})
        assert answer.status_code == 404
        fact = {"kind": "fact", "fields": {"content": "Cats sleep."}}
        made = (await engine.http.post("/memory/records", json=fact, headers={"X-Engine-Key": ada})).json()
        path = f"/memory/lessons/{made['record']['id']}/mark"
        answer = await engine.http.post(path, json={"helpful": True}, headers={"X-Engine-Key": ada})
        assert answer.status_code == 422


async def test_turns_mark_the_lessons_they_were_given(model: ModelServer) -> None:
    async with live(model, embeddings_provider="off") as engine:
        name = await learned(engine)
        model.enqueue(Reply([Text("Done.")]))
        await engine.execute("Deploy the heron service now.", "t1")
        assert ((await read(engine, name))["helpful"], (await read(engine, name))["harmful"]) == (1, 0)
        model.enqueue(Failure(kind="authentication"))
        await engine.execute("Deploy the heron service again.", "t2")
        found = await read(engine, name)
        assert (found["helpful"], found["harmful"], found["receipt"]["uses"]) == (1, 1, 2)
