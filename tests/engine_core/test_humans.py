"""People in the loop: permission, questions, answers that come late, twice or not at all."""

from pathlib import Path

from aster.testing import ModelServer, Reply, Text, ToolCall
from tests.engine_core.frames import events, last
from tests.live import Live, live, text_of

DANGER = ToolCall("bash", {"command": "chmod -R 700 ."}, id="danger")
QUESTION = ToolCall("ask_user", {"question": "Which colour?", "options": ["red", "blue"]}, id="asked")


async def test_a_permission_is_asked_and_given(aster: Live, model: ModelServer) -> None:
    model.enqueue(Reply([DANGER]), Reply([Text("done")]))
    async with aster.executing("go") as stream:
        request = (await stream.until("hitl_request")).data
        assert (request["kind"], request["tool"]) == ("permission", "bash")
        pending = (await aster.http.get("/hitl/pending")).json()["pending"]
        assert [item["request_id"] for item in pending] == [request["request_id"]]
        body = {"task_id": "t1", "answer": "yes"}
        answered = await aster.http.post("/hitl/respond", json=body)
        assert answered.json() == {"status": "resumed", "request_id": request["request_id"]}
        frames = await stream.rest()
    assert len(events(frames, "permission_prompt")) == 1
    assert [data["phase"] for data in events(frames, "thread_lifecycle")] == [
        "started",
        "suspended",
        "resumed",
        "completed",
    ]
    assert "error" not in events(frames, "tool_result")[0]
    assert (await aster.http.get("/hitl/pending")).json()["pending"] == []


async def test_a_no_reaches_the_model_with_the_reason(aster: Live, model: ModelServer) -> None:
    model.enqueue(Reply([DANGER]), Reply([Text("I will not then.")]))
    async with aster.executing("go") as stream:
        request = (await stream.until("hitl_request")).data
        body = {"request_id": request["request_id"], "answer": "no", "feedback": "not on a Friday"}
        await aster.http.post("/hitl/respond", json=body)
        frames = await stream.rest()
    result = events(frames, "tool_result")[0]
    assert result["error"] == "permission_denied"
    assert "not on a Friday" in result["output"]
    assert events(frames, "tool_call") == []
    assert last(frames)["phase"] == "completed"


async def test_a_question_becomes_the_outcome(aster: Live, model: ModelServer) -> None:
    model.enqueue(Reply([QUESTION]), Reply([Text("Blue it is.")]))
    async with aster.executing("go") as stream:
        request = (await stream.until("hitl_request")).data
        assert request["options"] == ["red", "blue"]
        await aster.http.post("/hitl/respond", json={"task_id": "t1", "answer": "blue"})
        frames = await stream.rest()
    assert events(frames, "tool_result")[0]["output"] == "blue"


async def test_while_waiting_the_task_needs_an_answer_first(aster: Live, model: ModelServer) -> None:
    model.enqueue(Reply([QUESTION]), Reply([Text("ok")]), Reply([Text("later")]))
    async with aster.executing("go") as stream:
        await stream.until("thread_lifecycle", phase="suspended")
        refused = await aster.http.post("/execute", json={"message": "x", "task_id": "t1"})
        assert (refused.status_code, refused.json()["error"]) == (409, "HITL_REQUIRED")
        assert refused.json()["retry"] == "ask"
        deletion = await aster.http.delete("/tasks/t1")
        assert (deletion.status_code, deletion.json()["error"]) == (409, "TASK_BUSY")
        await aster.http.post("/hitl/respond", json={"task_id": "t1", "answer": "red"})
        await stream.rest()


async def test_wrong_and_second_answers_change_nothing(aster: Live, model: ModelServer) -> None:
    model.enqueue(Reply([DANGER]), Reply([Text("done")]))
    nothing = await aster.http.post("/hitl/respond", json={"task_id": "t1", "answer": "yes"})
    assert (nothing.status_code, nothing.json()["error"]) == (404, "HITL_NOT_PENDING")
    async with aster.executing("go") as stream:
        request = (await stream.until("hitl_request")).data
        unfit = await aster.http.post("/hitl/respond", json={"task_id": "t1", "answer": "perhaps"})
        assert unfit.status_code == 422
        assert unfit.json()["details"]["fields"][0]["field"] == "answer"
        body = {"request_id": request["request_id"], "answer": "yes"}
        assert (await aster.http.post("/hitl/respond", json=body)).status_code == 200
        assert (await aster.http.post("/hitl/respond", json=body)).status_code == 404
        frames = await stream.rest()
    assert len(events(frames, "hitl_resolved")) == 1


async def test_several_requests_of_one_step(aster: Live, model: ModelServer) -> None:
    model.enqueue(Reply([DANGER, QUESTION]), Reply([Text("done")]))
    async with aster.executing("go") as stream:
        first = (await stream.until("hitl_request")).data
        await aster.http.post("/hitl/respond", json={"request_id": first["request_id"], "answer": "yes"})
        second = (await stream.until("hitl_request")).data
        await aster.http.post("/hitl/respond", json={"request_id": second["request_id"], "answer": "red"})
        frames = await stream.rest()
    assert [data["tool_call_id"] for data in events(frames, "tool_result")] == ["danger", "asked"]


async def test_an_answer_after_a_restart(model: ModelServer, tmp_path: Path) -> None:
    brain = tmp_path / "brain.sqlite"
    model.enqueue(Reply([QUESTION]), Reply([Text("Red then.")]))
    async with live(model, sqlite_db_path=brain) as engine, engine.executing("go") as stream:
        suspended = await stream.until("thread_lifecycle", phase="suspended")
    async with live(model, sqlite_db_path=brain) as engine:
        pending = (await engine.http.get("/hitl/pending")).json()["pending"]
        assert pending[0]["question"] == "Which colour?"
        await engine.http.post("/hitl/respond", json={"task_id": "t1", "answer": "red"})
        frames = await engine.replay(task_id="t1", after_seq=suspended.id)
    assert last(frames)["phase"] == "completed"
    assert text_of(frames) == "Red then."
    tool_message = next(m for m in model.calls[-1].body["messages"] if m["role"] == "tool")
    assert tool_message["content"] == "red"


async def test_a_waiting_turn_can_be_cancelled(aster: Live, model: ModelServer) -> None:
    model.enqueue(Reply([QUESTION]), Reply([Text("fine")]))
    async with aster.executing("go") as stream:
        await stream.until("thread_lifecycle", phase="suspended")
        await aster.http.post("/execute/cancel", json={"task_id": "t1"})
        frames = await stream.rest()
    assert last(frames)["phase"] == "cancelled"
    assert events(frames, "tool_result")[0]["error"] == "cancelled"
    assert (await aster.http.get("/hitl/pending")).json()["pending"] == []
    assert text_of(await aster.execute("next")) == "fine"


async def test_a_message_queued_behind_a_question_runs_after_it(aster: Live, model: ModelServer) -> None:
    model.enqueue(Reply([QUESTION]), Reply([Text("first done")]), Reply([Text("second done")]))
    async with aster.executing("go") as stream:
        await stream.until("thread_lifecycle", phase="suspended")
        async with aster.executing("second", on_busy="queue") as queued:
            await queued.until("task_lifecycle", phase="queued")
            await aster.http.post("/hitl/respond", json={"task_id": "t1", "answer": "red"})
            frames = await queued.rest()
        await stream.rest()
    assert "second done" in text_of(frames)
