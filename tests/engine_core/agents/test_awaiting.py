"""Waiting for an agent in the background: bounded, cancelled cleanly, and never at the cost of its slot."""

import asyncio
import time

from aster.testing import Hold, ModelServer, Reply, Rule, Text, ToolCall
from tests.engine_core.frames import events, last
from tests.live import Live, Stream, live, text_of

SPAWN = ToolCall("spawn_agent", {"prompt": "work", "background": True}, id="s1")


async def waiting(stream: Stream, model: ModelServer, seconds: float) -> str:
    """Have the agent wait for the child that it has begun; returns the child's task."""
    child: str = (await stream.until("subagent_lifecycle")).data["child_task_id"]
    model.enqueue(Reply([ToolCall("agent_output", {"id": child, "timeout_seconds": seconds}, id="o1")]))
    model.release("parent")
    await stream.until("tool_call", tool="agent_output")
    return child


def script(child: Reply) -> list[Rule]:
    """Between its two calls the parent is held, so that a test knows the child's id before the second."""
    return [
        Rule(Reply([Text("I have it.")]), tool="agent_output"),
        Rule(Reply([Hold("parent"), ToolCall("glob", {"pattern": "*"}, id="g")]), tool="spawn_agent"),
        Rule(Reply([SPAWN]), match="^go", round=0),
        Rule(child, match="^work"),
        Rule(Reply([Text("other")]), match="^other"),
    ]


async def test_with_one_slot_the_child_gets_it_while_its_parent_waits(model: ModelServer) -> None:
    model.script(script(Reply([Text("half "), Hold("child"), Text("whole")])))
    async with live(model, task_slots=1) as engine:
        async with engine.executing("go") as stream:
            await waiting(stream, model, 60)
            await model.wait_held("child")
            assert engine.engine.coordinator.slots == (1, 1)
            model.release("child")
            frames = await stream.rest()
        assert "half whole" in events(frames, "tool_result")[-1]["output"]
        assert text_of(frames) == "I have it."
        assert "has ended" not in str(model.calls[-1].body["messages"][-1])
        assert engine.engine.coordinator.slots == (0, 1)
        assert text_of(await engine.execute("other", "t2")) == "other"


async def test_it_waits_no_longer_than_it_was_told(aster: Live, model: ModelServer) -> None:
    model.script(script(Reply([Hold("child"), Text("late")])))
    async with aster.executing("go") as stream:
        began = time.monotonic()
        await waiting(stream, model, 0.2)
        frames = await stream.rest()
    assert time.monotonic() - began < 5
    assert "running for" in events(frames, "tool_result")[-1]["output"]
    assert last(frames)["phase"] == "completed"
    model.release("child")


async def test_a_cancel_ends_the_wait_and_no_slot_is_lost(model: ModelServer) -> None:
    model.script(script(Reply([Hold("child"), Text("never")])))
    async with live(model, task_slots=1) as engine:
        async with engine.executing("go") as stream:
            child = await waiting(stream, model, 60)
            await model.wait_held("child")
            async with asyncio.timeout(5):
                await engine.http.post("/execute/cancel", json={"task_id": "t1"})
                frames = await stream.rest()
        assert last(frames)["phase"] == "cancelled"
        task = (await engine.http.get(f"/tasks/{child}")).json()
        assert task["turns"][0]["status"] == "cancelled"
        assert text_of(await engine.execute("other", "t2")) == "other"
        assert text_of(await engine.execute("other", "t3")) == "other"
