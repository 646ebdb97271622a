"""Learning begins by itself: when nobody has said anything for a while, and when it is time to. People come first."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from aster.infra.clock import now_ms
from aster.learning_centre.centre import LearningCentre
from aster.learning_centre.watchdog import Watchdog
from aster.testing import Failure, Hold, ModelServer, Reply, Rule, Text
from tests.learning_centre.asking import got, posted, records, talked
from tests.learning_centre.worker import Worker
from tests.live import Live, live

SAID = "I live in Lisbon. Which tram goes to the castle?"
HOUR = 3_600_000


class Clock:
    """The engine's time of day, which a test moves on."""

    def __init__(self) -> None:
        self.later = 0

    def __call__(self) -> int:
        return now_ms() + self.later


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def aster(model: ModelServer, worker: Worker, tmp_path: Path, clock: Clock) -> AsyncIterator[Live]:
    async with live(
        model,
        llm_pool_worker=f"{worker.server.url}/v1|worker",
        task_titles=False,
        embeddings_provider="off",
        sqlite_db_path=tmp_path / "b.sqlite",
        now=clock,
    ) as engine:
        yield engine


@pytest.fixture
def watchdog(aster: Live) -> Watchdog:
    return Watchdog(LearningCentre(aster.engine))


async def changesets(aster: Live) -> list[str]:
    return [one["status"] for one in (await got(aster, "/learning/changesets", kind="batch"))["changesets"]]


async def test_it_waits_until_nobody_has_said_anything_for_a_while(
    aster: Live, watchdog: Watchdog, clock: Clock
) -> None:
    await talked(aster, SAID)
    await watchdog.tick()
    assert await changesets(aster) == []
    clock.later = 60_000
    await watchdog.tick()
    assert await changesets(aster) == []
    clock.later = 121_500
    await watchdog.tick()
    assert await changesets(aster) == ["applied"]


async def test_what_learning_does_keeps_nobody_active(aster: Live, watchdog: Watchdog, clock: Clock) -> None:
    await talked(aster, SAID)
    heard = await aster.engine.brain.learning.active_at(clock())
    clock.later = 200_000
    await watchdog.tick()
    assert await changesets(aster) == ["applied"]
    assert await aster.engine.brain.learning.active_at(clock()) == heard


async def test_nothing_begins_while_somebody_is_being_answered(
    aster: Live, model: ModelServer, watchdog: Watchdog, clock: Clock
) -> None:
    await talked(aster, SAID)
    model.enqueue(Reply([Hold(), Text("At last.")]))
    async with aster.executing("Wait for it, please.", "slow") as stream:
        await model.wait_held()
        clock.later = 10 * HOUR
        await watchdog.tick()
        assert await changesets(aster) == []
        model.release()
        await stream.rest()


async def test_one_that_fails_is_not_begun_over_and_over(
    aster: Live, worker: Worker, watchdog: Watchdog, clock: Clock
) -> None:
    await talked(aster, SAID)
    clock.later = 130_000
    worker.server.enqueue(*[Failure(400)] * 10)
    await watchdog.tick()
    asked = len(worker.server.calls)
    assert asked > 0
    await watchdog.tick()
    clock.later += 30_000
    await watchdog.tick()
    assert len(worker.server.calls) == asked, "its rest was written down before it began"
    clock.later += 40_000
    await watchdog.tick()
    assert len(worker.server.calls) > asked


async def test_it_rests_between_runs(aster: Live, watchdog: Watchdog, clock: Clock) -> None:
    await talked(aster, SAID)
    clock.later = 130_000
    await watchdog.tick()
    await aster.execute("I work as a baker in a small town.", "second")
    await watchdog.tick()
    assert await changesets(aster) == ["applied"]
    clock.later += 61_000
    await watchdog.tick()
    assert await changesets(aster) == ["applied", "applied"]


