"""History, edits, retries and forks: what the model is told, and that nothing is destroyed."""

from typing import Any

from aster.testing import ModelServer, Reply, Text, ToolCall
from tests.engine_core.frames import events, last
from tests.live import Live, text_of


def said(body: dict[str, Any]) -> list[Any]:
    return [message["content"] for message in body["messages"] if message["role"] in ("user", "assistant")]


async def talk(aster: Live, model: ModelServer, *words: str, task: str = "t1") -> list[str]:
    """One turn per word; the ids of the messages."""
    ids: list[str] = []
    for word in words:
        model.enqueue(Reply([Text(f"re {word}")]))
        frames = await aster.execute(word, task)
        ids.append(events(frames, "user_message")[0]["message_id"])
    return ids


async def test_an_edit_replaces_a_message_and_all_after_it(aster: Live, model: ModelServer) -> None:
    ids = await talk(aster, model, "a", "b", "c")
    model.enqueue(Reply([Text("re B")]))
    frames = await aster.execute("B", edit_message_id=ids[1])
    assert said(model.calls[-1].body) == ["a", "re a", "B"]
    assert events(frames, "user_message")[0]["edits"] == ids[1]
    await talk(aster, model, "d")
    assert said(model.calls[-1].body) == ["a", "re a", "B", "re B", "d"]
    everything = await aster.replay(task_id="t1")
    assert [data["content"][0]["text"] for data in events(everything, "user_message")] == list("abcBd")


async def test_a_retry_runs_the_same_words_again(aster: Live, model: ModelServer) -> None:
    ids = await talk(aster, model, "a", "b", "c")
    model.enqueue(Reply([Text("better")]))
    frames = await aster.execute("ignored", retry_message_id=ids[1])
    assert said(model.calls[-1].body) == ["a", "re a", "b"]
    assert text_of(frames) == "better"
    await talk(aster, model, "d")
    assert said(model.calls[-1].body) == ["a", "re a", "b", "better", "d"]


async def test_an_answer_can_be_retried_by_its_own_id(aster: Live, model: ModelServer) -> None:
    model.enqueue(Reply([ToolCall("glob", {"pattern": "*"})]), Reply([Text("meh")]), Reply([Text("better")]))
    frames = await aster.execute("a")
    answer = events(frames, "usage")[-1]["message_id"]
    assert text_of(await aster.execute("ignored", retry_message_id=answer)) == "better"
    assert said(model.calls[-1].body) == ["a"]


async def test_an_unknown_message_is_refused(aster: Live, model: ModelServer) -> None:
    await talk(aster, model, "a")
    refused = await aster.http.post("/execute", json={"message": "x", "task_id": "t1", "edit_message_id": "msg-no"})
    assert (refused.status_code, refused.json()["error"]) == (404, "NOT_FOUND")
    assert (await aster.http.get("/tasks/t1")).json()["status"] == "idle"
    await talk(aster, model, "b")


async def test_a_fork_begins_where_the_other_stood(aster: Live, model: ModelServer) -> None:
    await talk(aster, model, "a", "b")
    frames = await aster.replay(task_id="t1")
    first_end = next(
        frame for frame in frames if frame.event == "thread_lifecycle" and frame.data["phase"] == "completed"
    )
    forked = await aster.http.post("/tasks/t1/fork", json={"seq": first_end.id, "task_id": "t2"})
    assert forked.status_code == 201
    await talk(aster, model, "z", task="t2")
    assert said(model.calls[-1].body) == ["a", "re a", "z"]
    await talk(aster, model, "c")
    assert said(model.calls[-1].body) == ["a", "re a", "b", "re b", "c"]
    copy = await aster.replay(task_id="t2")
    assert [frame.id for frame in copy] == list(range(1, len(copy) + 1))
    task = (await aster.http.get("/tasks/t2")).json()
    assert (task["from_task_id"], task["from_seq"]) == ("t1", first_end.id)


async def test_a_fork_in_the_middle_of_a_tool_call_is_valid(aster: Live, model: ModelServer) -> None:
    model.enqueue(Reply([Text("looking"), ToolCall("glob", {"pattern": "*"}, id="g")]), Reply([Text("done")]))
    frames = await aster.execute("a")
    intent = next(frame for frame in frames if frame.event == "tool_call")
    forked = (await aster.http.post("/tasks/t1/fork", json={"seq": intent.id})).json()
    await talk(aster, model, "b", task=forked["task_id"])
    roles = [message["role"] for message in model.calls[-1].body["messages"]]
    assert roles == ["system", "user", "assistant", "tool", "user"]
    copy = await aster.replay(task_id=forked["task_id"])
    assert events(copy, "tool_result")[0]["error"] == "cancelled"
    assert last(copy)["phase"] == "completed"


async def test_forks_that_cannot_be(aster: Live, model: ModelServer) -> None:
    await talk(aster, model, "a")
    await talk(aster, model, "a", task="t2")
    cases = [
        ("/tasks/t1/fork", {"seq": 0}, 422, "INVALID_REQUEST"),
        ("/tasks/t1/fork", {"seq": 9999}, 422, "INVALID_REQUEST"),
        ("/tasks/t1/fork", {"seq": 1, "task_id": "t2"}, 409, "TASK_EXISTS"),
        ("/tasks/nope/fork", {"seq": 1}, 404, "TASK_NOT_FOUND"),
    ]
    for path, body, status, code in cases:
        answer = await aster.http.post(path, json=body)
        assert (answer.status_code, answer.json()["error"]) == (status, code), (path, body)


async def test_a_deleted_task_is_gone(aster: Live, model: ModelServer) -> None:
    await talk(aster, model, "a")
    assert (await aster.http.delete("/tasks/t1")).json()["status"] == "deleted"
    assert (await aster.http.get("/tasks/t1")).status_code == 404
    assert (await aster.http.delete("/tasks/t1")).json()["error"] == "TASK_NOT_FOUND"
    await talk(aster, model, "b")
    assert said(model.calls[-1].body) == ["b"]


async def test_a_task_can_be_renamed(aster: Live, model: ModelServer) -> None:
    await talk(aster, model, "what a long first message")
    assert (await aster.http.get("/tasks/t1")).json()["title"] == "what a long first message"
    renamed = await aster.http.patch("/tasks/t1", json={"title": "Greetings"})
    assert renamed.json()["title"] == "Greetings"
    assert events(await aster.replay(task_id="t1"), "task_lifecycle")[-1]["title"] == "Greetings"
    missing = await aster.http.patch("/tasks/nope", json={"title": "x"})
    assert (missing.status_code, missing.json()["error"]) == (404, "TASK_NOT_FOUND")
    assert (await aster.http.patch("/tasks/t1", json={"title": ""})).status_code == 422
