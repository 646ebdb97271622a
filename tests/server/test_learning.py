"""The learning routes: how it stands, what was learned and from where, accepting, rejecting and taking back."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from aster.server import keys
from aster.testing import Failure, ModelServer, Reply, Rule, Text
from tests.learning_centre.asking import exported, got, learned, posted, records, talked
from tests.learning_centre.worker import Worker
from tests.live import Live, live

SAID = "I live in Lisbon. Which tram goes to the castle?"


@asynccontextmanager
async def learning(folder: Path, worker: Worker, **settings: Any) -> AsyncIterator[Live]:
    async with ModelServer([Rule(Reply([Text("All right.")]))]) as model:
        usual = {
            "llm_pool_worker": f"{worker.server.url}/v1|worker",
            "task_titles": False,
            "embeddings_provider": "off",
            "sqlite_db_path": folder / "b.sqlite",
        }
        async with live(model, **{**usual, **settings}) as engine:
            yield engine


@pytest_asyncio.fixture(loop_scope="module")
async def worker() -> AsyncIterator[Worker]:
    made = Worker()
    async with made.server:
        yield made


@pytest_asyncio.fixture(loop_scope="module")
async def aster(worker: Worker, tmp_path: Path) -> AsyncIterator[Live]:
    async with learning(tmp_path, worker) as engine:
        yield engine


async def test_it_says_how_it_stands(aster: Live) -> None:
    await talked(aster, SAID)
    state = await got(aster, "/learning")
    assert (state["mode"], state["by_itself"], state["review"], state["queue"]["waiting"]) == (
        "auto",
        True,
        False,
        1,
    )
    assert state["works"][0]["name"] == "batch"
    assert state["works"][0]["last"] is None
    assert state["next_run_at"] is not None
    health = (await got(aster, "/health"))["subsystems"]["learning"]
    assert health == {"ok": True, "mode": "auto", "backlog": 1, "set_aside": 0}
    assert "aster_learning_backlog 1.0" in (await aster.http.get("/metrics")).text

    changeset = await learned(aster)
    state = await got(aster, "/learning")
    assert (state["queue"]["waiting"], state["queue"]["done"]) == (0, 1)
    assert state["works"][0]["last"]["changeset_id"] == changeset["changeset_id"]
    metrics = (await aster.http.get("/metrics")).text
    assert 'aster_changesets_total{kind="batch",status="applied"} 1.0' in metrics
    assert 'aster_learned_items_total{status="applied"} 1.0' in metrics


async def test_a_run_says_what_it_did_and_the_thread_tells_it(aster: Live) -> None:
    assert (await posted(aster, "/learning/run", works=["batch"]))["runs"] == []
    await talked(aster, "hi", SAID)
    begun = await posted(aster, "/learning/run", 202, works=["batch"], wait=False)
    assert begun["runs"] == []
    async with aster.stream("GET", "/learning/events") as stream:
        done = await stream.until("learning_update", phase="finished")
    assert (done.data["work"], done.data["status"], done.data["items"]) == ("batch", "applied", {"applied": 1})
    assert done.data["entries"] == 2
    usage = [frame.data for frame in stream.seen if frame.event == "usage"]
    assert [one["purpose"] for one in usage] == ["learning"]
    listed = [task["task_id"] for task in (await got(aster, "/tasks"))["tasks"]]
    assert begun["task_id"] not in listed
    assert len(listed) == 2


async def test_nothing_to_learn_is_a_success_and_asks_nobody(aster: Live, worker: Worker) -> None:
    await talked(aster, "hi", "What is the capital of France?")
    changeset = await learned(aster)
    assert (changeset["status"], changeset["items"], changeset["entries"]) == ("empty", [], 2)
    assert worker.asked == []


async def test_what_cannot_be_run_is_refused(aster: Live, worker: Worker, tmp_path: Path) -> None:
    refused = await posted(aster, "/learning/run", 422, works=["sleepwalking"])
    assert "Choose from: batch" in refused["message"]
    for path in ("/learning/changesets/none", "/learning/trials/none"):
        assert (await aster.http.get(path)).status_code == 404
    assert (await aster.http.post("/learning/changesets/none/revert", json={})).status_code == 404
    assert (await aster.http.post("/learning/changesets/none/eat", json={})).status_code == 422
    assert (await aster.http.post("/learning/journal/7/requeue")).status_code == 404
    (tmp_path / "off").mkdir()
    async with learning(tmp_path / "off", worker, learning="off") as off:
        await talked(off, SAID)
        assert (await got(off, "/learning"))["queue"]["waiting"] == 0
        assert "Learning is off" in (await posted(off, "/learning/run", 422))["message"]


async def test_a_changeset_waits_for_a_person_where_that_is_wanted(worker: Worker, tmp_path: Path) -> None:
    async with learning(tmp_path, worker, lc_review=True) as aster:
        await talked(
            aster, SAID, "From now on answer in metric units. How far is a mile?", "I work as a baker, hello."
        )
        before = await exported(aster)
        proposed = await learned(aster)
        assert (proposed["status"], {item["status"] for item in proposed["items"]}) == ("proposed", {"proposed"})
        assert await exported(aster) == before
        path = f"/learning/changesets/{proposed['changeset_id']}"
        assert (await aster.http.post(f"{path}/revert", json={})).status_code == 422

        (place,) = [item["place"] for item in proposed["items"] if item["kind"] == "fact"]
        await posted(aster, f"{path}/reject", places=[place])
        accepted = await posted(aster, f"{path}/accept")
        assert sorted(item["status"] for item in accepted["items"]) == ["applied", "applied", "rejected"]
        texts = [one["text"] for one in await records(aster)]
        assert "location: Lisbon" in texts
        assert "Answer in metric units." not in texts

        await posted(aster, f"{path}/revert")
        assert await exported(aster) == before


async def test_a_whole_night_is_taken_back_at_once(aster: Live) -> None:
    await talked(aster, "I live in Porto, by the river.")
    before = await exported(aster)
    first = await learned(aster)
    await aster.execute("I now live in Lisbon, on a hill.", "later")
    second = await learned(aster)
    item = second["items"][0]
    assert [one["text"] for one in item["before"]] == ["location: Porto"]
    assert item["after"] == "location: Lisbon"
    done = await posted(aster, "/learning/revert", night=first["night"])
    assert [one["changeset_id"] for one in done["changesets"]] == [second["changeset_id"], first["changeset_id"]]
    left = await exported(aster)
    assert "location" not in left
    assert left.startswith(before[: before.index("]")])
    page = await got(aster, "/learning/changesets", status="reverted", limit=1)
    assert [one["changeset_id"] for one in page["changesets"]] == [second["changeset_id"]]
    rest = await got(aster, "/learning/changesets", status="reverted", limit=1, before=page["next"])
    assert [one["changeset_id"] for one in rest["changesets"]] == [first["changeset_id"]]


async def test_what_was_learned_is_shown_with_its_words_and_its_use(aster: Live) -> None:
    await talked(aster, SAID)
    await learned(aster)
    await aster.execute("What is my location?", "asked")
    (one,) = (await got(aster, "/learning/learned"))["learned"]
    assert (one["record"]["text"], one["quote"]) == ("location: Lisbon", "I live in Lisbon")
    assert one["record"]["receipt"]["task_id"] == "talk-0"
    assert one["record"]["receipt"]["uses"] == 1
    await posted(aster, "/feedback", memory_id=one["record"]["id"], rating="up")
    (day,) = (await got(aster, "/learning/utility"))["days"]
    assert (day["learned"], day["uses"], day["helpful"], day["harmful"]) == (1, 1, 1, 0)


async def test_what_keeps_failing_is_set_aside_and_can_be_tried_again(aster: Live, worker: Worker) -> None:
    await talked(aster, SAID)
    worker.server.enqueue(Failure(400))
    (ran,) = (await posted(aster, "/learning/run", works=["batch"]))["runs"]
    assert ran["outcome"] == "failed"
    (entry,) = (await got(aster, "/learning/journal"))["entries"]
    assert (entry["state"], entry["attempts"], bool(entry["problem"])) == ("waiting", 1, True)
    assert (await got(aster, "/learning"))["works"][0]["last"]["outcome"] == "failed"
    assert (await aster.http.post(f"/learning/journal/{entry['number']}/requeue")).status_code == 404


async def test_everybody_sees_their_own_alone(worker: Worker, tmp_path: Path) -> None:
    other = {"X-Engine-Key": keys.create(tmp_path / "b.sqlite", "laptop", "bob").key}
    async with learning(tmp_path, worker, engine_api_key="operator-key-123") as aster:
        await talked(aster, SAID)
        changeset = await learned(aster)
        for where in ("changesets", "trials", "learned", "journal"):
            answer = await aster.http.get(f"/learning/{where}", headers=other)
            assert next(iter(answer.json().values())) == []
        stolen = f"/learning/changesets/{changeset['changeset_id']}"
        assert (await aster.http.get(stolen, headers=other)).status_code == 404
        assert (await aster.http.post(f"{stolen}/revert", json={}, headers=other)).status_code == 404


@pytest.mark.parametrize("task_id", ["aster.learning", "aster.self_play"])
async def test_nobody_talks_on_the_engines_own_threads(aster: Live, task_id: str) -> None:
    said = await aster.http.post("/execute", json={"task_id": task_id, "message": "I live in Porto."})
    assert (said.status_code, said.json()["details"]["fields"][0]["field"]) == (422, "task_id")
    await aster.execute("Hello there.", "mine")
    forked = await aster.http.post("/tasks/mine/fork", json={"seq": 2, "task_id": task_id})
    assert forked.status_code == 422
