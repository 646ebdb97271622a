"""Requests to a person, answered by the program that follows the turn."""

import asyncio
import json
import threading
from pathlib import Path

import pytest

from aster.client import AsterClient, Decision, EngineError, SyncAsterClient, Transcript
from aster.contracts.events import HitlRequest, HitlResolved, Phase, ToolCallIssued, ToolResult
from aster.contracts.tools import ToolDef
from aster.testing import ModelServer
from tests.live import Live
from tests.process import engine as engine_process

ASK = '[[tools=1 tool=ask_user input={"question":"Which colour?","options":["red","blue"]} text=3]]'
RISKY = '[[tools=1 tool=bash input={"command":"chmod -R 700 . && echo $round"} text=3]]'


async def test_a_question_and_a_permission_are_answered(client: AsterClient, task: str) -> None:
    asked: list[HitlRequest] = []

    async def decide(request: HitlRequest) -> Decision | str:
        asked.append(request)
        return "blue" if request.kind == "question" else Decision(answer="always", scope="task", feedback="Go on")

    events = [event async for event in client.execute(ASK, task, on_request=decide)]
    assert "blue" in Transcript().extend(events).cards[0].output
    assert (asked[0].kind, asked[0].options) == ("question", ("red", "blue"))
    assert await client.ask(RISKY, task, on_request=decide) == "w000001 w000002 w000003 "
    assert await client.ask(RISKY, task, on_request=decide) != ""
    assert [request.kind for request in asked] == ["question", "permission"]
    assert [grant.task_id for grant in (await client.permissions.list()).grants if grant.task_id == task] == [task]


async def test_what_is_left_open_waits_for_somebody_else(client: AsterClient, task: str) -> None:
    waiting: list[str] = []

    def decide(request: HitlRequest) -> None:
        waiting.append(request.request_id)
        asyncio.get_running_loop().create_task(client.respond("red", request_id=request.request_id))

    transcript = Transcript()
    async for event in client.execute(ASK, task, on_request=decide):
        transcript.apply(event)
    assert (len(waiting), transcript.phase) == (1, Phase.COMPLETED)
    assert "red" in transcript.cards[0].output


async def test_the_first_answer_counts(client: AsterClient, task: str) -> None:
    async def late(request: HitlRequest) -> str:
        await client.respond("red", request_id=request.request_id)
        return "blue"

    events = [event async for event in client.execute(ASK, task, on_request=late)]
    assert [event.answer for event in events if isinstance(event, HitlResolved)] == ["red"]


async def test_what_was_answered_is_not_asked_again(client: AsterClient, task: str) -> None:
    await client.ask(ASK, task, on_request=lambda request: "red")
    asked: list[HitlRequest] = []
    events = [event async for event in client.replay(task, on_request=asked.append)]
    assert any(isinstance(event, HitlRequest) for event in events)
    assert asked == []


async def test_an_error_of_the_program_is_the_programs(client: AsterClient, task: str) -> None:
    def decide(request: HitlRequest) -> str:
        raise LookupError(request.question)

    with pytest.raises(LookupError, match="Which colour"):
        await client.ask(ASK, task, on_request=decide)
    assert len(await client.pending(task)) == 1


async def test_a_tool_of_the_program_is_run_by_it(client: AsterClient, task: str) -> None:
    tool = ToolDef(
        name="stock",
        description="How many there are",
        input_schema={"type": "object", "properties": {"item": {"type": "string"}}},
    )

    def run(request: HitlRequest) -> str:
        assert (request.kind, request.tool) == ("client_tool", "stock")
        return json.dumps({"item": (request.input or {})["item"], "left": 7})

    message = '[[tools=1 tool=stock input={"item":"pens"} text=2]]'
    events = [event async for event in client.execute(message, task, tools=[tool], on_request=run)]
    (result,) = [event for event in events if isinstance(event, ToolResult)]
    assert json.loads(result.output) == {"item": "pens", "left": 7}


async def test_an_answer_waits_for_an_engine_that_was_killed_meanwhile(
    model: ModelServer, tmp_path: Path, task: str
) -> None:
    host = engine_process(tmp_path, model.url)
    asked: list[str] = []

    async def decide(request: HitlRequest) -> str:
        asked.append(request.request_id)
        await host.kill()
        restarting.append(asyncio.create_task(host.up()))
        return "yes"

    restarting: list[asyncio.Task[None]] = []
    await host.up()
    try:
        async with AsterClient(host.url) as client:
            events = [event async for event in client.execute(RISKY, task, on_request=decide)]
            assert [event async for event in client.thread(task)] == events
    finally:
        await asyncio.gather(*restarting)
        await host.stop()
    assert len(asked) == 1
    assert sum(isinstance(event, ToolCallIssued) for event in events) == 1
    assert Transcript().extend(events).phase is Phase.COMPLETED


async def test_a_blocking_client_is_asked_in_the_thread_that_waits(engine: Live, task: str) -> None:
    def work() -> None:
        asked: list[int] = []
        with SyncAsterClient(engine.url) as client:

            def decide(request: HitlRequest) -> str:
                asked.append(threading.get_ident())
                (waiting,) = client.pending(task)
                assert waiting.request_id == request.request_id
                return "blue"

            seen: list[str] = []
            for event in client.execute(ASK, task, on_request=decide):
                seen.append(type(event).__name__)
                assert len(asked) == ("HitlRequest" in seen[:-1])
            assert asked == [threading.get_ident()]

            answers = iter(())
            with pytest.raises(RuntimeError, match="StopIteration"):
                client.ask(ASK, task, on_request=lambda request: next(answers))
            client.cancel(task)
            with pytest.raises(LookupError):
                client.ask(ASK, task, on_request=lambda request: {}["missing"])
            client.cancel(task)

            async def unfit(request: HitlRequest) -> str:
                return client.health().status

            with pytest.raises(RuntimeError, match="plain function"):
                client.ask(ASK, task, on_request=unfit)
            client.cancel(task)

    await asyncio.to_thread(work)


async def test_a_turn_that_failed_is_raised(client: AsterClient, task: str) -> None:
    with pytest.raises(EngineError) as failed:
        await client.ask("[[fail=400]]", task)
    assert failed.value.code == "LLM_PROVIDER_ERROR"
    assert failed.value.retry in ("now", "never")
