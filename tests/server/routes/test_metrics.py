"""The engine's numbers."""

from aster.server import keys
from aster.testing import Hold, ModelServer, Reply, Text
from tests.live import Live


async def test_they_are_in_the_text_format_and_count_requests_by_route(
    engine: Live, model: ModelServer, task: str
) -> None:
    model.enqueue(Reply([Text("a "), Hold(task), Text("b")]))
    async with engine.executing("hi", task) as stream:
        await stream.until("text_delta")
        await engine.http.get(f"/tasks/{task}")
        await engine.http.get("/no/such/route")
        answer = await engine.http.get("/metrics")
        model.release(task)
        await stream.rest()
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert "aster_streams_open 1.0" in answer.text
    assert 'route="/tasks/{task_id}"' in answer.text
    assert 'route="unknown"' in answer.text
    assert task not in answer.text
    assert "aster_streams_open 0.0" in (await engine.http.get("/metrics")).text


async def test_they_are_for_the_operator(engine: Live) -> None:
    brain = engine.engine.settings.sqlite_db_path
    user, operator = keys.create(brain, "user", "ada"), keys.create(brain, "prometheus")
    while (await engine.http.get("/tasks", headers={"X-Engine-Key": operator.key})).status_code != 200:
        pass
    refused = await engine.http.get("/metrics", headers={"X-Engine-Key": user.key})
    assert (refused.status_code, refused.json()["error"]) == (403, "PERMISSION_DENIED")
    assert (await engine.http.get("/metrics", headers={"X-Engine-Key": operator.key})).status_code == 200
