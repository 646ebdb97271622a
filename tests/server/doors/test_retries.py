"""A request that comes twice, because its client lost the connection, has one turn and one answer."""

import asyncio
from pathlib import Path
from typing import Any

import httpx2
import pytest

from aster.infra.ids import new_id
from aster.testing import Failure, Hold, ModelServer, Reply, Text, ToolCall
from tests.live import Live, live
from tests.process import engine as process_of
from tests.server.doors.chat import PATH, WEATHER, ask, message_of, user

RESPONSES = "/v1/responses"


def unique(text: str) -> dict[str, Any]:
    return user(f"{text} {new_id('x')}")


def keyed() -> dict[str, str]:
    return {"Idempotency-Key": new_id("key")}


async def post(engine: Live, body: dict[str, Any], headers: dict[str, str], path: str = PATH) -> Any:
    answer = await engine.http.post(path, json={"model": "aster", **body}, headers=headers)
    return {**answer.json(), "status": answer.status_code, "turn": answer.headers.get("X-Turn-ID")}


async def broken_off(engine: Live, body: dict[str, Any], path: str = PATH, **headers: str) -> str:
    """A streamed request whose client leaves after the first words; the turn it began."""
    sent = {"model": "aster", "stream": True, **body}
    async with engine.http.stream("POST", path, json=sent, headers=headers) as answer:
        assert answer.status_code == 200
        turn = answer.headers["X-Turn-ID"]
        async for text in answer.aiter_text():
            if "Once" in text:
                break
    await until_left(engine)
    return turn


async def until_taken_in(engine: Live) -> None:
    """Until a turn that runs is on its thread."""
    async with asyncio.timeout(5):
        while (await engine.http.get("/tasks")).json()["tasks"][0]["status"] != "running":
            pass


async def until_left(engine: Live) -> None:
    """Until the engine has noticed that nobody listens any more: it hears of that before it hears anything newer."""
    async with asyncio.timeout(5):
        while "aster_streams_open 0.0" not in (await engine.http.get("/metrics")).text:
            pass
    await engine.http.get("/health")


async def test_a_stream_that_broke_off_is_heard_from_its_beginning(engine: Live, model: ModelServer) -> None:
    held, first = new_id("hold"), unique("a tale")
    model.enqueue(Reply([Text("Once upon"), Hold(held), Text(" a time")]))
    asked = len(model.calls)
    turn = await broken_off(engine, {"messages": [first]})
    again = asyncio.ensure_future(ask(engine, [first]))
    model.release(held)
    two = await again
    assert (two["turn"], message_of(two)["content"]) == (turn, "Once upon a time")
    assert len(model.calls) == asked + 1
    model.enqueue(Reply([Text("Another one.")]))
    three = await ask(engine, [first])
    assert three["turn"] != turn  # it was heard: asking once more is asking anew


async def test_an_answer_that_ended_unheard_is_given(engine: Live, model: ModelServer) -> None:
    held, first = new_id("hold"), unique("a tale")
    model.enqueue(Reply([Text("Once upon"), Hold(held), Text(" a time")]))
    turn = await broken_off(engine, {"messages": [first]})
    task = (await engine.http.get("/tasks")).json()["tasks"][0]["task_id"]
    model.release(held)
    await engine.replay(task_id=task)
    two = await ask(engine, [first])
    assert (two["turn"], message_of(two)["content"]) == (turn, "Once upon a time")


async def test_a_whole_answer_that_nobody_waited_for_is_given(engine: Live, model: ModelServer) -> None:
    held, first = new_id("hold"), unique("a tale")
    model.enqueue(Reply([Hold(held), Text("Once.")]))
    asked = len(model.calls)
    waiting = asyncio.ensure_future(ask(engine, [first]))
    await model.wait_held(held)
    await until_taken_in(engine)
    waiting.cancel()
    await asyncio.wait([waiting])
    await until_left(engine)
    again = asyncio.ensure_future(ask(engine, [first]))
    model.release(held)
    assert message_of(await again)["content"] == "Once."
    assert len(model.calls) == asked + 1


