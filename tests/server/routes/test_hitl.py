"""Asking a human, over HTTP."""

from aster.testing import ModelServer, Reply, Text, ToolCall
from tests.live import Live, Seen


async def asked(engine: Live, model: ModelServer, task: str) -> Seen:
    """A task that waits for a human."""
    model.enqueue(Reply([ToolCall("ask_user", {"question": "Which colour?", "options": ["red", "blue"]})]))
    async with engine.executing("paint it", task) as stream:
        request = await stream.until("hitl_request")
        await stream.until("thread_lifecycle", phase="suspended")
        return request


async def test_what_waits_is_listed(engine: Live, model: ModelServer, task: str) -> None:
    request = await asked(engine, model, task)
    (listed,) = (await engine.http.get("/hitl/pending", params={"task_id": task})).json()["pending"]
    assert listed["request_id"] == request.data["request_id"]
    assert (listed["task_id"], listed["turn_id"]) == (task, request.data["turn_id"])
    assert (listed["kind"], listed["question"], listed["options"]) == ("question", "Which colour?", ["red", "blue"])
    assert listed["tool"] == "ask_user"
    assert listed["created_at"].endswith("Z")
    assert "reason" not in listed
    everywhere = (await engine.http.get("/hitl/pending")).json()["pending"]
    assert listed in everywhere


async def test_an_answer_by_task_lets_the_turn_go_on(engine: Live, model: ModelServer, task: str) -> None:
    request = await asked(engine, model, task)
    model.enqueue(Reply([Text("Blue it is")]))
    said = {"task_id": task, "answer": "blue", "feedback": "a dark one", "mood": "fine"}
    answer = await engine.http.post("/hitl/respond", json=said)
    assert answer.json() == {"status": "resumed", "request_id": request.data["request_id"]}
    assert answer.headers["x-aster-warning"] == "unknown fields ignored: mood"
    frames = await engine.replay(task_id=task)
    (resolved,) = [frame for frame in frames if frame.event == "hitl_resolved"]
    assert (resolved.data["answer"], resolved.data["feedback"]) == ("blue", "a dark one")
    assert resolved.data["resolved_by"] == "engine"
    assert frames[-1].data["phase"] == "completed"
    assert (await engine.http.get("/hitl/pending", params={"task_id": task})).json() == {"pending": []}


async def test_only_the_first_answer_counts(engine: Live, model: ModelServer, task: str) -> None:
    request = await asked(engine, model, task)
    model.enqueue(Reply([Text("ok")]))
    said = {"request_id": request.data["request_id"], "answer": "red"}
    assert (await engine.http.post("/hitl/respond", json=said)).status_code == 200
    again = await engine.http.post("/hitl/respond", json=said)
    assert (again.status_code, again.json()["error"]) == (404, "HITL_NOT_PENDING")
    await engine.replay(task_id=task)


async def test_nothing_waits_there(engine: Live, task: str) -> None:
    for said in ({"task_id": task, "answer": "yes"}, {"request_id": "hitl-unknown", "answer": "yes"}):
        answer = await engine.http.post("/hitl/respond", json=said)
        assert (answer.status_code, answer.json()["error"]) == (404, "HITL_NOT_PENDING")


async def test_an_answer_needs_an_address(engine: Live) -> None:
    answer = await engine.http.post("/hitl/respond", json={"answer": "yes"})
    assert (answer.status_code, answer.json()["details"]["fields"][0]["field"]) == (422, "request_id")
