"""A process that dies in the middle: what is run again, what is asked about, and what is never done twice."""

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx2

from aster.client.client import AsterClient
from aster.contracts.events import Event, Recovery, ThreadLifecycle, ToolCallIssued, ToolResult
from tests.process import Process

COMMAND = "echo ran >> marks.txt; sleep 30"


def directive(tool: str, **given: Any) -> str:
    return f"[[text=5 tools=1 tool={tool} input={json.dumps(given)}]] Do it."


async def until(client: AsterClient, task_id: str, kind: type[Event]) -> None:
    while not any(isinstance(event, kind) for event in (await client.events(task_id)).events):
        await asyncio.sleep(0.02)


async def question(client: AsterClient) -> Any:
    while not (waiting := await client.pending()):
        await asyncio.sleep(0.02)
    return waiting[0]


async def started(host: Process, message: str) -> "asyncio.Task[None]":
    async def follow() -> None:
        async with AsterClient(host.url, patience=60) as client:
            async for _ in client.execute(message, "t1"):
                pass

    return asyncio.create_task(follow())


async def marks(path: Path, count: int) -> None:
    while not path.exists() or len(path.read_text().split()) < count:
        await asyncio.sleep(0.02)


async def test_a_command_in_doubt_is_never_run_again_by_itself(host: Process, tmp_path: Path) -> None:
    written = tmp_path / "workspaces" / "default" / "t1" / "marks.txt"
    turn = await started(host, directive("bash", command=COMMAND, timeout_seconds=0.5))
    await asyncio.wait_for(marks(written, 1), 20)
    await host.kill()
    await host.up()
    async with AsterClient(host.url, patience=30) as client:
        request = await asyncio.wait_for(question(client), 20)
        assert (request.kind, request.tool) == ("in_doubt", "bash")
        async with httpx2.AsyncClient(base_url=host.url, trust_env=False) as http:
            refused = await http.post("/execute", json={"message": "hello?", "task_id": "t1"})
        assert (refused.status_code, refused.json()["error"]) == (409, "TOOL_IN_DOUBT")
        assert written.read_text().split() == ["ran"]

        await client.respond("again", request_id=request.request_id)
        await asyncio.wait_for(marks(written, 2), 20)
        await host.kill()
        await host.up()
        second = await asyncio.wait_for(question(client), 20)
        assert second.kind == "in_doubt"
        assert second.request_id != request.request_id
        assert written.read_text().split() == ["ran", "ran"]

        await client.respond("done", request_id=second.request_id, feedback="I looked")
        await asyncio.wait_for(turn, 20)
        thread = [event async for event in client.thread("t1")]
    results = [event for event in thread if isinstance(event, ToolResult)]
    assert len(results) == 1
    assert results[0].error is None
    assert "I looked" in results[0].output
    attempts = [event.attempt for event in thread if isinstance(event, ToolCallIssued)]
    assert attempts == [1, 2]
    keys = {event.idempotency_key for event in thread if isinstance(event, ToolCallIssued)}
    assert len(keys) == 1
    last = thread[-1]
    assert isinstance(last, ThreadLifecycle)
    assert last.phase.value == "completed"


async def test_a_half_streamed_answer_is_taken_back_and_asked_again(host: Process) -> None:
    turn = await started(host, "[[text=300 rate=200]] Talk.")
    async with AsterClient(host.url, patience=30) as client:
        await asyncio.wait_for(marked(client), 20)
        await host.kill()
        await host.up()
        await asyncio.wait_for(turn, 30)
        thread = [event async for event in client.thread("t1")]
    recovery = next(event for event in thread if isinstance(event, Recovery))
    assert recovery.reason == "restart"
    assert recovery.discarded_from_seq == 3


async def marked(client: AsterClient) -> None:
    """Wait until some of the answer has been streamed."""
    while True:
        try:
            if (await client.events("t1")).head_seq > 10:
                return
        except Exception:  # noqa: BLE001  # the task is not there yet
            pass
        await asyncio.sleep(0.02)


async def test_an_approval_outlives_the_engine(host: Process) -> None:
    turn = await started(host, directive("bash", command="chmod -R 700 ."))
    async with AsterClient(host.url, patience=30) as client:
        asked = await asyncio.wait_for(question(client), 20)
        await host.stop()
        await host.up()
        again = await asyncio.wait_for(question(client), 20)
        assert again == asked
        await client.respond("yes", request_id=asked.request_id)
        await asyncio.wait_for(turn, 20)
        last = [event async for event in client.thread("t1")][-1]
    assert isinstance(last, ThreadLifecycle)
    assert last.phase.value == "completed"
