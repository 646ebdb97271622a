"""Two users on one engine: neither finds a trace of the other."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import NamedTuple

import httpx2
import pytest
import pytest_asyncio

from aster.server import keys
from aster.testing import ModelServer, Reply, Text, ToolCall
from tests.live import Live, Seen, live
from tests.postgres import server


class Two(NamedTuple):
    engine: Live
    ada: str
    bob: str


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=["sqlite", "postgres"])
async def two(
    request: pytest.FixtureRequest, model: ModelServer, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Two]:
    brain: Path | str = tmp_path_factory.mktemp("brain") / "brain.sqlite"
    chosen: dict[str, object] = {"sqlite_db_path": brain}
    if request.param == "postgres":
        brain = server().fresh()
        chosen |= {"database_url": brain, "runner": "local"}
    ada, bob = keys.create(brain, "laptop", "ada").key, keys.create(brain, "phone", "bob").key
    async with live(model, **chosen) as engine:
        yield Two(engine, ada, bob)


async def waits(two: Two, model: ModelServer, task: str) -> Seen:
    """A task of Ada's that waits for a human."""
    model.enqueue(Reply([ToolCall("ask_user", {"question": "Which?"})]))
    async with two.engine.executing("a secret", task, key=two.ada) as stream:
        request = await stream.until("hitl_request")
        await stream.until("thread_lifecycle", phase="suspended")
        return request


async def test_the_other_user_finds_nothing(two: Two, model: ModelServer, task: str) -> None:
    request = await waits(two, model, task)
    turn_id, http = request.data["turn_id"], two.engine.http

    async def as_bob(method: str, path: str, **rest: object) -> tuple[int, str]:
        answer = await http.request(method, path, headers={"X-Engine-Key": two.bob}, **rest)  # type: ignore[arg-type]
        assert "secret" not in answer.text
        return answer.status_code, answer.json().get("error", "")

    unknown = (404, "TASK_NOT_FOUND")
    assert await as_bob("GET", f"/tasks/{task}") == unknown
    assert await as_bob("GET", f"/tasks/{task}/events") == unknown
    assert await as_bob("GET", f"/tasks/{task}/turns/{turn_id}/trajectory") == unknown
    assert await as_bob("POST", f"/tasks/{task}/fork", json={"seq": 1}) == unknown
    assert await as_bob("DELETE", f"/tasks/{task}") == unknown
    assert await as_bob("GET", "/execute/replay", params={"task_id": task}) == unknown
    assert await as_bob("POST", "/execute/cancel", json={"task_id": task}) == unknown
    for address in ({"task_id": task}, {"request_id": request.data["request_id"]}):
        said = await as_bob("POST", "/hitl/respond", json={"answer": "yes", **address})
        assert said == (404, "HITL_NOT_PENDING")


async def test_lists_hold_only_what_is_the_callers(two: Two, model: ModelServer, task: str) -> None:
    await waits(two, model, task)
    for key, found in ((two.ada, True), (two.bob, False)):
        headers = {"X-Engine-Key": key}
        listed = (await two.engine.http.get("/tasks", params={"search": task}, headers=headers)).json()["tasks"]
        pending = (await two.engine.http.get("/hitl/pending", headers=headers)).json()["pending"]
        assert bool(listed) is found
        assert any(item["task_id"] == task for item in pending) is found
        replayed = await two.engine.replay(after=0, key=key)
        assert any(frame.data["task_id"] == task for frame in replayed) is found


async def test_the_same_name_is_two_tasks(two: Two, model: ModelServer, task: str) -> None:
    model.enqueue(Reply([Text("for Ada")]), Reply([Text("for Bob")]))
    await two.engine.execute("hi", task, key=two.ada)
    frames = await two.engine.execute("hi", task, key=two.bob)
    assert frames[0].id == 1
    trail = await two.engine.http.get(f"/tasks/{task}/events", headers={"X-Engine-Key": two.ada})
    assert "for Ada" in trail.text
    assert "for Bob" not in trail.text


async def test_a_turn_of_the_other_is_not_reached_through_an_own_task(
    two: Two, model: ModelServer, task: str
) -> None:
    model.enqueue(Reply([Text("for Ada")]), Reply([Text("for Bob")]))
    frames = await two.engine.execute("hi", task, key=two.ada)
    await two.engine.execute("hi", task, key=two.bob)
    path = f"/tasks/{task}/turns/{frames[0].data['turn_id']}/trajectory"
    answer: httpx2.Response = await two.engine.http.get(path, headers={"X-Engine-Key": two.bob})
    assert (answer.status_code, answer.json()["error"]) == (404, "NOT_FOUND")


async def test_an_edit_of_the_others_message_is_refused(two: Two, model: ModelServer, task: str) -> None:
    model.enqueue(Reply([Text("for Ada")]))
    async with two.engine.executing("hi", task, key=two.ada) as stream:
        await stream.rest()
    message = stream.headers["x-message-id"]
    async with two.engine.executing("hi", task, key=two.bob, edit_message_id=message) as stolen:
        assert stolen.response.status_code == 404
