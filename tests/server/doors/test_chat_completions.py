"""The chat door over HTTP: one conversation stays on one thread, whatever the client sends of it each time."""

import asyncio
import json
from typing import Any

from aster.engine_core.recovery import SMALLER
from aster.infra.ids import new_id
from aster.testing import Cut, Failure, Hold, ModelServer, Reply, Text, Thinking, ToolCall, Usage
from tests.live import Live, live
from tests.server.doors.chat import PATH, WEATHER, ask, chunks, message_of, text_of, turns, user


def unique(text: str) -> dict[str, Any]:
    """What nobody has said before: tests of a module share an engine."""
    return user(f"{text} {new_id('x')}")


async def test_an_answer_is_whole(engine: Live, model: ModelServer) -> None:
    model.enqueue(Reply([Text("Hello.")], usage=Usage(10, 3, 4, 0)))
    found = await ask(engine, [unique("hi")])
    assert (found["object"], found["model"]) == ("chat.completion", "aster")
    assert found["choices"][0]["finish_reason"] == "stop"
    assert message_of(found)["content"] == "Hello."
    assert found["usage"]["completion_tokens"] == 3
    assert found["usage"]["prompt_tokens_details"]["cached_tokens"] == 4
    listed = (await engine.http.get(f"/tasks/{found['task']}")).json()
    assert listed["task_id"] == found["task"]


async def test_an_answer_is_streamed_with_its_usage(engine: Live, model: ModelServer) -> None:
    model.enqueue(Reply([Thinking("hm"), Text("one two three")], usage=Usage(7, 2, 0, 0)))
    parts = await chunks(engine, [unique("count")], stream_options={"include_usage": True})
    assert parts[0]["choices"][0]["delta"]["role"] == "assistant"
    assert text_of(parts) == "one two three"
    assert "".join(p["choices"][0]["delta"].get("reasoning_content", "") for p in parts if p["choices"]) == "hm"
    assert [p["choices"][0]["finish_reason"] for p in parts if p["choices"]][-1] == "stop"
    assert (parts[-1]["choices"], parts[-1]["usage"]["total_tokens"]) == ([], 9)
    assert len({part["id"] for part in parts}) == 1


async def test_a_conversation_stays_on_its_task(engine: Live, model: ModelServer) -> None:
    first = unique("remember 7")
    model.enqueue(Reply([Text("  I will. ")]), Reply([Text("7")]), Reply([Text("bye")]))
    one = await ask(engine, [first])
    messages = [first, {"role": "assistant", "content": "I will."}, user("which?")]
    two = await ask(engine, messages)
    assert two["task"] == one["task"]
    three = await ask(
        engine, [*messages, {"role": "assistant", "content": [{"type": "text", "text": "7"}]}, user("ok")]
    )
    assert three["task"] == one["task"]
    assert [item["content"].strip() for item in await turns(engine, one["task"])] == [
        first["content"],
        "I will.",
        "which?",
        "7",
        "ok",
        "bye",
    ]
    asked = model.calls[-1]
    assert [m["role"] for m in asked.body["messages"]] == ["system", *["user", "assistant"] * 2, "user"]


async def test_an_edited_history_follows_an_earlier_place(engine: Live, model: ModelServer) -> None:
    first = unique("start")
    model.enqueue(*(Reply([Text(word)]) for word in ("a1", "a2", "other")))
    one = await ask(engine, [first])
    before = [first, {"role": "assistant", "content": "a1"}]
    await ask(engine, [*before, user("left")])
    edited = await ask(engine, [*before, user("right")])
    assert edited["task"] == one["task"]
    texts = [str(m["content"]) for m in model.calls[-1].body["messages"][1:]]
    assert texts == [first["content"], "a1", "right"]


