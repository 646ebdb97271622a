"""Plans and uncertainties over HTTP: by task, by user, with their task gone or forked."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest_asyncio

from aster.server import keys
from aster.testing import ModelServer, Reply, Text, ToolCall
from tests.live import Live, live

PLAN = ToolCall("update_plan", {"goal": "A fix", "steps": [{"id": "s1", "text": "Read"}]}, id="plan")
OK = Reply([Text("That is all.")])


class Two(NamedTuple):
    engine: Live
    ada: str
    bob: str


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def two(model: ModelServer, tmp_path_factory: Any) -> AsyncIterator[Two]:
    brain: Path = tmp_path_factory.mktemp("brain") / "brain.sqlite"
    ada, bob = keys.create(brain, "laptop", "ada").key, keys.create(brain, "phone", "bob").key
    async with live(model, sqlite_db_path=brain) as engine:
        yield Two(engine, ada, bob)


async def get(two: Two, path: str, key: str | None = None, **params: Any) -> Any:
    answered = await two.engine.http.get(path, headers={"X-Engine-Key": key or two.ada}, params=params)
    return answered.json()


async def wondering(
    two: Two, model: ModelServer, task: str, text: str, key: str | None = None, **more: Any
) -> None:
    given = {"kind": "unknown", "text": text, **more}
    model.enqueue(Reply([ToolCall("flag_uncertainty", given)]), OK)
    await two.engine.execute("go", task, key=key or two.ada)


async def test_a_task_has_a_plan_or_none(two: Two, model: ModelServer, task: str) -> None:
    assert (await get(two, f"/tasks/{task}/plan"))["error"] == "TASK_NOT_FOUND"
    model.enqueue(OK)
    await two.engine.execute("hi", task, key=two.ada)
    assert await get(two, f"/tasks/{task}/plan") == {"plan": None}
    model.enqueue(Reply([PLAN]), OK)
    await two.engine.execute("go", task, key=two.ada)
    plan = (await get(two, f"/tasks/{task}/plan"))["plan"]
    assert (plan["goal"], plan["revision"], plan["reason"]) == ("A fix", 1, None)
    assert plan["steps"][0] == {
        "id": "s1",
        "text": "Read",
        "status": "pending",
        "depends_on": [],
        "parent": None,
        "join": "all",
        "done_when": None,
        "alternative_to": None,
        "result": None,
    }


async def test_another_user_finds_nothing(two: Two, model: ModelServer, task: str) -> None:
    model.enqueue(Reply([PLAN]), OK)
    await two.engine.execute("go", task, key=two.ada)
    await wondering(two, model, task, "Is it a secret?")
    for path in ("plan", "uncertainties"):
        assert (await get(two, f"/tasks/{task}/{path}", two.bob))["error"] == "TASK_NOT_FOUND"
    model.enqueue(OK)
    await two.engine.execute("hi", task, key=two.bob)
    assert (await get(two, f"/tasks/{task}/plan", two.bob))["plan"] is None
    assert (await get(two, f"/tasks/{task}/uncertainties", two.bob))["uncertainties"] == []


async def test_uncertainties_are_listed_as_they_stand(two: Two, model: ModelServer, task: str) -> None:
    await wondering(two, model, task, "First?")
    await wondering(two, model, task, "Second?", impact=2)
    second, first = (await get(two, f"/tasks/{task}/uncertainties"))["uncertainties"]
    assert (first["text"], first["impact"], first["resolution"]) == ("First?", 3, "ask_user")
    assert (second["text"], second["impact"], second["resolved"]) == ("Second?", 2, False)
    await wondering(two, model, task, "It was so.", resolves=first["item_id"])
    left = (await get(two, f"/tasks/{task}/uncertainties", unresolved=True))["uncertainties"]
    assert [item["text"] for item in left] == ["Second?"]
    assert len((await get(two, f"/tasks/{task}/uncertainties"))["uncertainties"]) == 2


async def test_what_keeps_coming_up_is_counted_until_it_is_settled(two: Two, model: ModelServer, task: str) -> None:
    words = f"Which {task} is meant"
    await wondering(two, model, task, f"{words}?")
    assert words not in str(await get(two, "/uncertainties", limit=100))
    await wondering(two, model, f"{task}-b", f"{words.upper()}!", impact=2)
    (found,) = [item for item in (await get(two, "/uncertainties"))["recurring"] if task in item["text"].lower()]
    assert (found["times"], found["tasks"], found["impact"]) == (2, 2, 3)
    assert found["text"] == f"{words.upper()}!"
    assert task not in str(await get(two, "/uncertainties", two.bob)).lower()
    (item,) = (await get(two, f"/tasks/{task}/uncertainties"))["uncertainties"]
    await wondering(two, model, task, "This one.", resolves=item["item_id"])
    assert task not in str(await get(two, "/uncertainties", limit=100)).lower()


async def test_a_fork_has_them_too_and_counts_nothing_twice(two: Two, model: ModelServer, task: str) -> None:
    model.enqueue(Reply([PLAN]), OK)
    await two.engine.execute("go", task, key=two.ada)
    await wondering(two, model, task, f"Who is {task}?")
    head = (await get(two, f"/tasks/{task}"))["head_seq"]
    body = {"seq": head, "task_id": f"{task}-fork"}
    await two.engine.http.post(f"/tasks/{task}/fork", json=body, headers={"X-Engine-Key": two.ada})
    assert (await get(two, f"/tasks/{task}-fork/plan"))["plan"]["goal"] == "A fix"
    assert len((await get(two, f"/tasks/{task}-fork/uncertainties"))["uncertainties"]) == 1
    assert task not in str(await get(two, "/uncertainties", limit=100)).lower()


async def test_they_go_with_their_task(two: Two, model: ModelServer, task: str) -> None:
    for name in (task, f"{task}-b"):
        model.enqueue(Reply([PLAN]), OK)
        await two.engine.execute("go", name, key=two.ada)
        await wondering(two, model, name, f"Where is {task}?")
    assert task in str(await get(two, "/uncertainties", limit=100)).lower()
    await two.engine.http.delete(f"/tasks/{task}", headers={"X-Engine-Key": two.ada})
    assert task not in str(await get(two, "/uncertainties", limit=100)).lower()
    model.enqueue(OK)
    await two.engine.execute("hi", task, key=two.ada)
    assert (await get(two, f"/tasks/{task}/plan"))["plan"] is None
    assert (await get(two, f"/tasks/{task}/uncertainties"))["uncertainties"] == []
