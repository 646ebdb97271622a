"""The responses door over HTTP: items, events, responses by id, in the background and in a chain."""

import json
from typing import Any

from aster.infra.ids import new_id
from aster.testing import Failure, Hold, ModelServer, Reply, Text, Thinking, ToolCall, Usage
from tests.live import Live
from tests.server.doors.chat import turns

PATH = "/v1/responses"
WEATHER: dict[str, Any] = {
    "type": "function",
    "name": "weather",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
}
REQUIRED = (
    *(
        "id",
        "object",
        "created_at",
        "completed_at",
        "status",
        "incomplete_details",
        "model",
        "previous_response_id",
    ),
    *(
        "instructions",
        "output",
        "error",
        "tools",
        "tool_choice",
        "truncation",
        "parallel_tool_calls",
        "text",
        "top_p",
    ),
    *("presence_penalty", "frequency_penalty", "top_logprobs", "temperature", "reasoning", "user", "usage"),
    *(
        "max_output_tokens",
        "max_tool_calls",
        "store",
        "background",
        "service_tier",
        "metadata",
        "safety_identifier",
    ),
    "prompt_cache_key",
)


async def respond(engine: Live, given: Any, **body: Any) -> dict[str, Any]:
    answer = await engine.http.post(PATH, json={"model": "aster", "input": given, **body})
    assert answer.status_code == 200, answer.text
    return {**answer.json(), "task": answer.headers["X-Task-ID"]}


def frames(text: str) -> list[dict[str, Any]]:
    """The events of a stream, which are numbered without a gap and end with `[DONE]`."""
    found = [frame for frame in text.split("\n\n") if frame and not frame.startswith(":")]
    assert found[-1] == "data: [DONE]"
    events = [json.loads(frame.split("\ndata: ", 1)[1]) for frame in found[:-1]]
    assert [frame.split("\n")[0] for frame in found[:-1]] == [f"event: {event['type']}" for event in events]
    return events


async def streamed(engine: Live, given: Any, **body: Any) -> list[dict[str, Any]]:
    answer = await engine.http.post(PATH, json={"model": "aster", "input": given, "stream": True, **body})
    assert answer.status_code == 200, answer.text
    events = frames(answer.text)
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    return events


def said(response: dict[str, Any]) -> str:
    return "".join(item["content"][0]["text"] for item in response["output"] if item["type"] == "message")


async def test_a_response_is_whole_and_kept(engine: Live, model: ModelServer) -> None:
    model.enqueue(Reply([Thinking("hm"), Text("Hello.")], usage=Usage(10, 3, 4, 0)))
    found = await respond(engine, new_id("hi"), metadata={"a": "b"}, instructions="Be brief.", temperature=0.5)
    assert [name for name in REQUIRED if name not in found] == []
    assert (found["status"], said(found), found["metadata"]) == ("completed", "Hello.", {"a": "b"})
    assert [item["type"] for item in found["output"]] == ["reasoning", "message"]
    assert found["usage"]["output_tokens"] == 3
    assert found["completed_at"] >= found["created_at"]
    assert "Be brief." in model.calls[-1].body["messages"][0]["content"]
    again = (await engine.http.get(f"{PATH}/{found['id']}")).json()
    task = found.pop("task")
    assert {**again, "created_at": 0} == {**found, "created_at": 0}
    assert (await engine.http.get(f"/tasks/{task}")).status_code == 200


async def test_a_stream_tells_every_step(engine: Live, model: ModelServer) -> None:
    model.enqueue(Reply([Thinking("hm"), Text("one two")]))
    events = await streamed(engine, new_id("count"))
    kinds = [event["type"].removeprefix("response.") for event in events]
    shape = [kind for at, kind in enumerate(kinds) if at == 0 or kinds[at - 1] != kind]
    assert shape == [
        *("created", "in_progress"),
        *("output_item.added", "reasoning_summary_part.added", "reasoning_summary_text.delta"),
        *("reasoning_summary_text.done", "reasoning_summary_part.done", "output_item.done"),
        *("output_item.added", "content_part.added", "output_text.delta", "output_text.done", "content_part.done"),
        *("output_item.done", "completed"),
    ]
    text = "".join(event["delta"] for event in events if event["type"] == "response.output_text.delta")
    assert text == said(events[-1]["response"]) == "one two"
    name = events[-1]["response"]["id"]
    rest = await engine.http.get(f"{PATH}/{name}", params={"stream": "true", "starting_after": 1})
    assert [event["type"] for event in frames(rest.text)] == [event["type"] for event in events[2:]]


async def test_responses_form_a_chain(engine: Live, model: ModelServer) -> None:
    model.enqueue(*(Reply([Text(word)]) for word in ("a1", "a2", "b2")))
    one = await respond(engine, new_id("start"))
    two = await respond(engine, "next", previous_response_id=one["id"])
    assert (two["task"], two["previous_response_id"]) == (one["task"], one["id"])
    other = await respond(engine, "other", previous_response_id=one["id"])
    assert other["task"] == one["task"]
    assert [m["role"] for m in model.calls[-1].body["messages"]] == ["system", "user", "assistant", "user"]
    missing = await engine.http.post(
        PATH, json={"model": "aster", "input": "x", "previous_response_id": "resp_x_0"}
    )
    assert missing.status_code == 400
    assert missing.json()["error"]["param"] == "previous_response_id"