async def test_one_that_is_cut_off_is_not_begun_again_at_once(
    aster: Live, worker: Worker, watchdog: Watchdog, clock: Clock
) -> None:
    await talked(aster, SAID)
    clock.later = 130_000
    worker.server.enqueue(Reply([Hold(), Text("{}")]))
    run = asyncio.create_task(watchdog.tick())
    await worker.server.wait_held()
    run.cancel()
    await asyncio.gather(run, return_exceptions=True)
    asked = len(worker.server.calls)
    assert (await got(aster, "/learning"))["queue"]["waiting"] == 1
    await watchdog.tick()
    assert len(worker.server.calls) == asked
    clock.later += 61_000
    await watchdog.tick()
    assert await changesets(aster) == ["applied"]


async def test_what_was_said_before_does_not_take_the_place_of_what_was_said_after(
    aster: Live, worker: Worker, clock: Clock
) -> None:
    await aster.execute("I live in Porto, by the river.", "before")
    worker.server.enqueue(Failure(400))
    await posted(aster, "/learning/run", works=["batch"])
    said = (await aster.execute("I now live in Lisbon, on a hill.", "after"))[1]
    await posted(aster, "/learning/run", works=["batch"])
    clock.later = 10 * 60_000
    (late,) = (await posted(aster, "/learning/run", works=["batch"]))["runs"]
    assert late["outcome"] == "applied"
    (now,) = [one for one in await records(aster) if one["kind"] == "trait"]
    assert (now["text"], now["valid_from"]) == ("location: Lisbon", said.data["timestamp"])


async def test_what_keeps_failing_is_set_aside_and_tried_again_when_a_person_says_so(
    aster: Live, worker: Worker, watchdog: Watchdog, clock: Clock
) -> None:
    await talked(aster, SAID)
    clock.later = 130_000
    while (await got(aster, "/learning"))["queue"]["waiting"]:
        worker.server.enqueue(*[Failure(400)] * 10)
        await watchdog.tick()
        clock.later += 10 * 60_000
        assert clock.later < 3 * HOUR
    worker.server.script([worker.answer])
    (entry,) = (await got(aster, "/learning/journal", state="set_aside"))["entries"]
    assert entry["attempts"] == 5
    again = await posted(aster, f"/learning/journal/{entry['number']}/requeue")
    assert (again["number"], again["state"]) == (entry["number"], "waiting")
    assert [one["outcome"] for one in (await posted(aster, "/learning/run", works=["batch"]))["runs"]] == [
        "applied"
    ]


async def test_a_worker_that_is_away_sets_nothing_aside(
    aster: Live, model: ModelServer, worker: Worker, watchdog: Watchdog, clock: Clock
) -> None:
    await talked(aster, SAID)
    clock.later = 130_000
    for server in (worker.server, model):
        server.script([Rule(Failure(503))])
    for _ in range(7):
        await watchdog.tick()
        clock.later += 10 * 60_000
    (entry,) = (await got(aster, "/learning/journal"))["entries"]
    assert (entry["state"], entry["attempts"]) == ("waiting", 0)


async def test_a_reply_that_cannot_be_read_is_no_proof_that_there_is_nothing_to_learn(
    aster: Live, worker: Worker
) -> None:
    await talked(aster, SAID)
    worker.server.enqueue(Reply([Text("<think>{hm} I would say: {not: json")]))
    (ran,) = (await posted(aster, "/learning/run", works=["batch"]))["runs"]
    assert (ran["outcome"], ran["reason"]) == ("failed", "The model's reply could not be read.")
    (entry,) = (await got(aster, "/learning/journal"))["entries"]
    assert (entry["state"], entry["attempts"], entry["problem"]) == ("waiting", 1, ran["reason"])


async def test_the_schedule_begins_a_day_after_it_was_first_looked_at(
    aster: Live, watchdog: Watchdog, clock: Clock
) -> None:
    await watchdog.tick()
    first = await watchdog.next_run()
    assert first is not None
    assert abs(first - clock() - 24 * HOUR) < 60_000
    await talked(aster, SAID)
    clock.later = 25 * HOUR
    await watchdog.tick()
    assert await changesets(aster) == ["applied"]
    again = await watchdog.next_run()
    assert again is not None
    assert abs(again - clock() - 24 * HOUR) < 60_000


