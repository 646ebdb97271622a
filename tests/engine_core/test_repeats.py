"""A message that is sent again, because its sender cannot know whether it arrived, is taken once."""

import asyncio

import httpx2
import pytest

from aster.testing import Hold, ModelServer, Reply, Rule, Text
from tests.engine_core.frames import events
from tests.live import Live, live


async def post(
    engine: Live, key: str | None, task_id: str = "t1", message: str = "[[text=3]] Hi."
) -> httpx2.Response:
    headers = {"Idempotency-Key": key} if key is not None else {}
    return await engine.http.post("/execute", json={"message": message, "task_id": task_id}, headers=headers)


async def turns(engine: Live, task_id: str = "t1") -> int:
    found = await engine.http.get(f"/tasks/{task_id}/events", params={"types": "user_message"})
    return len(found.json()["events"])


async def test_the_same_name_begins_one_turn(model: ModelServer) -> None:
    async with live(model) as engine:
        first = await post(engine, "once")
        again = await post(engine, "once")
        assert (first.status_code, again.status_code) == (200, 409)
        assert again.json()["error"] == "TASK_BUSY"
        assert again.json()["details"] == {
            "task_id": "t1",
            "turn_id": first.headers["x-turn-id"],
            "message_id": first.headers["x-message-id"],
        }
        assert await turns(engine) == 1
        for name, task in (("other", "t1"), (None, "t1"), (None, "t1"), ("once", "t2")):
            assert (await post(engine, name, task)).status_code == 200
        assert (await turns(engine), await turns(engine, "t2")) == (4, 1)


async def test_a_restart_does_not_forget_it(model: ModelServer, tmp_path_factory: pytest.TempPathFactory) -> None:
    brain = tmp_path_factory.mktemp("brain") / "brain.sqlite"
    async with live(model, sqlite_db_path=brain) as engine:
        assert (await post(engine, "once")).status_code == 200
    async with live(model, sqlite_db_path=brain) as engine:
        assert (await post(engine, "once")).status_code == 409
        assert await turns(engine) == 1


@pytest.mark.parametrize("on_busy", ["queue", "steer", "interrupt"])
async def test_one_that_waits_is_left_once(model: ModelServer, on_busy: str) -> None:
    """Sent again while it waits, when it is taken, and when all is over; and by many at once."""
    model.script(
        [Rule(Reply([Text("first "), Hold("first"), Text("done")]), match="^first"), Rule(Reply([Text("Yes.")]))]
    )
    body = {"message": "second", "task_id": "t1", "on_busy": on_busy}

    async def send() -> tuple[int, str]:
        headers = {"Idempotency-Key": "once"}
        async with engine.http.stream("POST", "/execute", json=body, headers=headers) as answer:
            if answer.status_code == 200:
                return 200, answer.headers["x-message-id"]
            return answer.status_code, (await answer.aread()).decode()

    async with live(model) as engine:
        async with engine.executing("first") as stream:
            await model.wait_held("first")
            sent = await asyncio.gather(*(send() for _ in range(5)))
            taken = [said for status, said in sent if status == 200]
            assert sorted(status for status, _ in sent) == [200, 409, 409, 409, 409]
            assert all(taken[0] in said for _, said in sent)
            model.release("first")
            await stream.rest()
        task = await idle(engine)
        thread = await engine.replay(task_id="t1", after_seq=0)
        said = [one["message_id"] for one in events(thread, "user_message")]
        assert said.count(taken[0]) == 1
        assert len(said) == 2
        assert (await send())[0] == 409
        assert len((await idle(engine))["turns"]) == len(task["turns"])


async def idle(engine: Live) -> dict[str, list[object]]:
    async with asyncio.timeout(10):
        while True:
            task = (await engine.http.get("/tasks/t1")).json()
            if task["active_turn_id"] is None and not task["inbox"]:
                return task
            await asyncio.sleep(0.02)


async def test_a_turn_that_runs_is_not_queued_behind_itself(model: ModelServer) -> None:
    model.script([Rule(Reply([Text("first "), Hold("first"), Text("done")]), match="^first")])
    async with live(model) as engine:
        body = {"message": "first", "task_id": "t1", "on_busy": "queue"}
        headers = {"Idempotency-Key": "once"}
        async with engine.stream("POST", "/execute", json=body, headers=headers) as stream:
            await model.wait_held("first")
            again = await engine.http.post("/execute", json=body, headers=headers)
            assert (again.status_code, again.json()["error"]) == (409, "TASK_BUSY")
            assert again.json()["details"]["message_id"] == stream.headers["x-message-id"]
            model.release("first")
            await stream.rest()
        assert len((await idle(engine))["turns"]) == 1
