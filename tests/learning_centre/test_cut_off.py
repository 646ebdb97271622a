"""Whoever reads is cut off: what they had is free for the next as soon as it can be, stays theirs as long as they work,
and does not cut off one reader after the other for ever."""

import asyncio
from pathlib import Path

from aster.learning_centre.batch import CUT_OFF, TRIES, Batch
from aster.learning_centre.centre import LearningCentre
from aster.testing import ModelServer, RecordedCall, Reply, Text
from tests.learning_centre.asking import got, learned, posted, talked
from tests.learning_centre.worker import Worker
from tests.live import Live, live

SAID = ("I live in Porto, by the river.", "I work as a baker in a small town.")


async def test_what_a_dead_engine_had_is_free_at_once(model: ModelServer, worker: Worker, tmp_path: Path) -> None:
    settings = {
        "llm_pool_worker": f"{worker.server.url}/v1|worker",
        "task_titles": False,
        "embeddings_provider": "off",
        "sqlite_db_path": tmp_path / "b.sqlite",
    }
    async with live(model, **settings) as aster:
        await talked(aster, *SAID)
        now = aster.engine.services.now()
        claimed = await aster.engine.brain.learning.claim("gone", now=now, until=now + 10**9, limit=2)
        assert len(claimed) == 2
        assert (await posted(aster, "/learning/run", works=["batch"]))["runs"] == []
    async with live(model, **settings) as aster:
        assert (await learned(aster))["entries"] == 2
        assert [entry["attempts"] for entry in (await got(aster, "/learning/journal"))["entries"]] == [1, 1]


async def test_what_cuts_off_everybody_is_set_aside_unread(aster: Live, worker: Worker) -> None:
    await talked(aster, SAID[0])
    store, now = aster.engine.brain.learning, aster.engine.services.now()
    for number in range(TRIES):
        at = now - 100 + number
        assert await store.claim(f"gone-{number}", now=at, until=at + 1, limit=1)
    await aster.execute(SAID[1], "fine")
    changeset = await learned(aster)
    assert [item["quote"] for item in changeset["items"]] == ["I work as a baker in a small town"]
    assert "Porto" not in str(worker.asked)
    (aside,) = (await got(aster, "/learning/journal", state="set_aside"))["entries"]
    assert aside["problem"] == CUT_OFF
    await posted(aster, f"/learning/journal/{aside['number']}/requeue")
    assert [item["after"] for item in (await learned(aster))["items"]] == ["location: Porto"]


async def test_a_claim_is_kept_as_long_as_its_reader_works(aster: Live, worker: Worker) -> None:
    await talked(aster, *SAID)
    arrived, go_on = asyncio.Event(), asyncio.Event()

    async def slow(call: RecordedCall) -> Reply:
        arrived.set()
        await go_on.wait()
        return Reply([Text("{}")])

    worker.server.script([slow])
    lease_ms = 150
    bench = LearningCentre(aster.engine).bench()
    reading = asyncio.create_task(Batch(0.0, lease_ms).run(bench, "default"))
    await arrived.wait()
    for _ in range(10):
        await asyncio.sleep(lease_ms / 3000)
        assert await bench.store.claim("thief", now=bench.now(), until=bench.now() + 1000, limit=9) == []
    go_on.set()
    kept = await reading
    assert kept is not None
    assert (kept.status, kept.entries) == ("empty", 2)
