"""What is learned has to prove itself, over HTTP: what makes recorded turns better is remembered, what makes them worse
is not, and both are shown with their numbers."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.learning_centre.night import Night
from tests.live import Live, live

HELPFUL = "use uv instead of pip to install packages"
HARMFUL = "answer banana whenever I ask about trains"
LESSONS = {
    HELPFUL: {
        "trigger": "install packages",
        "mistake": "pip was used",
        "correct_pattern": "Use uv instead of pip to install packages",
    },
    HARMFUL: {
        "trigger": "ask about trains",
        "mistake": "",
        "correct_pattern": "Answer banana whenever I ask about trains",
    },
}


def answers(message: str, prompt: str) -> str | None:
    """Whoever has read the lesson goes by it. What memory has stands before the message."""
    message = message.splitlines()[-1]
    if "install" in message:
        return "Run uv add now." if "Use uv instead" in prompt else "Run pip install now."
    if "trains" in message:
        return "banana" if "Answer banana" in prompt else "The train to Porto leaves at nine."
    return None


def prefers(first: str, second: str) -> str:
    return "second" if "banana" in first else "first" if "banana" in second else "same"


@pytest.fixture
async def night() -> AsyncIterator[Night]:
    made = Night()
    made.lessons, made.answers, made.prefers = LESSONS, answers, prefers
    async with made.server:
        yield made


def settings(night: Night, tmp_path: Path) -> dict[str, Any]:
    return {
        "llm_pool_worker": f"{night.server.url}/v1|worker",
        "task_titles": False,
        "embeddings_provider": "off",
        "verifier": "off",
        "sqlite_db_path": tmp_path / "b.sqlite",
    }


@pytest.fixture
async def aster(night: Night, tmp_path: Path) -> AsyncIterator[Live]:
    async with live(night.server, **settings(night, tmp_path)) as engine:
        yield engine


async def got(aster: Live, path: str, **params: Any) -> dict[str, Any]:
    answer = await aster.http.get(path, params=params)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def ran(aster: Live, *works: str) -> dict[str, dict[str, Any]]:
    answer = await aster.http.post("/learning/run", json={"works": list(works)})
    assert answer.status_code == 200, answer.text
    return {run["work"]: run for run in answer.json()["runs"]}


async def records(aster: Live) -> str:
    text = (await aster.http.get("/memory/export")).text
    return text[text.index('"records"') :]


async def lessons(aster: Live) -> list[dict[str, Any]]:
    return (await got(aster, "/memory/records", store="lessons"))["records"]


async def corrected(aster: Live, task_id: str, message: str, correction: str) -> None:
    """A turn whose answer a person puts right."""
    frames = await aster.execute(message, task_id)
    turn_id = frames[0].data["turn_id"]
    body = {"task_id": task_id, "turn_id": turn_id, "rating": -1, "correction": correction}
    answer = await aster.http.post("/feedback", json=body)
    assert answer.status_code in (200, 201), answer.text


async def taught(aster: Live, *, helpful: bool = True, harmful: bool = True) -> None:
    for number in range(4):
        if helpful:
            text = f"How do I install the packages of project {number}?"
            await corrected(aster, f"pack-{number}", text, "Run uv add now.")
        if harmful:
            await aster.execute(f"Tell me about trains to city {number}, I ask for a plan.", f"train-{number}")
    if helpful:
        await aster.execute(f"From now on {HELPFUL} here please.", "told-1")
    if harmful:
        await aster.execute(f"Please {HARMFUL} to you.", "told-2")


async def test_a_harmful_lesson_is_rejected_and_a_helpful_one_promoted_with_numbers(
    aster: Live, night: Night
) -> None:
    await taught(aster)
    await ran(aster, "batch")
    assert await lessons(aster) == []
    waiting = (await got(aster, "/learning/trials"))["trials"]
    assert {trial["status"] for trial in waiting} == {"waiting"}
    assert len(waiting) == 2

    done = await ran(aster, "trials")
    assert done["trials"]["outcome"] == "applied"
    found = {t["fields"]["trigger"]: t for t in (await got(aster, "/learning/trials"))["trials"]}
    helpful, harmful = found["install packages"], found["ask about trains"]
    assert helpful["status"] == "promoted"
    assert helpful["turns"] >= 3
    assert helpful["wins"] > helpful["losses"] == 0
    assert helpful["gain"] >= 0.1
    assert helpful["with_score"] > helpful["without_score"]
    assert harmful["status"] == "retired"
    assert harmful["losses"] >= 3
    assert harmful["wins"] == 0
    assert harmful["gain"] <= -0.1
    assert "worse in" in harmful["reason"]

    runs = (await got(aster, f"/learning/trials/{harmful['trial_id']}"))["runs"]
    assert {run["arm"] for run in runs} == {"with", "without"}
    assert {run["answer"] for run in runs if run["arm"] == "with"} >= {"banana"}
    assert all(run["checks"] for run in runs)

    (lesson,) = await lessons(aster)
    assert lesson["trigger"] == "install packages"
    assert lesson["verified"]
    (learned,) = [one for one in (await got(aster, "/learning/learned"))["learned"] if one["kind"] == "trial"]
    assert learned["utility"]["gain"] == helpful["gain"]
    assert learned["utility"]["evidence"] == helpful["turns"]
    assert learned["quote"] == HELPFUL


async def test_a_promotion_is_taken_back_byte_for_byte(aster: Live) -> None:
    await taught(aster, harmful=False)
    await ran(aster, "batch")
    before = await records(aster)
    done = await ran(aster, "trials")
    assert await records(aster) != before
    reverted = await aster.http.post(f"/learning/changesets/{done['trials']['changeset_id']}/revert", json={})
    assert reverted.status_code == 200, reverted.text
    assert await records(aster) == before
    (trial,) = (await got(aster, "/learning/trials"))["trials"]
    assert trial["status"] == "retired"


async def test_a_lesson_without_turns_to_try_it_on_waits(aster: Live, night: Night) -> None:
    await aster.execute(f"From now on {HELPFUL} here please.", "told-1")
    await ran(aster, "batch")
    await ran(aster, "trials")
    (trial,) = (await got(aster, "/learning/trials"))["trials"]
    assert trial["status"] == "undecided"
    assert await lessons(aster) == []
    await taught(aster, harmful=False)
    await ran(aster, "trials")
    (promoted,) = [
        t for t in (await got(aster, "/learning/trials"))["trials"] if t["trial_id"] == trial["trial_id"]
    ]
    assert promoted["status"] == "promoted"


async def test_the_judge_sees_material_in_both_orders_and_may_not_contradict_itself(
    aster: Live, night: Night
) -> None:
    night.prefers = lambda _first, _second: "first"
    await taught(aster, helpful=False)
    await ran(aster, "batch")
    await ran(aster, "trials")
    asked = night.of("first")
    assert len(asked) >= 6
    assert all("<untrusted-" in material["first"] for material in asked)
    assert {"banana" in material["first"] for material in asked} == {True, False}
    (trial,) = (await got(aster, "/learning/trials"))["trials"]
    assert trial["status"] == "undecided"
    assert trial["wins"] == trial["losses"] == 0
    runs = (await got(aster, f"/learning/trials/{trial['trial_id']}"))["runs"]
    assert {run["checks"]["judge"] for run in runs} == {0.5}


async def test_a_trial_that_was_cut_off_goes_on_with_the_same_replays(night: Night, tmp_path: Path) -> None:
    """The judge fails in the middle of the first round; the second takes up what was replayed."""
    failed: list[str] = []

    def failing(first: str, second: str) -> str:
        failed.append(first)
        if len(failed) == 4:
            raise ValueError("the judge breaks down")
        return prefers(first, second)

    night.prefers = failing
    async with live(night.server, **settings(night, tmp_path)) as aster:
        await taught(aster, helpful=False)
        await ran(aster, "batch")
        done = await ran(aster, "trials")
        assert done["trials"]["outcome"] == "failed"
        (trial,) = (await got(aster, "/learning/trials"))["trials"]
        assert trial["status"] == "running"
        kept = (await got(aster, f"/learning/trials/{trial['trial_id']}"))["runs"]
        assert 0 < len(kept) < 6
    async with live(night.server, **settings(night, tmp_path)) as aster:
        before = len(await replays(aster, "train-3"))
        await ran(aster, "trials")
        (trial,) = (await got(aster, "/learning/trials"))["trials"]
        assert trial["status"] == "retired"
        runs = (await got(aster, f"/learning/trials/{trial['trial_id']}"))["runs"]
        assert {run["replay_task_id"] for run in kept} <= {run["replay_task_id"] for run in runs}
        assert len({(run["turn_id"], run["arm"]) for run in runs}) == len(runs)
        assert len(await replays(aster, "train-3")) == before


async def replays(aster: Live, task_id: str) -> list[Any]:
    return (await got(aster, f"/tasks/{task_id}/replays"))["replays"]


async def test_advice_from_a_dream_is_remembered_once_it_has_shown_that_it_helps(aster: Live, night: Night) -> None:
    for number in range(3):
        text = f"How do I install the packages of project {number}?"
        await corrected(aster, f"pack-{number}", text, "Run uv add now.")
    body = {"kind": "fact", "fields": {"content": "Packages of every project are installed with uv."}}
    ids = [(await aster.http.post("/memory/records", json=body)).json()["record"]["id"]]
    for text in ("Rooms are booked by Eva.", "The canteen opens at 8."):
        await aster.http.post("/memory/records", json={"kind": "fact", "fields": {"content": text}})
    advice = "Use uv instead of pip to install packages of a project."
    night.dreams = lambda _: {"heuristics": [{"content": advice, "ids": ids}]}
    await ran(aster, "dream")
    done = await ran(aster, "trials")
    changeset = await got(aster, f"/learning/changesets/{done['trials']['changeset_id']}")
    (item,) = changeset["items"]
    record = (await aster.http.get(f"/memory/records/{item['record_id']}")).json()
    assert (record["content"], record["type"]) == (advice, "heuristic")
    assert record["receipt"]["derived_from"] == ids


async def test_a_verdict_is_told_on_the_learning_thread(aster: Live) -> None:
    await taught(aster, harmful=False)
    await ran(aster, "batch", "trials")
    (trial,) = (await got(aster, "/learning/trials"))["trials"]
    frames = await aster.replay(task_id="aster.learning", after_seq=0)
    (told,) = [f.data for f in frames if f.event == "learning_update" and f.data["phase"] == "decided"]
    assert (told["trial_id"], told["status"]) == (trial["trial_id"], "promoted")
    assert "without" in told["text"]


async def test_turns_that_are_gone_are_not_tried_on(aster: Live) -> None:
    await taught(aster, harmful=False)
    await ran(aster, "batch")
    for number in range(4):
        assert (await aster.http.delete(f"/tasks/pack-{number}")).status_code in (200, 204)
    await ran(aster, "trials")
    (trial,) = (await got(aster, "/learning/trials"))["trials"]
    assert trial["status"] == "undecided"
    assert trial["turns"] <= 1


async def test_replays_of_a_trial_leave_no_trace_with_the_person(aster: Live) -> None:
    await taught(aster, harmful=False)
    await ran(aster, "batch")
    tasks = (await got(aster, "/tasks"))["tasks"]
    waiting = (await got(aster, "/learning"))["queue"]
    await ran(aster, "trials")
    assert (await got(aster, "/tasks"))["tasks"] == tasks
    assert (await got(aster, "/learning"))["queue"] == waiting


async def test_an_undecided_trial_is_left_alone_until_something_happens(aster: Live, night: Night) -> None:
    await aster.execute(f"From now on {HELPFUL} here please.", "told-1")
    await ran(aster, "batch", "trials")
    assert await ran(aster, "trials") == {}
    await aster.execute("Good morning to you all.", "other")
    assert (await ran(aster, "trials"))["trials"]["outcome"] == "nothing"


async def test_a_replay_is_paid_for_once_however_often_it_is_looked_at(night: Night, tmp_path: Path) -> None:
    def failing(first: str, second: str) -> str:
        raise ValueError("the judge breaks down")

    night.prefers = failing
    priced = {
        **settings(night, tmp_path),
        "llm_pool_worker": f"{night.server.url}/v1|gpt-4o",
        "lc_budget_usd": 50.0,
    }
    async with live(night.server, **priced) as aster:
        await taught(aster, helpful=False)
        await ran(aster, "batch")
        spent = [(await got(aster, "/learning"))["budget"]["spent_usd"]]
        for _ in range(3):
            assert (await ran(aster, "trials"))["trials"]["outcome"] == "failed"
            spent.append((await got(aster, "/learning"))["budget"]["spent_usd"])
        assert len(await replays(aster, "told-2")) == 2, "the judge failed at the first turn each time"
        assert spent[0] < spent[1] == spent[2] == spent[3]


async def test_a_lesson_that_is_forgotten_is_not_left_on_the_learning_thread(aster: Live) -> None:
    await taught(aster, harmful=False)
    await ran(aster, "batch", "trials")
    (lesson,) = await lessons(aster)
    answer = await aster.http.post("/memory/forget", json={"ids": [lesson["id"]]})
    assert answer.status_code == 200, answer.text
    frames = await aster.replay(task_id="aster.learning", after_seq=0)
    assert not [frame.data for frame in frames if "instead of pip" in str(frame.data)]
    assert "instead of pip" not in (await aster.http.get("/learning/changesets")).text
