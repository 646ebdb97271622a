"""Calls that are cut off: each that had begun to answer is paid for once, and marked as an estimate."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from aster.brain.records import ThreadKey
from aster.brain.sqlite.brain import SqliteBrain
from aster.client.client import AsterClient
from aster.contracts.blocks import TextBlock, ToolUseBlock
from aster.contracts.events import (
    BudgetEvent,
    ContentBlockStop,
    Event,
    Phase,
    SubagentLifecycle,
    TextDelta,
    ThreadLifecycle,
    UserMessage,
)
from aster.contracts.events import Usage as UsageEvent
from aster.testing import Cut, Failure, Hold, ModelServer, Reply, Stall, StreamError, Text, ToolCall, Usage
from tests.engine_core.frames import events, last
from tests.live import Live, Seen, live
from tests.process import engine
from tests.process import model as model_process

HALF = "Half of what it was going to say. "


def paid(frames: list[Seen]) -> list[tuple[str, bool]]:
    return [(data["stop_reason"], data.get("estimated", False)) for data in events(frames, "usage")]


async def total(aster: Live) -> dict[str, Any]:
    return (await aster.http.get("/usage")).json()["total"]


async def test_a_cancelled_call_is_paid_for(model: ModelServer) -> None:
    async with live(model, llm_model="gpt-4o") as aster:
        model.enqueue(Reply([Text(HALF), Hold(), Text("rest")]))
        async with aster.executing("go") as stream:
            await stream.until("text_delta")
            await aster.http.post("/execute/cancel", json={"task_id": "t1"})
            frames = await stream.rest()
        (usage,) = events(frames, "usage")
        assert (usage["estimated"], usage["stop_reason"], usage["model"]) == (True, "cancelled", "gpt-4o")
        assert usage["output_tokens"] in range(1, len(HALF) // 3 + 2)
        assert usage["input_tokens"] > 100
        assert usage["cost_usd"] == pytest.approx(
            (usage["input_tokens"] * 2.5 + usage["output_tokens"] * 10) / 1_000_000
        )
        used = await total(aster)
        assert (used["calls"], used["cost_usd"]) == (1, usage["cost_usd"])
        (turn,) = (await aster.http.get("/usage", params={"group": "turn"})).json()["rows"]
        assert turn["cost_usd"] == usage["cost_usd"]
        assert b'aster_cost_usd_total{model="gpt-4o"}' in (await aster.http.get("/metrics")).content
        model.enqueue(Reply([Text("again")]))
        assert last(await aster.execute("more"))["phase"] == "completed"
        replayed = (await aster.http.get("/tasks/t1")).json()
        assert replayed["turns"][0]["status"] == "cancelled"


@pytest.mark.parametrize(
    ("fault", "why"),
    [(Cut(), "transport"), (Cut(reset=True), "transport"), (StreamError("overloaded"), "overloaded")],
)
async def test_every_attempt_that_began_to_answer_counts(model: ModelServer, fault: Any, why: str) -> None:
    async with live(model, llm_model="gpt-4o") as aster:
        model.enqueue(Reply([Text(HALF), fault]), Reply([Text("done")], usage=Usage(input=10, output=2)))
        frames = await aster.execute("go")
        used = await total(aster)
    assert paid(frames) == [(why, True), ("end_turn", False)]
    first, second = events(frames, "usage")
    (recovery,) = events(frames, "recovery")
    assert recovery["discarded_from_seq"] < recovery["seq"] < first["seq"] < second["seq"]
    assert first["step"] == second["step"] == 1
    assert used["calls"] == 2
    assert used["cost_usd"] == pytest.approx(first["cost_usd"] + second["cost_usd"])


async def test_silence_within_an_answer_is_paid_for(model: ModelServer) -> None:
    async with live(model, llm_idle_timeout=0.1) as aster:
        model.enqueue(Reply([Text(HALF), Stall()]), Reply([Text("done")]))
        frames = await aster.execute("go")
    assert paid(frames) == [("timeout", True), ("end_turn", False)]


@pytest.mark.parametrize("answer", [Failure(500), Failure(400), Reply([Cut(), Text("never")])])
async def test_a_call_that_never_began_to_answer_costs_nothing(model: ModelServer, answer: Any) -> None:
    async with live(model) as aster:
        model.enqueue(answer, Reply([Text("done")]))
        frames = await aster.execute("go")
    assert [estimated for _, estimated in paid(frames)] in ([False], [])


async def test_half_a_tool_call_counts_although_nobody_saw_it(model: ModelServer) -> None:
    long = ToolCall("write_file", {"path": "a", "content": "x" * 3000}, midway=[Cut()])
    async with live(model) as aster:
        model.enqueue(Reply([long]), Reply([Text("done")]))
        frames = await aster.execute("go")
    usage = events(frames, "usage")[0]
    assert usage["estimated"]
    assert usage["output_tokens"] > 300


async def test_what_the_provider_said_first_is_not_guessed(model: ModelServer) -> None:
    async with live(None, llm_provider="anthropic", llm_base_url=model.url, llm_model="claude-opus-5") as aster:
        model.enqueue(
            Reply([Text(HALF), Cut()], usage=Usage(input=4321, output=99, cache_read=1000)),
            Reply([Text("done")]),
        )
        frames = await aster.execute("go")
    usage = events(frames, "usage")[0]
    assert (usage["estimated"], usage["input_tokens"], usage["cache_hit_tokens"]) == (True, 5321, 1000)
    assert 1 <= usage["output_tokens"] <= len(HALF)


async def test_a_fallback_does_not_hide_what_the_first_model_cost(model: ModelServer) -> None:
    async with live(model, llm_model="gpt-4o", fallback_model="gpt-4o-mini") as aster:
        broken = [Reply([Text(HALF), Cut()]) for _ in range(3)]
        model.enqueue(*broken, Reply([Text("done")]))
        frames = await aster.execute("go")
    assert [data["model"] for data in events(frames, "usage")][:3] == ["gpt-4o"] * 3
    assert [estimated for _, estimated in paid(frames)] == [True] * 3 + [False]
    assert events(frames, "provider_fallback")[0]["to_model"] == "gpt-4o-mini"


async def test_a_budget_sees_what_was_cut(model: ModelServer) -> None:
    async with live(model, llm_model="gpt-4o", budget_task_usd=0.08, max_tokens=1000) as aster:
        model.enqueue(Reply([Text("x" * 24_000), Hold()], chunk="all"), Reply([Text("done")]))
        async with aster.executing("go") as stream:
            await stream.until("text_delta")
            await aster.http.post("/execute/cancel", json={"task_id": "t1"})
            await stream.rest()
        refused = await aster.http.post("/execute", json={"message": "more", "task_id": "t1"})
        assert (refused.status_code, refused.json()["error"]) == (402, "BUDGET_EXCEEDED")


async def test_a_restart_counts_what_was_cut_once(model: ModelServer, tmp_path: Path) -> None:
    brain = tmp_path / "brain.sqlite"
    model.enqueue(Reply([Text(HALF), Hold("cut"), Text("never")]), Reply([Text("done")]))
    async with live(model, sqlite_db_path=brain) as aster, aster.executing("go") as stream:
        await stream.until("text_delta")
    async with live(model, sqlite_db_path=brain) as aster:
        frames = await aster.replay(task_id="t1")
        assert [estimated for _, estimated in paid(frames)] == [True, False]
        assert (await total(aster))["calls"] == 2
    async with live(model, sqlite_db_path=brain) as aster:
        assert (await total(aster))["calls"] == 2


@pytest.mark.parametrize("counted", [True, False], ids=["counted before", "not yet counted"])
async def test_a_crash_while_a_call_is_being_cancelled(model: ModelServer, tmp_path: Path, counted: bool) -> None:
    """What the cancel had written is taken back with the rest, and what it had counted is not counted again."""
    path = tmp_path / "brain.sqlite"
    brain = SqliteBrain(path)
    await brain.start()
    half = TextBlock(text=HALF)
    used = UsageEvent(
        step=1, message_id="m", model="x", stop_reason="cancelled", input_tokens=1, output_tokens=1, estimated=True
    )
    written = [
        ThreadLifecycle(phase=Phase.STARTED, request={"direct": True}),
        UserMessage(message_id="msg-1", content=(TextBlock(text="hi"),)),
        TextDelta(text=HALF, block_index=0, step=1),
        ContentBlockStop(block_index=0, block_type="text", step=1, block=half, partial=True),
        *([used] if counted else []),
    ]
    await brain.append(ThreadKey("default", "t1"), "turn-1", written)
    await brain.close()
    model.enqueue(Reply([Text("done")]))
    async with live(model, sqlite_db_path=path) as aster:
        frames = await aster.replay(task_id="t1")
        assert last(frames)["phase"] == "completed"
        assert (await total(aster))["calls"] == 2
        answer = (await aster.http.get("/tasks/t1")).json()
    assert events(frames, "recovery")[0]["discarded_from_seq"] == 3
    assert paid(frames) == [("cancelled" if counted else "restart", True), ("end_turn", False)]
    assert [call.text for call in model.calls] == ["hi"]
    assert answer["status"] == "idle"


WRITE = ToolUseBlock(id="w1", name="write_file", input={"path": "a.txt", "content": "never"})
OPENING: list[Event] = [
    ThreadLifecycle(phase=Phase.STARTED, request={"direct": True}),
    UserMessage(message_id="msg-1", content=(TextBlock(text="hi"),)),
]
HALF_CALL = ContentBlockStop(block_index=0, block_type="tool_use", step=1, block=WRITE)
CHILD_ENDED = SubagentLifecycle(
    child_turn_id="turn-c", child_task_id="c", agent="general", phase="completed", background=True, result="ok"
)


async def left_by_a_crash(path: Path, *written: Event) -> None:
    brain = SqliteBrain(path)
    await brain.start()
    await brain.append(ThreadKey("default", "t1"), "turn-1", [*OPENING, *written])
    await brain.close()


@pytest.mark.parametrize("hidden", [False, True], ids=["behind the boundary", "before a later record"])
async def test_a_call_that_was_taken_back_is_not_run_with_the_next_answer(
    model: ModelServer, tmp_path: Path, hidden: bool
) -> None:
    """An agent in the background ends while its parent streams, then the engine dies."""
    path = tmp_path / "brain.sqlite"
    later = BudgetEvent(scope="task", status="warning", limit=1.0, spent=0.9) if hidden else CHILD_ENDED
    await left_by_a_crash(path, HALF_CALL, later)
    model.enqueue(Reply([Text("done")]))
    async with live(model, sqlite_db_path=path, sandbox="auto") as aster:
        frames = await aster.replay(task_id="t1", after_seq=0)
    assert last(frames)["phase"] == "completed"
    (recovery,) = events(frames, "recovery")
    assert recovery["discarded_from_seq"] == (5 if hidden else 3)
    assert [estimated for _, estimated in paid(frames)] == ([False] if hidden else [True, False])
    assert not events(frames, "tool_call")
    assert len(model.calls) == 1


async def test_the_end_of_an_agent_alone_is_nothing_to_take_back(model: ModelServer, tmp_path: Path) -> None:
    path = tmp_path / "brain.sqlite"
    await left_by_a_crash(path, CHILD_ENDED)
    model.enqueue(Reply([Text("done")]))
    async with live(model, sqlite_db_path=path) as aster:
        frames = await aster.replay(task_id="t1", after_seq=0)
    assert last(frames)["phase"] == "completed"
    assert not events(frames, "recovery")


async def test_a_cut_off_aside_does_not_stand_for_the_step_after_it(model: ModelServer, tmp_path: Path) -> None:
    path = tmp_path / "brain.sqlite"
    planned = UsageEvent(
        step=0,
        message_id="m",
        model="x",
        stop_reason="timeout",
        input_tokens=1,
        output_tokens=1,
        estimated=True,
        purpose="plan",
    )
    await left_by_a_crash(path, planned, TextDelta(text=HALF, block_index=0, step=1))
    model.enqueue(Reply([Text("done")]))
    async with live(model, sqlite_db_path=path) as aster:
        frames = await aster.replay(task_id="t1", after_seq=0)
    assert events(frames, "recovery")[0]["discarded_from_seq"] == 4
    assert paid(frames) == [("timeout", True), ("restart", True), ("end_turn", False)]


async def test_a_killed_engines_call_is_counted_once_by_the_next(tmp_path: Path) -> None:
    upstream = model_process(tmp_path)
    await upstream.up()
    host = engine(tmp_path, upstream.url)
    await host.up()
    try:
        async with AsterClient(host.url, patience=30) as client:
            talk = asyncio.create_task(_drained(client, "[[text=300 rate=200]] Talk."))
            await asyncio.wait_for(_streamed(client), 20)
            for _ in range(2):
                await host.kill()
                await host.up()
            await asyncio.wait_for(talk, 30)
            thread = [event async for event in client.thread("t1")]
    finally:
        await host.kill()
        await upstream.stop()
    usages = [event for event in thread if isinstance(event, UsageEvent)]
    assert [usage.stop_reason for usage in usages if usage.estimated][:1] == ["restart"]
    assert [usage.estimated for usage in usages] == [True] * (len(usages) - 1) + [False]
    assert len(usages) in (2, 3), "the second kill may or may not have met an answer under way"
    assert usages[0].output_tokens > 0


async def _drained(client: AsterClient, message: str) -> None:
    async for _ in client.execute(message, "t1"):
        pass


async def _streamed(client: AsterClient) -> None:
    """Wait until some of the answer is on the thread."""
    while True:
        known = await client.tasks()
        if known.tasks and (await client.task("t1")).head_seq > 10:
            return
        await asyncio.sleep(0.02)
