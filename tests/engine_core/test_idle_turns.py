"""A turn that is this process's by its thread, and that it does not run, goes on by itself."""

import asyncio

import pytest

from aster.brain.records import ThreadKey
from aster.brain.unit import Idle, Unanswered
from aster.contracts.blocks import TextBlock
from aster.contracts.events import HitlResolved, Phase, ThreadLifecycle, UserMessage
from aster.testing import ModelServer, Reply, Text, ToolCall
from tests.live import Live, live

KEY = ThreadKey("default", "t1")


async def test_a_turn_that_nobody_runs_is_taken_up(model: ModelServer) -> None:
    model.enqueue(Reply([Text("here I am")]))
    async with live(model) as aster:
        message = UserMessage(message_id="msg-1", content=(TextBlock(text="are you there?"),))
        begun = [ThreadLifecycle(phase=Phase.STARTED), message]
        await aster.engine.brain.append(KEY, "turn-1", begun, guard=Idle())
        async with asyncio.timeout(20):
            while (await aster.http.get("/tasks/t1")).json()["status"] != "idle":
                await asyncio.sleep(0.1)
        page = (await aster.http.get("/tasks/t1/events")).json()["events"]
    assert page[-1]["phase"] == "completed"
    assert [event["block"]["text"] for event in page if event["type"] == "content_block_stop"] == ["here I am"]


async def test_a_takeover_that_is_cut_off_leaves_nothing_behind(model: ModelServer) -> None:
    model.enqueue(Reply([Text("here I am")]))
    async with live(model) as aster:
        coordinator, brain = aster.engine.coordinator, aster.engine.brain
        message = UserMessage(message_id="msg-1", content=(TextBlock(text="are you there?"),))
        await brain.append(KEY, "turn-1", [ThreadLifecycle(phase=Phase.STARTED), message], guard=Idle())
        (record,) = await brain.running_turns()
        taking = asyncio.create_task(coordinator.takeover.take(record))
        await asyncio.sleep(0)
        taking.cancel()
        await asyncio.gather(taking, return_exceptions=True)
        await _idle(aster)
        assert coordinator.slots[0] == 0


@pytest.mark.parametrize("steps", [0, 1, 2, 3, 5, 8])
async def test_a_turn_goes_on_although_whoever_answered_has_gone(model: ModelServer, steps: int) -> None:
    model.enqueue(Reply([ToolCall("ask_user", {"question": "Shall I?"}, id="q1")]), Reply([Text("Done.")]))
    async with live(model) as aster:
        await _asked(aster)
        coordinator, brain = aster.engine.coordinator, aster.engine.brain
        (request,) = await brain.pending_requests("default", "t1")
        resolved = HitlResolved(request_id=request.request_id, answer="Do.", approved=True)
        await brain.append(KEY, request.turn_id, [resolved], guard=Unanswered(request.request_id))
        answering = asyncio.create_task(coordinator.resume(KEY, request.turn_id))
        for _ in range(steps + 1):
            await asyncio.sleep(0)
        answering.cancel()
        await asyncio.gather(answering, return_exceptions=True)
        await _idle(aster)
        assert coordinator.slots[0] == 0
        page = (await aster.http.get("/tasks/t1/events")).json()["events"]
    assert page[-1]["phase"] == "completed"


@pytest.mark.parametrize("steps", [0, 3, 8, 20])
async def test_a_waiting_turn_is_cancelled_once_although_whoever_asked_has_gone(
    model: ModelServer, steps: int
) -> None:
    model.enqueue(Reply([ToolCall("ask_user", {"question": "Shall I?"}, id="q1")]))
    async with live(model) as aster:
        await _asked(aster)
        cancelling = asyncio.create_task(aster.engine.coordinator.cancel("default", "t1"))
        for _ in range(steps + 1):
            await asyncio.sleep(0.001)
        cancelling.cancel()
        await asyncio.gather(cancelling, return_exceptions=True)
        await aster.http.post("/execute/cancel", json={"task_id": "t1"})
        await _idle(aster)
        page = (await aster.http.get("/tasks/t1/events")).json()["events"]
    phases = [event["phase"] for event in page if event["type"] == "thread_lifecycle"]
    assert phases == ["started", "suspended", "resumed", "cancelled"]


async def _asked(aster: Live) -> None:
    async with aster.executing("Ask.") as stream:
        await stream.until("thread_lifecycle", phase="suspended")


async def _idle(aster: Live) -> None:
    async with asyncio.timeout(20):
        while (await aster.http.get("/tasks/t1")).json()["status"] != "idle":
            await asyncio.sleep(0.05)
