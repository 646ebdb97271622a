"""Feedback over HTTP: kept once for each thing, felt by memories at once, taken back whole."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import pytest_asyncio

from aster.server import keys
from aster.testing import ModelServer, Reply, Text
from tests.live import Live, live


class Two(NamedTuple):
    engine: Live
    ada: dict[str, str]
    bob: dict[str, str]

    async def say(self, **body: Any) -> Any:
        return await self.engine.http.post("/feedback", json=body, headers=self.ada)

    async def listed(self, **params: Any) -> list[dict[str, Any]]:
        answer = await self.engine.http.get("/feedback", params=params, headers=self.ada)
        assert answer.status_code == 200, answer.text
        return answer.json()["signals"]

    async def turn(self, model: ModelServer, task: str) -> tuple[str, str, str]:
        """A turn of Ada's: its id, that of her message, and that of the answer."""
        model.enqueue(Reply([Text("Forty-two.")]))
        async with self.engine.executing("How many?", task, key=self.ada["X-Engine-Key"]) as stream:
            frames = await stream.rest()
            said = next(frame.data for frame in frames if frame.event == "usage")
            return stream.headers["X-Turn-ID"], stream.headers["X-Message-ID"], said["message_id"]

    async def remembered(self, kind: str = "fact", **fields: Any) -> str:
        body = {"kind": kind, "fields": fields, "confidence": 0.6}
        return (await self.engine.http.post("/memory/records", json=body, headers=self.ada)).json()["record"]["id"]

    async def record(self, name: str) -> dict[str, Any]:
        return (await self.engine.http.get(f"/memory/records/{name}", headers=self.ada)).json()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def two(model: ModelServer, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Two]:
    brain: Path = tmp_path_factory.mktemp("brain") / "brain.sqlite"
    ada, bob = ({"X-Engine-Key": keys.create(brain, who, who).key} for who in ("ada", "bob"))
    async with live(model, sqlite_db_path=brain, embeddings_provider="off") as engine:
        yield Two(engine, ada, bob)


async def test_a_turn_and_its_messages_are_rated(two: Two, model: ModelServer, task: str) -> None:
    turn, message, answer = await two.turn(model, task)
    said = await two.say(turn_id=turn, rating="up", text="Thanks")
    assert said.status_code == 200, said.text
    kept = said.json()
    assert (kept["target"], kept["target_id"], kept["task_id"], kept["rating"]) == ("turn", turn, task, 1.0)
    for name in (message, answer):
        said = await two.say(message_id=name, task_id=task, rating=-0.5, correction="It is 43.")
        assert (said.status_code, said.json()["turn_id"], said.json()["correction"]) == (200, turn, "It is 43.")
    assert [one["target_id"] for one in await two.listed(task_id=task)] == [answer, message, turn]
    assert [one["target_id"] for one in await two.listed(task_id=task, target="turn")] == [turn]
    assert (await two.engine.http.delete(f"/tasks/{task}", headers=two.ada)).status_code == 200
    assert await two.listed(task_id=task) == []


async def test_said_again_it_replaces_what_was_said(two: Two, model: ModelServer, task: str) -> None:
    turn, _, _ = await two.turn(model, task)
    first = (await two.say(turn_id=turn, rating="up")).json()
    again = (
        await two.engine.http.post("/api/feedback", json={"turn_id": turn, "rating": -1}, headers=two.ada)
    ).json()
    assert (again["signal_id"], again["created_at"]) == (first["signal_id"], first["created_at"])
    assert [one["rating"] for one in await two.listed(task_id=task)] == [-1.0]


async def test_a_rated_memory_is_surer_or_less_sure_at_once(two: Two) -> None:
    name = await two.remembered(subject="heron", predicate="eats", content="Herons eat fish.")
    assert (await two.record(name))["receipt"]["confidence"] == 0.6
    up = (await two.say(memory_id=name, rating="up")).json()
    await two.say(memory_id=name, rating="up")
    found = (await two.record(name))["receipt"]
    assert (found["confidence"], found["uses"]) == (0.8, 1)
    await two.say(memory_id=name, rating="down")
    found = (await two.record(name))["receipt"]
    assert (found["confidence"], found["uses"]) == (0.3, 0)
    gone = await two.engine.http.delete(f"/feedback/{up['signal_id']}", headers=two.ada)
    assert gone.json() == {"status": "deleted", "signal_id": up["signal_id"]}
    assert (await two.record(name))["receipt"]["confidence"] == 0.6
    assert (await two.engine.http.delete(f"/feedback/{up['signal_id']}", headers=two.ada)).status_code == 404


