"""The engine is killed while it plans, and while a person is asked: nothing is planned, asked or settled twice."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from aster.client import AsterClient
from aster.contracts.events import HitlRequest, Phase, PlanUpdate, ThreadLifecycle, ToolResult, Uncertainty
from aster.engine_core.planning.draft import INSTRUCTIONS
from aster.testing import Hold, ModelServer, RecordedCall, Reply, Text, ToolCall
from tests.process import Process, engine

WORK = (
    "Please do this:\n1. read the log of yesterday\n2. find the first error in it\n3. write a report on the cause"
)
PLAN = json.dumps({"goal": "A report", "steps": [{"id": "s1", "text": "Read"}, {"id": "s2", "text": "Write"}]})
FLAG = ToolCall("flag_uncertainty", {"kind": "unknown", "text": "Which log is meant?", "impact": 5}, id="flag")
WRITE = ToolCall("write_file", {"path": "report.md", "content": "x"}, id="write")


@pytest.fixture
async def model() -> AsyncIterator[ModelServer]:
    async with ModelServer() as server:
        yield server


@pytest.fixture
async def host(tmp_path: Path, model: ModelServer) -> AsyncIterator[Process]:
    process = engine(tmp_path, model.url)
    await process.up()
    yield process
    await process.kill()


async def started(host: Process) -> "asyncio.Task[None]":
    async def follow() -> None:
        async with AsterClient(host.url, patience=60) as client:
            async for _ in client.execute(WORK, "t1"):
                pass

    return asyncio.create_task(follow())


def planning(model: ModelServer) -> list[RecordedCall]:
    return [call for call in model.calls if call.conversation.system == INSTRUCTIONS]


async def test_a_plan_and_a_question_survive_any_kill(host: Process, model: ModelServer) -> None:
    work = iter([Reply([FLAG, WRITE]), Reply([Text("I was told which log; the file was not written.")])])

    def answer(call: RecordedCall) -> Reply:
        if call.conversation.system != INSTRUCTIONS:
            return next(work)
        return (
            Reply([Text(PLAN[:20]), Hold(), Text(PLAN[20:])]) if len(planning(model)) == 1 else Reply([Text(PLAN)])
        )

    model.script([answer])
    turn = await started(host)
    await model.wait_held()
    await host.kill()
    await host.up()
    async with AsterClient(host.url, patience=30) as client:
        async with asyncio.timeout(20):
            while not (waiting := await client.pending()):
                await asyncio.sleep(0.02)
        await host.kill()
        await host.up()
        (again,) = await client.pending()
        assert again.request_id == waiting[0].request_id
        await client.respond("That of yesterday.", request_id=again.request_id)
        await asyncio.wait_for(turn, 20)
        events = [event async for event in client.thread("t1")]
        plan = await client.plan("t1")
    assert plan is not None
    assert plan.goal == "A report"
    assert len(planning(model)) == 2
    assert sum(isinstance(event, PlanUpdate) for event in events) == 1
    assert sum(isinstance(event, HitlRequest) for event in events) == 1
    assert [event.resolved for event in events if isinstance(event, Uncertainty)] == [False, True]
    assert [event.error for event in events if isinstance(event, ToolResult)] == [None, "held"]
    assert isinstance(events[-1], ThreadLifecycle)
    assert events[-1].phase is Phase.COMPLETED