async def test_a_whole_conversation_is_known_again(engine: Live, model: ModelServer) -> None:
    first = {"role": "user", "content": new_id("start")}
    model.enqueue(Reply([Text("a1")]), Reply([Text("a2")]))
    one = await respond(engine, [first])
    two = await respond(engine, [first, *one["output"], {"role": "user", "content": "more"}])
    assert two["task"] == one["task"]
    assert [m["content"] for m in await turns(engine, one["task"])] == [first["content"], "a1", "more", "a2"]


async def test_calls_are_handed_over_and_answered(engine: Live, model: ModelServer) -> None:
    calls = [ToolCall("weather", {"city": name}, id=new_id("call")) for name in ("Rome", "Oslo")]
    model.enqueue(Reply([Text("Looking."), *calls]), Reply([Text("Warm.")]))
    events = await streamed(engine, new_id("compare"), tools=[WEATHER])
    one = events[-1]["response"]
    assert [item["type"] for item in one["output"]] == ["message", "function_call", "function_call"]
    assert "response.function_call_arguments.done" in {event["type"] for event in events}
    outputs = [
        {"type": "function_call_output", "call_id": item["call_id"], "output": "warm"}
        for item in one["output"]
        if item["type"] == "function_call"
    ]
    two = await respond(engine, outputs, previous_response_id=one["id"], tools=[WEATHER])
    assert (said(two), two["id"]) == ("Warm.", one["id"].removesuffix("_0") + "_1")
    kept = (await engine.http.get(f"{PATH}/{one['id']}")).json()
    assert [item["type"] for item in kept["output"]] == ["message", "function_call", "function_call"]
    assert said((await engine.http.get(f"{PATH}/{two['id']}")).json()) == "Warm."


async def test_calls_are_answered_with_the_whole_conversation(engine: Live, model: ModelServer) -> None:
    model.enqueue(Reply([ToolCall("weather", {"city": "Rome"}, id=new_id("call"))]), Reply([Text("Warm.")]))
    first = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": new_id("w")}]}
    one = await respond(engine, [first], tools=[WEATHER])
    output = {"type": "function_call_output", "call_id": one["output"][0]["call_id"], "output": "warm"}
    two = await respond(engine, [first, *one["output"], output], tools=[WEATHER])
    assert (two["task"], said(two)) == (one["task"], "Warm.")


async def test_a_response_in_the_background_is_followed_and_stopped(engine: Live, model: ModelServer) -> None:
    held = new_id("hold")
    model.enqueue(Reply([Text("begun"), Hold(held), Text(" done")]), Reply([Text("never"), Hold(new_id("hold"))]))
    one = await respond(engine, new_id("long"), background=True)
    assert (one["status"], one["background"], one["output"]) == ("in_progress", True, [])
    model.release(held)
    rest = await engine.http.get(f"{PATH}/{one['id']}", params={"stream": "true"})
    assert said(frames(rest.text)[-1]["response"]) == "begun done"
    assert (await engine.http.get(f"{PATH}/{one['id']}")).json()["status"] == "completed"
    two = await respond(engine, new_id("endless"), background=True)
    stopped = (await engine.http.post(f"{PATH}/{two['id']}/cancel")).json()
    assert stopped["status"] == "cancelled"
    assert (await engine.http.post(f"{PATH}/{one['id']}/cancel")).json()["status"] == "completed"


async def test_a_deleted_response_is_gone_and_its_task_is_not(engine: Live, model: ModelServer) -> None:
    model.enqueue(Reply([Text("a1")]))
    one = await respond(engine, new_id("forget"))
    gone = await engine.http.delete(f"{PATH}/{one['id']}")
    assert gone.json() == {"id": one["id"], "object": "response", "deleted": True}
    missing = await engine.http.get(f"{PATH}/{one['id']}")
    assert (missing.status_code, missing.json()["error"]["code"]) == (404, "response_not_found")
    assert (await engine.http.get(f"/tasks/{one['task']}")).status_code == 200


async def test_limits_and_failures_are_told(engine: Live, model: ModelServer) -> None:
    model.enqueue(Reply([Text("cut")], stop_reason="max_tokens"))
    short = await respond(engine, new_id("long"), max_output_tokens=20)
    assert (short["status"], short["incomplete_details"]) == ("incomplete", {"reason": "max_output_tokens"})
    for body, field in (
        ({"conversation": "c"}, "conversation"),
        ({"tools": [{"type": "web_search"}]}, "tools.0.type"),
        ({"input": ""}, "input"),
        ({"tool_choice": {"type": "function", "name": "x"}}, "tool_choice"),
        ({"text": {"format": {"type": "json_schema", "name": "x"}}}, "text.format.schema"),
    ):
        refused = await engine.http.post(PATH, json={"model": "aster", "input": "x", **body})
        assert (refused.status_code, refused.json()["error"]["param"]) == (400, field)
    model.enqueue(Failure(400, "invalid_request", "no such thing"))
    failed = await engine.http.post(PATH, json={"model": "aster", "input": new_id("x")})
    assert failed.status_code >= 400


async def test_a_schema_reaches_the_model(engine: Live, model: ModelServer) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
    model.enqueue(Reply([Text('{"n":1}')]))
    found = await respond(
        engine, new_id("n"), text={"format": {"type": "json_schema", "name": "n", "schema": schema, "strict": True}}
    )
    assert found["text"]["format"]["schema"] == schema
    assert model.calls[-1].body["response_format"]["type"] == "json_schema"
