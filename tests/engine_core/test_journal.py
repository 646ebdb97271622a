"""What was said in a turn is remembered with its end, by default: also what was said in between, also after a crash."""

import asyncio
import json
import random
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from aster.brain.sqlite.brain import SqliteBrain
from aster.testing import Hold, ModelServer, Reply, Text
from tests.engine_core.frames import events, last
from tests.live import Live, live
from tests.process import Process, engine, free_port
from tests.process import model as model_process

SAID = "My daughter Paulina plays the violoncello in the Kirchberg youth orchestra."
ASKED = "Which instrument does Paulina play in the orchestra?"


@pytest.fixture
async def aster(model: ModelServer, tmp_path: Path) -> AsyncIterator[Live]:
    async with live(model, sqlite_db_path=tmp_path / "b.sqlite") as engine:
        yield engine


async def records(aster: Live, **params: Any) -> list[dict[str, Any]]:
    return (await aster.http.get("/memory/records", params=params)).json()["records"]


def raw(brain: Path) -> bytes:
    beside = brain.with_name(brain.name + "-wal")
    return (brain.read_bytes() + (beside.read_bytes() if beside.exists() else b"")).lower()


async def test_monday_is_known_on_friday_by_default_and_forgotten_without_a_trace(
    aster: Live, model: ModelServer, tmp_path: Path
) -> None:
    model.enqueue(Reply([Text("Good.")]), Reply([Text("The violoncello.")]), Reply([Text("I do not know.")]))
    await aster.execute(SAID, "monday")
    frames = await aster.execute(ASKED, "friday")
    (found,) = events(frames, "memory_retrieval")
    item = found["items"][0]
    assert item["text"] == f"user: {SAID}"
    assert (item["source_task_id"], item["first_seq"], item["last_seq"]) == ("monday", 1, 2)
    assert SAID in str(model.calls[-1].body)
    receipt = (await aster.http.get(f"/memory/records/{item['id']}/receipt")).json()
    assert receipt["receipt"]["extractor"] == "journal"
    assert [use["task_id"] for use in receipt["used_in"]] == ["friday"]
    assert b"violoncello" in raw(tmp_path / "b.sqlite")

    gone = await aster.http.post("/memory/forget", json={"ids": [item["id"]], "delete_tasks": True})
    assert item["id"] in gone.json()["forgotten"], "also what went with its task"
    assert b"violoncello" not in raw(tmp_path / "b.sqlite")
    frames = await aster.execute(ASKED, "sunday")
    assert not events(frames, "memory_retrieval")
    assert "violoncello" not in str(model.calls[-1].body)


async def test_what_means_the_same_is_found_once_there_is_time_to_read_it(aster: Live, model: ModelServer) -> None:
    model.enqueue(Reply([Text("Good.")]), Reply([Text("A cello.")]))
    await aster.execute("I have to bring my dog to the veterinarian tomorrow morning.", "monday")
    await aster.engine.memory.embedded()
    frames = await aster.execute("Does my puppy need an animal doctor?", "friday")
    (found,) = events(frames, "memory_retrieval")
    assert "veterinarian" in found["items"][0]["text"]


async def test_what_was_said_in_between_and_the_answer_are_kept_with_their_places(
    aster: Live, model: ModelServer
) -> None:
    model.enqueue(
        Reply([Text("Let me think "), Hold("middle"), Text("about it.")]),
        Reply([Text("The Kirchberg orchestra rehearses every Tuesday in the old brewery.")]),
    )
    between = "By the way, her teacher Anselm moved to Trier."
    async with aster.executing(SAID, "monday") as stream:
        await model.wait_held("middle")
        steer = asyncio.create_task(aster.execute(between, "monday", on_busy="steer"))
        while not (await aster.http.get("/tasks/monday")).json()["inbox"]:
            await asyncio.sleep(0.01)
        model.release("middle")
        frames = await stream.rest()
    assert await steer
    found = [(await aster.http.get(f"/memory/records/{one['id']}")).json() for one in await records(aster)]
    kept = {record["text"].partition(": ")[2]: record["receipt"] for record in found}
    first, second = (frame for frame in frames if frame.event == "user_message")
    assert (kept[SAID]["first_seq"], kept[SAID]["last_seq"]) == (1, first.id)
    assert kept[between]["first_seq"] == kept[between]["last_seq"] == second.id
    answer = kept["The Kirchberg orchestra rehearses every Tuesday in the old brewery."]
    assert (answer["first_seq"], answer["last_seq"]) == ((second.id or 0) + 1, frames[-1].id)


async def test_greetings_and_bare_questions_leave_nothing(aster: Live, model: ModelServer) -> None:
    model.enqueue(*(Reply([Text("Paris.")]) for _ in range(3)))
    for task, text in enumerate(("Hello there!", "What is the capital of France?", "[[text=1]]")):
        await aster.execute(text, f"t{task}")
    assert await records(aster) == []