async def test_a_memory_called_wrong_is_found_after_others_that_fit(two: Two) -> None:
    names = [
        await two.remembered(subject=f"quokka {at}", predicate="lives", content=f"A quokka lives on island {at}.")
        for at in range(4)
    ]
    query = {"query": "Where does a quokka live?", "stores": ["knowledge"]}

    async def order() -> list[str]:
        answer = await two.engine.http.post("/memory/search", json=query, headers=two.ada)
        return [hit["id"] for hit in answer.json()["hits"] if hit["id"] in names]

    best = (await order())[0]
    await two.say(memory_id=best, rating="down", text="They moved.")
    assert (await order())[-1] == best


async def test_a_lesson_counts_who_it_helped(two: Two) -> None:
    name = await two.remembered("lesson", trigger="deploying", correct_pattern="Migrate first.")
    await two.say(memory_id=name, rating=0.5)
    found = await two.record(name)
    assert (found["helpful"], found["harmful"]) == (1, 0)
    await two.say(memory_id=name, rating=-0.5)
    found = await two.record(name)
    assert (found["helpful"], found["harmful"]) == (0, 1)


async def test_what_is_forgotten_takes_its_feedback_along(two: Two) -> None:
    name = await two.remembered(content="Forget me.")
    await two.say(memory_id=name, text="Good to know")
    await two.engine.http.post("/memory/forget", json={"ids": [name]}, headers=two.ada)
    assert name not in [one["target_id"] for one in await two.listed(target="memory")]


async def test_nobody_rates_or_sees_what_is_anothers(two: Two, model: ModelServer, task: str) -> None:
    turn, message, _ = await two.turn(model, task)
    memory = await two.remembered(content="Ada's own.")
    mine = (await two.say(turn_id=turn, rating="up")).json()["signal_id"]
    for target in ({"turn_id": turn}, {"message_id": message, "task_id": task}, {"memory_id": memory}):
        answer = await two.engine.http.post("/feedback", json={**target, "rating": "down"}, headers=two.bob)
        assert (answer.status_code, answer.json()["error"]) == (404, "NOT_FOUND")
    assert (await two.engine.http.get("/feedback", headers=two.bob)).json() == {"signals": [], "next": None}
    assert (await two.engine.http.delete(f"/feedback/{mine}", headers=two.bob)).status_code == 404
    assert (await two.record(memory))["receipt"]["confidence"] == 0.6


async def test_pages(two: Two) -> None:
    names = [await two.remembered(content=f"Page {at}.") for at in range(3)]
    for name in names:
        await two.say(memory_id=name, rating="up")
    http = two.engine.http
    first = (await http.get("/feedback", params={"limit": 2}, headers=two.ada)).json()
    rest = (await http.get("/feedback", params={"limit": 2, "before": first["next"]}, headers=two.ada)).json()
    assert [one["target_id"] for one in first["signals"]] == names[:0:-1]
    assert rest["signals"][0]["target_id"] == names[0]


async def test_secrets_are_not_kept(two: Two) -> None:
    name = await two.remembered(content="A thing.")
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    kept = (await two.say(memory_id=name, text=f"use {secret}", correction=secret)).json()
    assert secret not in f"{kept}"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"rating": "up"}, "turn_id"),
        ({"turn_id": "a", "memory_id": "b", "rating": 1}, "turn_id"),
        ({"message_id": "a", "rating": 1}, "task_id"),
        ({"turn_id": "a"}, "rating"),
        ({"turn_id": "a", "rating": 1.5}, "rating"),
        ({"turn_id": "a", "rating": True}, "rating"),
        ({"turn_id": "a", "rating": "sideways"}, "rating"),
    ],
)
async def test_bad_feedback_is_refused(two: Two, body: dict[str, Any], field: str) -> None:
    answer = await two.say(**body)
    assert answer.status_code == 422
    assert [one["field"] for one in answer.json()["details"]["fields"]] == [field]
