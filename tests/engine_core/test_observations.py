"""What an operator can find later: rows for migrations, failed turns, slow tools and denials, with their ids."""

import asyncio

from aster.brain.protocol import Brain
from aster.brain.records import ObservabilityRow
from aster.testing import Failure, ModelServer, Reply, Text, ToolCall
from tests.live import live

DANGER = ToolCall("bash", {"command": "chmod -R 700 ."})


async def noted(brain: Brain, user_id: str, kind: str) -> ObservabilityRow:
    """The newest row of this kind; rows are written beside the turn, so it may take a moment."""
    async with asyncio.timeout(5):
        while not (rows := await brain.observations(user_id, limit=1, kind=kind)):
            await asyncio.sleep(0.01)
    return rows[0]


async def test_what_happened_can_be_found(model: ModelServer) -> None:
    model.enqueue(Failure(401), Reply([ToolCall("bash", {"command": "sleep 0.2"})]), Reply([Text("ok")]))
    model.enqueue(Reply([DANGER]), Reply([Text("as you wish")]))
    async with live(model, sandbox="auto", slow_tool_seconds=0.1) as engine:
        brain = engine.engine.brain
        assert (await noted(brain, "operator", "migration")).level == "info"
        await engine.execute("one", "t1")
        failed = await noted(brain, "default", "turn_error")
        assert (failed.task_id, failed.level) == ("t1", "error")
        assert failed.turn_id
        assert failed.request_id
        await engine.execute("two", "t2")
        assert (await noted(brain, "default", "slow_tool")).task_id == "t2"
        async with engine.executing("three", "t3") as stream:
            await stream.until("hitl_request")
            await engine.http.post("/hitl/respond", json={"task_id": "t3", "answer": "no"})
            await stream.rest()
        assert (await noted(brain, "default", "permission_denied")).task_id == "t3"
        assert await brain.observations("somebody", limit=10) == []
