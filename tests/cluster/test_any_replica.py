"""Whatever a client asks of one replica about a turn that another runs is done, as if there were only one."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from aster.testing import ModelServer, Reply, Rule, Text, ToolCall
from tests import postgres
from tests.cluster.replicas import Replica, replicas
from tests.cluster.turns import going, phase, thread, using, whole
from tests.live import Stream, text_of

pytestmark = pytest.mark.asyncio(loop_scope="module")

LONG = "[[text=600 rate=100]] Talk."
FAMILY = [
    Rule(Reply([ToolCall("spawn_agent", {"prompt": "child"}, id="s1")]), match="^parent", round=0),
    Rule(Reply([Text("It says so.")]), match="^parent"),
    Rule(Reply([ToolCall("ask_user", {"question": "Which one?"}, id="q1")]), match="^child", round=0),
    Rule(Reply([Text("That one.")]), match="^child"),
]
STEPS = using("bash", 12, command="sleep 0.2; echo $round")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def pair(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[list[Replica]]:
    directory: Path = tmp_path_factory.mktemp("cluster")
    url = postgres.server().fresh()
    async with ModelServer(FAMILY) as model, replicas(directory, model.url, url) as both:
        yield both
    postgres.server().drop(url)


async def test_both_list_both(pair: list[Replica]) -> None:
    told = [(await one.http.get("/replicas")).json()["replicas"] for one in pair]
    names = [[each["replica"] for each in listed] for listed in told]
    assert names[0] == names[1]
    assert len(set(names[0])) == 2
    assert sorted(each["answers"] for each in told[0]) == [False, True]
    answering = [next(each["replica"] for each in listed if each["answers"]) for listed in told]
    assert sorted(answering) == sorted(names[0])


async def test_a_turn_is_followed_live_on_another_replica(pair: list[Replica]) -> None:
    a, b = pair
    async with going(a, "[[text=100 rate=100]] Talk.", "live") as turn:
        started = await turn.seen("thread_lifecycle", phase="started")
        async with b.http.stream("GET", "/execute/replay", params={"task_id": "live", "after_seq": 0}) as response:
            stream = Stream(response)
            first = await stream.until("text_delta")
            assert not any(frame.data.get("phase") == "completed" for frame in turn.stream.seen)
            assert first.data["turn_id"] == started.data["turn_id"]
            there = await stream.rest()
        here = await turn.ended()
    assert text_of(there) == text_of(here)
    assert whole(await thread(b, "live"))


async def test_a_turn_is_cancelled_on_another_replica(pair: list[Replica]) -> None:
    a, b = pair
    async with going(a, LONG, "cancel") as turn:
        await turn.seen("text_delta")
        answer = await b.http.post("/execute/cancel", json={"task_id": "cancel"})
        assert (answer.status_code, answer.json()["status"]) == (200, "cancelled")
        events = await thread(b, "cancel")
        assert (events[-1]["phase"], events[-1]["stop_reason"]) == ("cancelled", "cancelled")
        await turn.ended()
    assert whole(events)
    assert (await b.http.get("/tasks/cancel")).json()["status"] == "idle"


async def test_a_message_steers_a_turn_of_another_replica(pair: list[Replica]) -> None:
    a, b = pair
    async with going(a, STEPS, "steer") as turn:
        await turn.seen("tool_call")
        async with going(b, "Mind the gap.", "steer", on_busy="steer") as said:
            heard = await turn.seen("user_message", origin="steer")
            assert heard.data["content"][0]["text"] == "Mind the gap."
            assert not any(frame.data.get("phase") == "completed" for frame in turn.stream.seen)
            await b.http.post("/execute/cancel", json={"task_id": "steer"})
            await said.ended()


async def test_a_message_waits_for_the_end_of_a_turn_of_another_replica(pair: list[Replica]) -> None:
    a, b = pair
    async with going(a, "[[text=100 rate=200]] Talk.", "queue") as turn:
        await turn.seen("text_delta")
        second = await b.execute("[[text=5]] And then?", "queue", on_busy="queue")
        await turn.ended()
    assert second[-1].data["phase"] == "completed"
    phases = [one["phase"] for one in await thread(b, "queue") if one["type"] == "thread_lifecycle"]
    assert phases == ["started", "completed", "started", "completed"]


async def test_a_message_interrupts_a_turn_of_another_replica(pair: list[Replica]) -> None:
    a, b = pair
    async with going(a, LONG, "interrupt") as turn:
        await turn.seen("text_delta")
        second = await b.execute("[[text=5]] Stop, this instead.", "interrupt", on_busy="interrupt")
        await turn.ended()
    assert second[-1].data["phase"] == "completed"
    ends = [one for one in await thread(a, "interrupt") if one["type"] == "thread_lifecycle"]
    assert [(one["phase"], one["stop_reason"]) for one in ends[1::2]] == [
        ("cancelled", "interrupted"),
        ("completed", "end_turn"),
    ]


async def test_a_question_is_answered_on_another_replica(pair: list[Replica]) -> None:
    a, b = pair
    asked = await a.execute(using("ask_user", question="Shall I?"), "hitl")
    assert asked[-1].data["phase"] == "suspended"
    (request,) = (await b.http.get("/hitl/pending", params={"task_id": "hitl"})).json()["pending"]
    answer = await b.http.post("/hitl/respond", json={"request_id": request["request_id"], "answer": "Do."})
    assert answer.status_code == 200
    events = await phase(a, "hitl", "completed")
    assert whole(events)


async def test_what_a_running_turn_forbids_is_forbidden_everywhere(pair: list[Replica]) -> None:
    a, b = pair
    async with going(a, LONG, "busy") as turn:
        await turn.seen("text_delta")
        again = await b.http.post("/execute", json={"message": "And me?", "task_id": "busy"})
        assert (again.status_code, again.json()["error"]) == (409, "TASK_BUSY")
        for answer in (await b.http.delete("/tasks/busy"), await b.http.post("/tasks/busy/undo", json={})):
            assert (answer.status_code, answer.json()["error"]) == (409, "TASK_BUSY")
        await b.http.post("/execute/cancel", json={"task_id": "busy"})
        await turn.ended()
    assert (await b.http.delete("/tasks/busy")).status_code == 200
    assert (await a.http.get("/tasks/busy")).status_code == 404


async def test_a_task_is_retried_forked_and_listed_on_another_replica(pair: list[Replica]) -> None:
    a, b = pair
    first = await a.execute("[[text=10]] Say something.", "retry")
    (message_id,) = {frame.data["message_id"] for frame in first if frame.event == "user_message"}
    again = await b.execute("[[text=11]] Say something else.", "retry", edit_message_id=message_id)
    assert again[-1].data["phase"] == "completed"
    forked = await b.http.post("/tasks/retry/fork", json={"seq": first[-1].data["seq"], "task_id": "forked"})
    assert forked.status_code == 201, forked.text
    third = await a.execute("[[text=5]] And here?", "forked")
    assert third[-1].data["phase"] == "completed"
    for replica in pair:
        found = {task["task_id"] for task in (await replica.http.get("/tasks")).json()["tasks"]}
        assert {"retry", "forked"} <= found


async def test_files_written_here_are_undone_there(pair: list[Replica]) -> None:
    a, b = pair
    await a.execute(using("write_file", path="note.txt", content="hello"), "files")
    got = await b.http.get("/api/download/note.txt", params={"task_id": "files"})
    assert (got.status_code, got.text) == (200, "hello")
    undone = await b.http.post("/tasks/files/undo", json={})
    assert undone.status_code == 200, undone.text
    assert (await a.http.get("/api/download/note.txt", params={"task_id": "files"})).status_code == 404


async def test_a_parent_goes_on_where_its_child_ended(pair: list[Replica]) -> None:
    a, b = pair
    parent = await a.execute("parent", "parent")
    assert parent[-1].data["phase"] == "suspended"
    async with asyncio.timeout(10):
        while not (found := (await b.http.get("/hitl/pending", params={"task_id": "parent"})).json()["pending"]):
            await asyncio.sleep(0.05)
    answer = await b.http.post("/hitl/respond", json={"request_id": found[0]["request_id"], "answer": "That."})
    assert answer.status_code == 200, answer.text
    events = await phase(a, "parent", "completed")
    ends = [one for one in events if one["type"] == "subagent_lifecycle" and one["phase"] == "completed"]
    assert len(ends) == 1