async def test_asking_again_gives_another_answer_and_doubles_nothing(engine: Live, model: ModelServer) -> None:
    first = unique("again")
    model.enqueue(*(Reply([Text(word)]) for word in ("a1", "a2", "a2bis")))
    await ask(engine, [first])
    messages = [first, {"role": "assistant", "content": "a1"}, user("more")]
    two = await ask(engine, messages)
    again = await ask(engine, messages)
    assert (again["task"], message_of(again)["content"]) == (two["task"], "a2bis")
    texts = [str(m["content"]) for m in model.calls[-1].body["messages"][1:]]
    assert texts == [first["content"], "a1", "more"]


async def test_the_same_word_twice_is_two_messages(engine: Live, model: ModelServer) -> None:
    first = unique("ok")
    model.enqueue(*(Reply([Text(word)]) for word in ("a1", "a2", "a3")))
    await ask(engine, [first])
    messages = [first, {"role": "assistant", "content": "a1"}, user("ok")]
    await ask(engine, messages)
    three = await ask(engine, [*messages, {"role": "assistant", "content": "a2"}, user("ok")])
    assert [m["content"] for m in await turns(engine, three["task"])] == [
        first["content"],
        "a1",
        "ok",
        "a2",
        "ok",
        "a3",
    ]


async def test_unknown_history_is_brought_along(engine: Live, model: ModelServer) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"a": 1}'}}
    first = unique("what is 1+1")
    history = [
        {"role": "system", "content": "Be brief."},
        first,
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "2"},
        {"role": "tool", "tool_call_id": "orphan", "content": "lost"},
        {"role": "assistant", "content": "Two."},
        user("and 2+2?"),
    ]
    model.enqueue(Reply([Text("Four.")]), Reply([Text("Six.")]), Reply([Text("Another.")]))
    found = await ask(engine, history)
    sent = model.calls[-1].body["messages"]
    assert [m["role"] for m in sent] == ["system", "user", "assistant", "tool", "assistant", "user"]
    assert "Be brief." in sent[0]["content"]
    assert (await engine.http.get(f"/tasks/{found['task']}")).json()["title"].startswith("what is 1+1")
    on = await ask(engine, [*history, {"role": "assistant", "content": "Four."}, user("3+3?")])
    assert on["task"] == found["task"]
    edited = await ask(engine, [*history[:6], user("something else")])
    assert edited["task"] == found["task"]
    assert [m["role"] for m in model.calls[-1].body["messages"]] == [m["role"] for m in sent]
    spent = (await engine.http.get("/usage", params={"task_id": found["task"], "group_by": "model"})).json()
    assert "" not in {group.get("model") for group in spent.get("groups", [])}