async def test_a_person_who_comes_meanwhile_comes_first_and_nothing_is_lost(
    aster: Live, worker: Worker, clock: Clock
) -> None:
    await talked(aster, SAID)
    centre = LearningCentre(aster.engine)
    clock.later = 10_000
    (ran,) = await centre.run(centre.bench(yields=True), "default", [centre.works["batch"]])
    assert (ran.outcome, worker.asked) == ("deferred", [])
    (entry,) = (await got(aster, "/learning/journal"))["entries"]
    assert (entry["state"], entry["attempts"]) == ("waiting", 0)
    clock.later = 40_000
    (ran,) = await centre.run(centre.bench(yields=True), "default", [centre.works["batch"]])
    assert ran.outcome == "applied"


async def test_the_days_money_is_a_limit(model: ModelServer, worker: Worker, tmp_path: Path) -> None:
    async with live(
        model,
        llm_pool_worker=f"{worker.server.url}/v1|worker",
        task_titles=False,
        embeddings_provider="off",
        sqlite_db_path=tmp_path / "b.sqlite",
        lc_budget_usd=0.5,
    ) as aster:
        await talked(aster, SAID)
        centre = LearningCentre(aster.engine)
        await centre.bench().spend("default", "replay-1", 0.5)
        (ran,) = (await posted(aster, "/learning/run", works=["batch"]))["runs"]
        assert ran["outcome"] == "deferred"
        assert "0.5 USD" in ran["reason"]
        assert worker.asked == []
        assert (await got(aster, "/learning"))["budget"] == {"limit_usd": 0.5, "spent_usd": 0.5}


@pytest.mark.parametrize(
    ("settings", "by_itself"),
    [({}, False), ({"light_model": "small"}, True), ({"learning": "on"}, True), ({"learning": "off"}, False)],
)
async def test_it_surprises_nobody_with_its_cost(
    model: ModelServer, settings: dict[str, str], by_itself: bool
) -> None:
    async with live(model, embeddings_provider="off", **settings) as aster:
        state = await got(aster, "/learning")
        assert state["by_itself"] is by_itself
        assert (state["next_run_at"] is not None) is by_itself


async def test_a_look_never_waits_for_the_one_before(
    aster: Live, worker: Worker, watchdog: Watchdog, clock: Clock
) -> None:
    """Where a queue of several replicas begins looks, those that waited would take its places from turns."""
    await talked(aster, *(f"I work as a baker in the small town number {number}." for number in range(14)))
    clock.later = 130_000
    worker.server.enqueue(Reply([Hold(), Text("{}")]))
    first = asyncio.create_task(watchdog.tick())
    await worker.server.wait_held()
    clock.later += 61_000
    await asyncio.wait_for(watchdog.tick(), 2)
    worker.server.release()
    await first


async def test_closing_ends_what_was_begun_by_somebody_else(
    aster: Live, worker: Worker, watchdog: Watchdog, clock: Clock
) -> None:
    """With several replicas a queue begins the look, and not the watchdog's own loop."""
    await talked(aster, SAID)
    clock.later = 130_000
    worker.server.enqueue(Reply([Hold(), Text("{}")]))
    begun = asyncio.create_task(watchdog.tick())
    await worker.server.wait_held()
    await asyncio.wait_for(watchdog.close(), 5)
    await asyncio.wait_for(begun, 1)
    queue = (await got(aster, "/learning"))["queue"]
    assert (queue["waiting"], queue["claimed"]) == (1, 0), "it counts as no attempt, and waits for nobody"
    await watchdog.tick()
    assert (await got(aster, "/learning"))["queue"]["waiting"] == 1


async def test_what_is_wrong_with_one_piece_keeps_no_other_from_being_begun(
    aster: Live, watchdog: Watchdog, clock: Clock
) -> None:
    await talked(aster, SAID)
    store = aster.engine.brain.learning
    clock.later = HOUR
    await watchdog.tick()
    assert await changesets(aster) == ["applied"]
    await store.keep_state("default", "dream", "{", clock())
    assert await store.state("operator", "begun:skills") is None
    clock.later += HOUR
    await watchdog.tick()
    assert await store.state("operator", "begun:skills") is not None