async def test_memory_that_cannot_be_written_does_not_keep_a_turn_from_ending(
    model: ModelServer, tmp_path: Path
) -> None:
    brain = tmp_path / "b.sqlite"
    model.enqueue(*(Reply([Text("Good.")]) for _ in range(2)))
    async with live(model, sqlite_db_path=brain) as aster:
        with sqlite3.connect(brain) as broken:
            broken.execute("ALTER TABLE episodes RENAME TO mislaid")
        broken.close()
        assert last(await aster.execute(SAID, "monday"))["phase"] == "completed"
        with sqlite3.connect(brain) as mended:
            mended.execute("ALTER TABLE mislaid RENAME TO episodes")
        mended.close()
        assert last(await aster.execute("Our cat Minka sleeps on the piano.", "tuesday"))["phase"] == "completed"
        assert [record["text"] for record in await records(aster)] == ["user: Our cat Minka sleeps on the piano."]


async def test_a_kill_right_after_the_end_loses_nothing(tmp_path: Path) -> None:
    upstream, host = model_process(tmp_path), None
    await upstream.up()
    try:
        host = engine(tmp_path, upstream.url)
        await host.up()
        await _until_completed(host, f"{SAID} [[text=3]]", "monday", then_kill=True)
        await host.up()
        frames = await _until_completed(host, f"{ASKED} [[text=3]]", "friday")
        (found,) = [data for name, data in frames if name == "memory_retrieval"]
        assert SAID in found["items"][0]["text"]
    finally:
        if host is not None:
            await host.kill()
        await upstream.stop()


async def _until_completed(
    host: Process, message: str, task_id: str, *, then_kill: bool = False
) -> list[tuple[str, dict[str, Any]]]:
    """The frames of a turn; `then_kill` kills the engine as soon as the last of them has come."""
    frames: list[tuple[str, dict[str, Any]]] = []
    body = {"message": message, "task_id": task_id}
    async with (
        asyncio.timeout(20),
        httpx2.AsyncClient(trust_env=False, timeout=20) as http,
        http.stream("POST", f"{host.url}/execute", json=body) as response,
    ):
        name = ""
        async for line in response.aiter_lines():
            if line.startswith("event: "):
                name = line[7:]
            elif line.startswith("data: "):
                frames.append((name, json.loads(line[6:])))
                if frames[-1][1].get("phase") == "completed":
                    if then_kill:
                        await host.kill()
                    return frames
    raise AssertionError(f"the turn did not end: {frames}")


async def test_on_a_full_disk_the_end_waits_and_what_was_said_is_there_afterwards(
    aster: Live, model: ModelServer
) -> None:
    brain = aster.engine.brain
    assert isinstance(brain, SqliteBrain)
    chance = random.Random(1)
    much = " ".join("".join(chance.choices("abcdefghij", k=7)) for _ in range(50_000))
    model.enqueue(Reply([Text("The orchestra "), Hold("gate"), Text(much)], chunk="all"))
    async with aster.executing(SAID, "monday") as stream:
        await model.wait_held("gate")
        await brain._writer.run(lambda db: db.execute("PRAGMA max_page_count = 1").fetchone())
        model.release("gate")
        while brain.fault is None:
            await asyncio.sleep(0.01)
        brain._file._db.execute("PRAGMA max_page_count = 1000000")
        frames = await stream.rest()
    assert last(frames)["phase"] == "completed"
    answer, said = (record["text"] for record in await records(aster))
    assert said == f"user: {SAID}"
    assert answer.startswith("assistant: The orchestra ")


async def test_text_that_is_no_text_and_text_without_end_are_kept_as_far_as_they_can_be(
    aster: Live, model: ModelServer
) -> None:
    model.enqueue(*(Reply([Text("Good.")]) for _ in range(2)))
    body = b'{"task_id": "t1", "message": "My neighbour \\ud800 Otto keeps \\u0000 bees."}'
    answer = await aster.http.post("/execute", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 200
    (kept,) = await records(aster)
    assert "Otto" in kept["text"]
    assert "\x00" not in kept["text"]
    long = " ".join(f"Guest {n} of our house likes the room with the view of the lake." for n in range(600))
    assert last(await aster.execute(long, "t2"))["phase"] == "completed"
    assert 1 < len(await records(aster, task_id="t2")) <= 12


async def test_an_embedding_model_that_is_not_there_takes_nothing_away(model: ModelServer) -> None:
    nowhere = {
        "embeddings_provider": "openai_compatible",
        "embeddings_base_url": f"http://127.0.0.1:{free_port()}/v1",
    }
    model.enqueue(*(Reply([Text("Good.")]) for _ in range(2)))
    async with live(model, embeddings_model="gone", **nowhere) as aster:
        await aster.execute(SAID, "monday")
        (found,) = events(await aster.execute(ASKED, "friday"), "memory_retrieval")
        assert SAID in found["items"][0]["text"]
        assert "words alone" in found["notice"]
        health: dict[str, Any] = {}
        while not health.get("problem"):
            health = (await aster.http.get("/health")).json()["subsystems"]["memory"]
            await asyncio.sleep(0.01)
        assert (health["ok"], health["pending_vectors"]) == (False, 1)
