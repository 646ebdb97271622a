"""A message that is sent again, because its sender cannot know whether it arrived, is taken once."""

import httpx2
import pytest

from aster.testing import ModelServer
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
        assert again.json()["details"] == {"task_id": "t1", "turn_id": first.headers["x-turn-id"]}
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