async def test_the_same_words_elsewhere_are_another_request(engine: Live, model: ModelServer) -> None:
    held, said = new_id("hold"), user("go on")
    model.enqueue(Reply([Text("a")]), Reply([Text("b")]))
    one, two = [await post(engine, {"input": new_id("x")}, {}, RESPONSES) for _ in range(2)]
    model.enqueue(Reply([Text("Once upon"), Hold(held)]), *(Reply([Text("Two.")]) for _ in range(2)))
    body = {"input": "go on", "previous_response_id": one["id"]}
    turn = await broken_off(engine, body, RESPONSES)
    after = {"input": "go on", "previous_response_id": two["id"]}
    assert (await post(engine, after, {}, RESPONSES))["turn"] != turn
    assert (await ask(engine, [said], user=new_id("who"), metadata={"task_id": new_id("task")}))["turn"] != turn
    again = asyncio.ensure_future(post(engine, body, {}, RESPONSES))
    model.release(held)
    assert (await again)["turn"] == turn


async def test_the_same_at_the_same_time_is_asked_twice(engine: Live, model: ModelServer) -> None:
    first = unique("sample me")
    model.enqueue(Reply([Text("x")], first_byte_delay=0.05), Reply([Text("y")], first_byte_delay=0.05))
    found = await asyncio.gather(ask(engine, [first]), ask(engine, [first]))
    assert {message_of(item)["content"] for item in found} == {"x", "y"}


@pytest.mark.parametrize("path", [PATH, RESPONSES, "/api/chat"])
async def test_a_key_has_one_turn(engine: Live, model: ModelServer, path: str) -> None:
    key, first = keyed(), unique("once")
    body = {"input": first["content"]} if path == RESPONSES else {"messages": [first]}
    model.enqueue(Reply([Text("One.")], first_byte_delay=0.05), Reply([Text("Two.")]))
    found = await asyncio.gather(*(post(engine, body, key, path) for _ in range(3)))
    later = await post(engine, body, key, path)
    assert len({item["turn"] for item in [*found, later]}) == 1
    other = await post(engine, body, keyed(), path)
    assert other["turn"] != later["turn"]


async def test_a_key_is_for_one_request_of_one_user(engine: Live, model: ModelServer) -> None:
    key = keyed()
    model.enqueue(Reply([Text("One.")]))
    await post(engine, {"messages": [unique("once")]}, key)
    refused = await post(engine, {"messages": [unique("something else")]}, key)
    assert (refused["status"], refused["error"]["param"]) == (400, "Idempotency-Key")
    long = await post(engine, {"messages": [unique("x")]}, {"Idempotency-Key": "k" * 256})
    assert (long["status"], long["error"]["param"]) == (400, "Idempotency-Key")


async def test_a_turn_that_failed_is_tried_again(engine: Live, model: ModelServer) -> None:
    key, first = keyed(), unique("once")
    model.enqueue(Failure(400, "invalid_request", "no such thing"), Reply([Text("Now.")]))
    failed = await post(engine, {"messages": [first]}, key)
    assert failed["status"] >= 400
    assert message_of(await post(engine, {"messages": [first]}, key))["content"] == "Now."
    assert message_of(await post(engine, {"messages": [first]}, key))["content"] == "Now."


@pytest.mark.parametrize("key", [{}, {"Idempotency-Key": "results"}], ids=["without a key", "with a key"])
async def test_results_that_come_twice_are_taken_once(
    engine: Live, model: ModelServer, key: dict[str, str]
) -> None:
    call, held, first = new_id("call"), new_id("hold"), unique("weather")
    model.enqueue(
        Reply([ToolCall("weather", {"city": "Rome"}, id=call)]),
        Reply([Text("Once "), Hold(held), Text("warm.")]),
    )
    said = message_of(await ask(engine, [first], tools=[WEATHER]))
    result = {"role": "tool", "tool_call_id": call, "content": "warm"}
    body = {"messages": [first, said, result], "tools": [WEATHER]}
    asked = len(model.calls)
    turn = await broken_off(engine, body, **key)
    again = asyncio.ensure_future(post(engine, body, key))
    model.release(held)
    two = await again
    assert (two["turn"], message_of(two)["content"]) == (turn, "Once warm.")
    if key:
        three = await post(engine, body, key)
        assert (three["turn"], message_of(three)["content"]) == (turn, "Once warm.")
    assert len(model.calls) == asked + 1