async def test_history_that_ends_with_results_goes_on_from_them(engine: Live, model: ModelServer) -> None:
    call = {"id": "c9", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Rome"}'}}
    history = [
        unique("weather?"),
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c9", "content": "sunny"},
    ]
    model.enqueue(Reply([Text("Sunny.")]))
    found = await ask(engine, history, tools=[WEATHER])
    assert message_of(found)["content"] == "Sunny."
    assert [m["role"] for m in model.calls[-1].body["messages"]] == ["system", "user", "assistant", "tool"]


async def test_client_tools_park_the_turn_and_their_results_resume_it(engine: Live, model: ModelServer) -> None:
    calls = [ToolCall("weather", {"city": name}, id=new_id("call")) for name in ("Rome", "Oslo")]
    model.enqueue(Reply([Text("Looking."), *calls]), Reply([Text("Warm and cold.")]), Reply([Text("Bye.")]))
    first = unique("compare")
    one = await ask(engine, [first], tools=[WEATHER])
    assert one["choices"][0]["finish_reason"] == "tool_calls"
    said = message_of(one)
    assert [call["function"]["arguments"] for call in said["tool_calls"]] == ['{"city":"Rome"}', '{"city":"Oslo"}']
    assert [tool["function"]["name"] for tool in model.calls[-1].body["tools"]] == ["weather"]
    pending = (await engine.http.get("/hitl/pending", params={"task_id": one["task"]})).json()["pending"]
    assert {item["kind"] for item in pending} == {"client_tool"}
    results = [
        {"role": "tool", "tool_call_id": call["id"], "content": word}
        for call, word in zip(reversed(said["tool_calls"]), ("cold", "warm"), strict=True)
    ]
    two = await ask(engine, [first, said, *results], tools=[WEATHER])
    assert (two["task"], two["turn"]) == (one["task"], one["turn"])
    assert message_of(two)["content"] == "Warm and cold."
    sent = model.calls[-1].body["messages"]
    assert [m["role"] for m in sent] == ["system", "user", "assistant", "tool", "tool"]
    assert ["warm" in sent[3]["content"], "cold" in sent[4]["content"]] == [True, True]
    three = await ask(engine, [first, said, *results, message_of(two), user("thanks")], tools=[WEATHER])
    assert three["task"] == one["task"]


async def test_client_tools_are_streamed(engine: Live, model: ModelServer) -> None:
    model.enqueue(Reply([ToolCall("weather", {"city": "Rome"}, id="s1")]))
    parts = await chunks(engine, [unique("stream a call")], tools=[WEATHER])
    called = [p["choices"][0]["delta"]["tool_calls"] for p in parts if p["choices"][0]["delta"].get("tool_calls")]
    assert called[0][0]["function"] == {"name": "weather", "arguments": '{"city":"Rome"}'}
    assert parts[-1]["choices"][0]["finish_reason"] == "tool_calls"


async def test_a_result_that_is_missing_is_asked_for(engine: Live, model: ModelServer) -> None:
    calls = [ToolCall("weather", {"city": name}, id=new_id("call")) for name in ("Rome", "Oslo")]
    model.enqueue(Reply([*calls]))
    first = unique("two calls")
    said = message_of(await ask(engine, [first], tools=[WEATHER]))
    result = {"role": "tool", "tool_call_id": said["tool_calls"][0]["id"], "content": "warm"}
    answer = await engine.http.post(PATH, json={"model": "aster", "messages": [first, said, result]})
    assert answer.status_code == 400
    assert said["tool_calls"][1]["id"] in answer.json()["error"]["message"]


async def test_calls_left_alone_end_with_the_next_message(engine: Live, model: ModelServer) -> None:
    model.enqueue(Reply([ToolCall("weather", {"city": "Rome"}, id=new_id("call"))]), Reply([Text("Fine.")]))
    first = unique("never mind")
    one = await ask(engine, [first], tools=[WEATHER])
    two = await ask(engine, [first, message_of(one), user("forget it")], tools=[WEATHER])
    assert (two["task"], message_of(two)["content"]) == (one["task"], "Fine.")
    assert (await engine.http.get("/hitl/pending", params={"task_id": one["task"]})).json()["pending"] == []


async def test_ours_are_hidden_beside_theirs_unless_wanted(engine: Live, model: ModelServer) -> None:
    model.enqueue(Reply([ToolCall("bash", {"command": "echo secret"}, id="b1")]), Reply([Text("No shell.")]))
    hidden = await ask(engine, [unique("run")], tools=[WEATHER])
    assert "Unknown tool: bash" in model.calls[-1].body["messages"][-1]["content"]
    assert message_of(hidden)["content"] == "No shell."
    model.enqueue(Reply([Text("Both.")]))
    await ask(engine, [unique("both")], tools=[WEATHER], metadata={"aster_tools": "true"})
    names = [tool["function"]["name"] for tool in model.calls[-1].body["tools"]]
    assert names[-1] == "weather"
    assert "bash" in names
    shadow = {"type": "function", "function": {"name": "bash"}}
    body = {"model": "aster", "messages": [user("x")], "tools": [shadow], "metadata": {"aster_tools": "true"}}
    refused = await engine.http.post(PATH, json=body)
    assert (refused.status_code, refused.json()["error"]["param"]) == (400, "tools.0.name")


async def test_a_call_that_was_cut_off_gets_no_more_room_than_was_wished(engine: Live, model: ModelServer) -> None:
    broken = Reply([ToolCall("weather", raw_arguments='{"city": "Be')], stop_reason="max_tokens")
    model.enqueue(broken, broken, Reply([Text("fine")]))
    await ask(engine, [unique("weather")], tools=[WEATHER], max_tokens=9)
    sent = [call.body for call in model.calls[-3:]]
    assert [body.get("max_tokens") or body.get("max_completion_tokens") for body in sent] == [9, 9, 9]
    assert [SMALLER in json.dumps(body) for body in sent] == [False, True, True]


async def test_wishes_reach_the_model(engine: Live, model: ModelServer) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    model.enqueue(Reply([Text('{"n": 1}')], stop_reason="max_tokens"))
    found = await ask(
        engine,
        [unique("number")],
        tools=[WEATHER],
        tool_choice={"type": "function", "function": {"name": "weather"}},
        max_tokens=9,
        temperature=0.25,
        top_p=0.5,
        stop=["END"],
        response_format={"type": "json_schema", "json_schema": {"name": "n", "schema": schema}},
    )
    sent = model.calls[-1].body
    assert found["choices"][0]["finish_reason"] == "length"
    assert sent["tool_choice"] == {"type": "function", "function": {"name": "weather"}}
    assert (sent["temperature"], sent["top_p"], sent["stop"]) == (0.25, 0.5, ["END"])
    assert 9 in (sent.get("max_tokens"), sent.get("max_completion_tokens"))
    assert sent["response_format"]["json_schema"]["schema"]["properties"] == {"n": {"type": "integer"}}


async def test_pictures_are_shown(engine: Live, model: ModelServer) -> None:
    dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    picture = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{dot}"}}
    model.enqueue(Reply([Text("A dot.")]))
    await ask(engine, [{"role": "user", "content": [{"type": "text", "text": new_id("what")}, picture]}])
    assert any(part["type"] == "image_url" for part in model.calls[-1].body["messages"][-1]["content"])


async def test_a_person_is_asked_in_the_conversation(engine: Live, model: ModelServer) -> None:
    model.enqueue(Reply([ToolCall("bash", {"command": "chmod -R 700 ."}, id="d1")]), Reply([Text("Done.")]))
    first = unique("danger")
    one = await ask(engine, [first])
    asked = message_of(one)["content"]
    assert "May `bash` run?" in asked
    assert "/hitl/respond" in asked
    two = await ask(engine, [first, message_of(one), user("no")])
    assert (two["task"], two["turn"]) == (one["task"], one["turn"])
    assert message_of(two)["content"] == "Done."
    assert "Permission denied" in model.calls[-1].body["messages"][-1]["content"]


async def test_a_named_task_takes_only_what_is_new(engine: Live, model: ModelServer, task: str) -> None:
    model.enqueue(*(Reply([Text(word)]) for word in ("a0", "a1", "a2", "a3")))
    await engine.execute("begun elsewhere", task)
    metadata = {"task_id": task}
    thin = await ask(engine, [user("thin")], metadata=metadata)
    assert thin["task"] == task
    stale = [user("begun elsewhere"), {"role": "assistant", "content": "a0"}, user("stale")]
    await ask(engine, stale, metadata=metadata)
    answer = await engine.http.post(
        PATH, json={"model": "aster", "messages": [user("ok")]}, headers={"X-Aster-Task": task}
    )
    assert answer.headers["X-Task-ID"] == task
    said = [m["content"] for m in await turns(engine, task)]
    assert said == ["begun elsewhere", "a0", "thin", "a1", "stale", "a2", "ok", "a3"]


async def test_an_answer_that_was_left_is_not_waited_for(engine: Live, model: ModelServer) -> None:
    held, first = new_id("hold"), unique("long")
    model.enqueue(Reply([Text("Once upon"), Hold(held), Text(" a time")]), Reply([Text("Short.")]))
    body = {"model": "aster", "messages": [first], "stream": True}
    async with engine.http.stream("POST", PATH, json=body) as answer:
        task = answer.headers["X-Task-ID"]
        async for text in answer.aiter_text():
            if "Once" in text:
                break
    stub = {"role": "assistant", "content": "Once"}
    two = await ask(engine, [first, stub, user("shorter")])
    model.release(held)
    assert (two["task"], message_of(two)["content"]) == (task, "Short.")
    assert [m["content"] for m in await turns(engine, task)][-2:] == ["shorter", "Short."]


async def test_branches_of_one_conversation_run_side_by_side(engine: Live, model: ModelServer) -> None:
    first = unique("root")
    model.enqueue(Reply([Text("r")]))
    await ask(engine, [first])
    model.enqueue(Reply([Text("x")], first_byte_delay=0.05), Reply([Text("y")], first_byte_delay=0.05))
    before = [first, {"role": "assistant", "content": "r"}]
    found = await asyncio.gather(ask(engine, [*before, user("one")]), ask(engine, [*before, user("two")]))
    assert {message_of(item)["content"] for item in found} == {"x", "y"}
    assert len({item["task"] for item in found}) == 2


async def test_refusals_have_the_shape_their_clients_know(engine: Live, model: ModelServer) -> None:
    async def refused(**body: Any) -> tuple[int, dict[str, Any]]:
        answer = await engine.http.post(PATH, json={"model": "aster", "messages": [user("x")], **body})
        return answer.status_code, answer.json()["error"]

    status, error = await refused(model="nobody")
    assert (status, error["code"], error["param"]) == (404, "model_not_found", "model")
    status, error = await refused(n=2)
    assert (status, error["type"], error["param"]) == (400, "invalid_request_error", "n")
    assert (await refused(messages=[]))[0] == 400
    assert (await refused(messages=[{"role": "user", "content": None}]))[1]["param"] == "messages.0.content"
    assert (await refused(messages=[{"role": "assistant", "content": "x"}]))[0] == 400
    assert (await refused(messages=[user("x")] * 2001))[0] in (400, 413)
    assert (await refused(temperature=9))[1]["param"] == "temperature"
    wrong = await engine.http.post(PATH, json={}, headers={"X-Engine-Key": "wrong"})
    assert (wrong.status_code, wrong.json()["error"]["code"]) == (401, "invalid_api_key")
    broken = await engine.http.post(PATH, content=b"{", headers={"Content-Type": "application/json"})
    assert (broken.status_code, broken.json()["error"]["type"]) == (400, "invalid_request_error")
    model.enqueue(Failure(400, "invalid_request", "no such thing"))
    answer = await engine.http.post(PATH, json={"model": "aster", "messages": [unique("x")], "stream": True})
    assert answer.status_code >= 400
    assert "no such thing" in answer.json()["error"]["message"]


async def test_a_bearer_key_opens_the_door(engine: Live, model: ModelServer) -> None:
    model.enqueue(Reply([Text("in")]))
    headers = {"X-Engine-Key": "", "Authorization": "Bearer test-engine-key"}
    body = {"model": "aster", "messages": [unique("hi")]}
    assert (await engine.http.post(PATH, json=body, headers=headers)).status_code == 200


async def test_a_parked_call_survives_a_restart(model: ModelServer, tmp_path: Any) -> None:
    brain = tmp_path / "brain.sqlite"
    first = unique("later")
    model.enqueue(Reply([ToolCall("weather", {"city": "Rome"}, id="r1")]), Reply([Text("Sunny.")]))
    async with live(model, sqlite_db_path=brain) as engine:
        one = await ask(engine, [first], tools=[WEATHER])
    async with live(model, sqlite_db_path=brain) as engine:
        result = {"role": "tool", "tool_call_id": "r1", "content": "sunny"}
        two = await ask(engine, [first, message_of(one), result], tools=[WEATHER])
        assert (two["turn"], message_of(two)["content"]) == (one["turn"], "Sunny.")


async def test_another_user_never_meets_the_conversation(model: ModelServer, tmp_path: Any) -> None:
    model.enqueue(*(Reply([Text("same")]) for _ in range(3)))
    first = unique("mine")
    async with live(model, sqlite_db_path=tmp_path / "brain.sqlite") as engine:
        one = await ask(engine, [first], user="ada")
        messages = [first, {"role": "assistant", "content": "same"}, user("go on")]
        other = await ask(engine, messages, user="bob")
        assert other["task"] != one["task"]
        assert (await ask(engine, messages, user="ada"))["task"] == one["task"]


async def test_models_are_listed(model: ModelServer) -> None:
    async with live(model, llm_allowed_models="small, large") as engine:
        listed = (await engine.http.get("/v1/models")).json()
        names = [item["id"] for item in listed["data"]]
        assert (names[0], names[-2:]) == ("aster", ["small", "large"])
        assert "aster/coder" in names
        assert (await engine.http.get("/v1/models/small")).json()["object"] == "model"
        assert (await engine.http.get("/v1/models/aster%2Fcoder")).json()["id"] == "aster/coder"
        missing = await engine.http.get("/v1/models/none")
        assert (missing.status_code, missing.json()["error"]["code"]) == (404, "model_not_found")
        model.enqueue(Reply([Text("hi")]))
        await ask(engine, [unique("hi")], model="large")
        assert model.calls[-1].body["model"] == "large"
        model.enqueue(Reply([Text("code")]), Reply([Text("plain")]))
        await ask(engine, [unique("hi")], model="aster/coder")
        coder = model.calls[-1].body["messages"][0]["content"]
        await ask(engine, [unique("hi")], model="aster")
        assert model.calls[-1].body["messages"][0]["content"] != coder


async def test_a_message_known_from_elsewhere_is_not_all_there_is(engine: Live, model: ModelServer) -> None:
    """The first line is known, but what follows it does not go on from there."""
    first = unique("known")
    model.enqueue(Reply([Text("x")]), Reply([Text("y")]))
    await ask(engine, [first, {"role": "assistant", "content": "elsewhere"}, user("go on")])
    call = {"id": "k1", "type": "function", "function": {"name": "weather", "arguments": "{}"}}
    made = [{"role": "assistant", "tool_calls": [call]}, {"role": "tool", "tool_call_id": "k1", "content": "sun"}]
    found = await ask(engine, [first, *made], tools=[WEATHER])
    assert message_of(found)["content"] == "y"


async def test_a_conversation_outlives_its_task(engine: Live, model: ModelServer) -> None:
    first = unique("keep")
    model.enqueue(Reply([Text("a1")]), Reply([Text("a2")]))
    one = await ask(engine, [first])
    assert (await engine.http.delete(f"/tasks/{one['task']}")).status_code in (200, 204)
    two = await ask(engine, [first, message_of(one), user("still there?")])
    assert two["task"] != one["task"]
    assert [m["role"] for m in model.calls[-1].body["messages"]] == ["system", "user", "assistant", "user"]


async def test_a_client_and_a_person_are_asked_one_after_the_other(model: ModelServer, tmp_path: Any) -> None:
    rules = tmp_path / "rules.json"
    rules.write_text(json.dumps([{"behavior": "ask", "tool": "glob", "every_time": True, "reason": "Mine."}]))
    calls = [ToolCall("weather", {"city": "Rome"}, id="m1"), ToolCall("glob", {"pattern": "*.md"}, id="m2")]
    model.enqueue(Reply(calls), Reply([Text("Both done.")]))
    first = unique("both")
    async with live(model, permission_rules_path=rules, memory_enabled=False) as engine:
        wishes: dict[str, Any] = {"tools": [WEATHER], "metadata": {"aster_tools": "true"}}
        one = await ask(engine, [first], **wishes)
        messages = [first, message_of(one), {"role": "tool", "tool_call_id": "m1", "content": "sun"}]
        two = await ask(engine, messages, **wishes)
        assert "May `glob` run?" in message_of(two)["content"]
        three = await ask(engine, [*messages, message_of(two), user("yes")], **wishes)
        assert (three["turn"], message_of(three)["content"]) == (one["turn"], "Both done.")


async def test_a_broken_model_call_is_asked_again_and_the_client_is_still_known(
    engine: Live, model: ModelServer
) -> None:
    """What a stream has shown cannot be unsaid; a whole answer holds what counts. Either way it is found again."""
    for stream in (True, False):
        first = unique("broken")
        model.enqueue(Reply([Text("one half of it "), Cut()]), Reply([Text("whole")]), Reply([Text("next")]))
        if stream:
            parts = await chunks(engine, [first])
            said, turn = text_of(parts), parts[0]["id"].removeprefix("chatcmpl-")
        else:
            found = await ask(engine, [first])
            said, turn = message_of(found)["content"], found["turn"]
        assert (said == "whole") is not stream
        assert said.endswith("whole")
        on = await ask(engine, [first, {"role": "assistant", "content": said}, user("go on")])
        listed = (await engine.http.get(f"/tasks/{on['task']}")).json()
        assert turn in json.dumps(listed)
        assert [m["role"] for m in model.calls[-1].body["messages"]] == ["system", "user", "assistant", "user"]


async def test_an_edited_answer_takes_the_place_of_what_was_said(engine: Live, model: ModelServer) -> None:
    first = unique("colour?")
    model.enqueue(*(Reply([Text(word)]) for word in ("Red.", "Blue again.", "And so on.")))
    one = await ask(engine, [first])
    edited = [first, {"role": "assistant", "content": "Blue."}, user("sure?")]
    two = await ask(engine, edited)
    assert two["task"] == one["task"]
    texts = [str(m["content"]) for m in model.calls[-1].body["messages"][1:]]
    assert texts == [first["content"], "Blue.", "sure?"]
    three = await ask(engine, [*edited, message_of(two), user("go on")])
    assert three["task"] == one["task"]
    assert [str(m["content"]) for m in model.calls[-1].body["messages"][1:]] == [*texts, "Blue again.", "go on"]


INSIDE = "http://169.254.169.254/latest"


def shown(url: str) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "image_url", "image_url": {"url": url}}]}


