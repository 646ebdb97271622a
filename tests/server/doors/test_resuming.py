"""What a client wants otherwise when it sends results of its tools holds from there on; nothing else changes."""

from pathlib import Path
from typing import Any

from aster.infra.ids import new_id
from aster.testing import ModelServer, Reply, Text, ToolCall
from tests.live import Live, live
from tests.server.doors.chat import PATH, WEATHER, ask, message_of, user

TIME: dict[str, Any] = {"type": "function", "function": {"name": "clock", "description": "The time in a city."}}


def result(call_id: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": "fine"}


def names(body: dict[str, Any]) -> list[str]:
    return [tool["function"]["name"] for tool in body.get("tools", ())]


async def called(engine: Live, model: ModelServer, *after: Reply, **body: Any) -> tuple[list[dict[str, Any]], str]:
    """A conversation whose turn waits for the result of a call, and that call; `after` is what comes then."""
    call_id = new_id("call")
    model.enqueue(Reply([ToolCall("weather", {"city": "Rome"}, id=call_id)]), *after)
    first = user(f"weather {new_id('x')}")
    found = await ask(engine, [{"role": "system", "content": "Be brief."}, first], tools=[WEATHER], **body)
    return [{"role": "system", "content": "Be brief."}, first, message_of(found)], call_id


async def resolved(engine: Live, task_id: str) -> list[dict[str, Any]]:
    return [frame.data for frame in await engine.replay(task_id=task_id) if frame.event == "hitl_resolved"]


async def test_what_is_said_again_changes_nothing(engine: Live, model: ModelServer) -> None:
    messages, call_id = await called(engine, model, Reply([Text("Warm.")]), max_tokens=50)
    before = model.calls[-1].body
    found = await ask(engine, [*messages, result(call_id)], tools=[WEATHER], max_tokens=50)
    after = model.calls[-1].body
    assert after["messages"][: len(before["messages"])] == before["messages"]
    assert after["tools"] == before["tools"]
    assert "request" not in (await resolved(engine, found["task"]))[0]


async def test_new_wishes_hold_from_there_on(engine: Live, model: ModelServer) -> None:
    again = new_id("call")
    later = Reply([ToolCall("clock", {}, id=again)])
    messages, call_id = await called(engine, model, later, Reply([Text("Noon.")]), max_tokens=50)
    told = [{"role": "system", "content": "Be verbose."}, *messages[1:], result(call_id)]
    wishes: dict[str, Any] = {"tools": [WEATHER, TIME], "max_tokens": 70, "temperature": 0.5}
    two = await ask(engine, told, **wishes)
    sent = model.calls[-1].body
    assert names(sent) == ["weather", "clock"]
    assert (sent.get("max_tokens") or sent["max_completion_tokens"], sent["temperature"]) == (70, 0.5)
    assert "Be verbose." in str(sent["messages"][0])
    assert "Be brief." not in str(sent["messages"][0])
    three = await ask(engine, [*told, message_of(two), result(again)], **wishes)
    assert (three["turn"], message_of(three)["content"]) == (two["turn"], "Noon.")
    assert ["request" in event for event in await resolved(engine, two["task"])] == [True, False]


async def test_without_tools_none_is_called(engine: Live, model: ModelServer) -> None:
    messages, call_id = await called(engine, model, Reply([Text("Warm.")]))
    await ask(engine, [*messages, result(call_id)])
    assert names(model.calls[-1].body) == ["weather"]
    assert model.calls[-1].body["tool_choice"] == "none"


async def test_a_call_can_be_required_again(engine: Live, model: ModelServer) -> None:
    messages, call_id = await called(engine, model, Reply([Text("Warm.")]), tool_choice="required")
    await ask(engine, [*messages, result(call_id)], tools=[WEATHER], tool_choice="required")
    assert model.calls[-1].body["tool_choice"] == "required"


async def test_a_reply_to_a_question_may_bring_tools(model: ModelServer, tmp_path: Path) -> None:
    asking = ToolCall("ask_user", {"question": "Which city?"}, id=new_id("call"))
    model.enqueue(Reply([asking]), Reply([Text("Rome it is.")]))
    async with live(model, sqlite_db_path=tmp_path / "brain.sqlite", memory_enabled=False) as engine:
        first = user(f"weather {new_id('x')}")
        one = await ask(engine, [first])
        both = {"aster_tools": "true"}
        two = await ask(engine, [first, message_of(one), user("Rome")], tools=[WEATHER], metadata=both)
    assert (two["turn"], message_of(two)["content"]) == (one["turn"], "Rome it is.")
    assert "weather" in names(model.calls[-1].body)
    assert "ask_user" in names(model.calls[-1].body)


async def test_they_outlive_the_process(model: ModelServer, tmp_path: Path) -> None:
    brain, again = tmp_path / "brain.sqlite", new_id("call")
    async with live(model, sqlite_db_path=brain, memory_enabled=False) as engine:
        messages, call_id = await called(engine, model, Reply([ToolCall("clock", {}, id=again)]))
        told = [*messages, result(call_id)]
        two = await ask(engine, told, tools=[WEATHER, TIME])
    model.enqueue(Reply([Text("Noon.")]))
    async with live(model, sqlite_db_path=brain, memory_enabled=False) as engine:
        await ask(engine, [*told, message_of(two), result(again)], tools=[WEATHER, TIME])
        assert names(model.calls[-1].body) == ["weather", "clock"]


async def test_tools_that_nobody_could_offer_are_refused_and_nothing_is_taken(
    engine: Live, model: ModelServer
) -> None:
    messages, call_id = await called(engine, model, Reply([Text("Warm.")]))
    body = {"model": "aster", "messages": [*messages, result(call_id)], "tools": [WEATHER, WEATHER]}
    refused = await engine.http.post(PATH, json=body)
    assert (refused.status_code, refused.json()["error"]["param"]) == (400, "tools.1.name")
    assert message_of(await ask(engine, [*messages, result(call_id)], tools=[WEATHER]))["content"] == "Warm."