async def test_calls_that_were_never_heard_of_are_handed_over_again(engine: Live, model: ModelServer) -> None:
    one, two, first = new_id("call"), new_id("call"), unique("weather")
    model.enqueue(
        Reply([ToolCall("weather", {"city": "Rome"}, id=one)]),
        Reply([ToolCall("weather", {"city": "Oslo"}, id=two)]),
    )
    said = message_of(await ask(engine, [first], tools=[WEATHER]))
    messages = [first, said, {"role": "tool", "tool_call_id": one, "content": "warm"}]
    found = [message_of(await ask(engine, messages, tools=[WEATHER])) for _ in range(2)]
    assert [item["tool_calls"][0]["id"] for item in found] == [two, two]


async def test_outputs_of_a_response_are_taken_once(engine: Live, model: ModelServer) -> None:
    call = new_id("call")
    model.enqueue(Reply([ToolCall("weather", {"city": "Rome"}, id=call)]), Reply([Text("Warm.")]))
    tool = {"type": "function", "name": "weather"}
    one = await post(engine, {"input": unique("weather")["content"], "tools": [tool]}, {}, RESPONSES)
    output = {"type": "function_call_output", "call_id": call, "output": "warm"}
    body = {"input": [output], "previous_response_id": one["id"], "tools": [tool]}
    two, three = [await post(engine, body, {}, RESPONSES) for _ in range(2)]
    assert (two["id"], two["output"][0]["content"][0]["text"]) == (three["id"], "Warm.")


@pytest.mark.parametrize("key", [{}, {"Idempotency-Key": "again"}], ids=["without a key", "with a key"])
async def test_a_restart_changes_nothing(model: ModelServer, tmp_path: Path, key: dict[str, str]) -> None:
    brain, held, first = tmp_path / "brain.sqlite", new_id("hold"), unique("a tale")
    model.enqueue(Reply([Text("Once upon"), Hold(held)]), Reply([Text("Once more.")], first_byte_delay=0.2))
    async with live(model, sqlite_db_path=brain, memory_enabled=False) as engine:
        turn = await broken_off(engine, {"messages": [first]}, **key)
    model.release(held)
    asked = len(model.calls)
    async with live(model, sqlite_db_path=brain, memory_enabled=False) as engine:
        two = await post(engine, {"messages": [first]}, key)
        assert (two["turn"], message_of(two)["content"]) == (turn, "Once more.")
        assert len((await engine.http.get("/tasks")).json()["tasks"]) == 1
    assert len(model.calls) == asked + 1


async def test_a_killed_engine_answers_once(model: ModelServer, tmp_path: Path) -> None:
    key, held = keyed(), new_id("hold")
    body = {"model": "aster", "messages": [unique("a tale")]}
    model.enqueue(Reply([Text("Once upon"), Hold(held)]), Reply([Text("Once more.")], first_byte_delay=1.0))
    host = process_of(tmp_path, model.url, MEMORY_ENABLED="false")
    await host.up()
    try:
        async with httpx2.AsyncClient(base_url=host.url, trust_env=False, timeout=30) as http:
            first = asyncio.ensure_future(http.post(PATH, json=body, headers=key))
            await model.wait_held(held)
            while not (await http.get("/tasks")).json()["tasks"]:
                pass
            await host.kill()
            with pytest.raises(httpx2.HTTPError):
                await first
            model.release(held)
            await host.up()
            answer = await http.post(PATH, json=body, headers=key)
            assert message_of(answer.json())["content"] == "Once more."
            tasks = (await http.get("/tasks")).json()["tasks"]
            assert [task["task_id"] for task in tasks] == [answer.headers["X-Task-ID"]]
    finally:
        await host.stop()
