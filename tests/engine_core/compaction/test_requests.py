"""Compaction on request, through HTTP: a task that rests, one that runs, one that waits, and none at all."""

from typing import Any

from aster.client.client import AsterClient
from aster.testing import Hold, RecordedCall, Reply, Text, ToolCall
from tests.engine_core.compaction.talk import filler, says, shown, text_in
from tests.engine_core.compaction.test_orchestrator import SUMMARY, answering, chat, chatting, small, summarising
from tests.engine_core.frames import events, last
from tests.live import Live


async def compact(aster: Live, task: str = "t1", **body: Any) -> Any:
    return await aster.http.post(f"/tasks/{task}/compact", json=body)


async def test_a_task_that_rests_is_compacted_at_once() -> None:
    async with small(answering(chatting)) as (aster, model):
        await chat(aster, 6)
        done = await compact(aster, focus="the stones")
        body = done.json()
        assert (done.status_code, body["status"], body["strategy"]) == (200, "compacted", "summary")
        assert body["after_tokens"] < body["before_tokens"]
        assert "Mind this above all: the stones" in text_in(model.calls[-1])
        await chat(aster, 1, first=6)
        sent = shown(model.calls[-1])
        assert SUMMARY in text_in(model.calls[-1])
        assert len(sent) < 12
        kept = await aster.http.get(f"/tasks/t1/artifacts/{body['artifact_id']}")
        assert filler(880, 1) in kept.text
        everything = await aster.replay(task_id="t1")
        assert len(events(everything, "user_message")) == 7, "the thread stays as it is"
        (event,) = events(everything, "compaction_event")
        turns = [data["turn_id"] for data in events(everything, "user_message")]
        assert (event["trigger"], event["of_turn_id"], event["covers"]) == ("requested", turns[5], 2)


async def test_little_is_left_unchanged() -> None:
    async with small(answering(chatting)) as (aster, model):
        await chat(aster, 1)
        body = (await compact(aster)).json()
        assert body["status"] == "unchanged"
        assert body["reason"]
        assert not any(summarising(call) for call in model.calls)
        await chat(aster, 1, first=1)
        assert filler(880, 0) in text_in(model.calls[-1])


async def test_a_turn_that_runs_does_it_before_its_next_call() -> None:
    def work(call: RecordedCall) -> Reply:
        if "Work." not in call.text:
            return chatting(call)
        if call.round == 0:
            return Reply([Text("I look"), Hold("looking"), ToolCall("glob", {"pattern": "*"})])
        return says("done")

    async with small(answering(work)) as (aster, model):
        await chat(aster, 6)
        async with aster.executing("Work.") as stream:
            await model.wait_held("looking")
            asked = await compact(aster)
            assert (asked.status_code, asked.json()["status"]) == (202, "requested")
            model.release("looking")
            frames = await stream.rest()
        assert last(frames)["stop_reason"] == "end_turn"
        kinds = [frame.event for frame in frames]
        assert kinds.index("compaction_requested") < kinds.index("tool_result") < kinds.index("compaction_event")
        assert "I look" in text_in(model.calls[-1]), "what was streamed around the request counts"
        assert SUMMARY in text_in(model.calls[-1])


async def test_a_turn_that_waits_does_it_when_it_goes_on() -> None:
    def work(call: RecordedCall) -> Reply:
        if "Ask me." not in call.text:
            return chatting(call)
        return Reply([ToolCall("ask_user", {"question": "which?"})]) if call.round == 0 else says("thanks")

    async with small(answering(work)) as (aster, model):
        await chat(aster, 6)
        async with aster.executing("Ask me.") as stream:
            await stream.until("thread_lifecycle", phase="suspended")
            assert (await compact(aster)).status_code == 202
            await aster.http.post("/hitl/respond", json={"task_id": "t1", "answer": "that one"})
            assert last(await stream.rest())["stop_reason"] == "end_turn"
        assert SUMMARY in text_in(model.calls[-1])
        assert "that one" in text_in(model.calls[-1])


async def test_who_asks_wrongly_is_told() -> None:
    async with small(answering(chatting)) as (aster, _):
        assert (await compact(aster, "nowhere")).json()["error"] == "TASK_NOT_FOUND"
        await chat(aster, 1)
        assert (await compact(aster, focus="x" * 3000)).json()["error"] == "INVALID_REQUEST"


async def test_the_client_can_ask_too() -> None:
    async with small(answering(chatting)) as (aster, _), AsterClient(aster.url) as client:
        await chat(aster, 6)
        done = await client.compact("t1", "the stones")
        assert (done.status, done.strategy) == ("compacted", "summary")