def called(output: Any) -> list[dict[str, Any]]:
    call = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": "{}"}}
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": output},
    ]


async def test_addresses_inside_are_refused_in_history_too(engine: Live, model: ModelServer) -> None:
    before, answer = len(model.calls), {"role": "assistant", "content": "I see."}
    inside = shown(INSIDE)
    for messages in (
        [inside, answer, unique("and now?")],
        [unique("look"), *called(inside["content"]), answer, user("and now?")],
        [unique("look"), *called(inside["content"])],
    ):
        refused = await engine.http.post(PATH, json={"model": "aster", "messages": messages, "tools": [WEATHER]})
        assert (refused.status_code, refused.json()["error"]["param"]) == (400, "history.0"), refused.text
    assert len(model.calls) == before


async def test_files_of_history_arrive_in_their_places(engine: Live, model: ModelServer) -> None:
    model.enqueue(Reply([Text("yes")]))
    one, two = (f"data:image/png;base64,{data}" for data in ("aGVsbG8x", "aGVsbG8y"))
    messages = [shown(one), *called(shown(two)["content"]), {"role": "assistant", "content": "ok"}, unique("both?")]
    await ask(engine, messages, tools=[WEATHER])
    sent = json.dumps(model.calls[-1].body)
    assert 0 < sent.index("aGVsbG8x") < sent.index("aGVsbG8y")


async def test_files_are_counted_over_all_messages(engine: Live) -> None:
    many = [shown("data:image/png;base64,aGVsbG8=")] * 101
    refused = await engine.http.post(PATH, json={"model": "aster", "messages": [*many, unique("all?")]})
    assert (refused.status_code, refused.json()["error"]["code"]) == (413, "payload_too_large")
