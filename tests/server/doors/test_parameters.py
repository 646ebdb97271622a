"""Every parameter of the doors as docs/doors.md has it: it reaches the model, has no effect, or is refused in words."""

from typing import Any

import pytest

from aster.infra.ids import new_id
from aster.testing import Failure, ModelServer, Reply, Text, ToolCall
from tests.live import Live, live
from tests.media.samples import picture
from tests.server.doors.chat import PATH, WEATHER, ask, message_of, user
from tests.web_server import reply, web_server

RESPONSES = "/v1/responses"
TOOL = {"type": "function", **WEATHER["function"]}
OBJECT: dict[str, Any] = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
SOUND = {"type": "input_audio", "input_audio": {"data": "aGVsbG8=", "format": "wav"}}


async def post(engine: Live, path: str, body: dict[str, Any], **headers: str) -> Any:
    asked = {"input": new_id("say")} if path == RESPONSES else {"messages": [user(new_id("say"))]}
    return await engine.http.post(path, json={"model": "aster", **asked, **body}, headers=headers)


@pytest.mark.parametrize(
    ("path", "given", "sent"),
    [
        (PATH, {"max_completion_tokens": 33}, {"max_completion_tokens": 33}),
        (PATH, {"max_completion_tokens": 33, "max_tokens": 44}, {"max_completion_tokens": 33}),
        (PATH, {"stop": "END"}, {"stop": ["END"]}),
        (PATH, {"presence_penalty": 0.5}, {"presence_penalty": 0.5}),
        (PATH, {"tools": [WEATHER], "tool_choice": "none"}, {"tool_choice": "none"}),
        (PATH, {"tools": [WEATHER], "tool_choice": "required"}, {"tool_choice": "required"}),
        (RESPONSES, {"max_output_tokens": 33}, {"max_completion_tokens": 33}),
        (RESPONSES, {"temperature": 0.5, "top_p": 0.25}, {"temperature": 0.5, "top_p": 0.25}),
        (RESPONSES, {"presence_penalty": 0.5}, {"presence_penalty": 0.5}),
        (RESPONSES, {"tools": [TOOL], "tool_choice": "none"}, {"tool_choice": "none"}),
    ],
)
async def test_it_reaches_the_model(
    engine: Live, model: ModelServer, path: str, given: dict[str, Any], sent: dict[str, Any]
) -> None:
    model.enqueue(Reply([Text("ok")]))
    answer = await post(engine, path, given)
    assert answer.status_code == 200, answer.text
    body = model.calls[-1].body
    if "max_tokens" in body:
        body = {**body, "max_completion_tokens": body["max_tokens"]}
    assert {name: body.get(name) for name in sent} == sent


@pytest.mark.parametrize(
    ("path", "given"),
    [
        (PATH, {"response_format": {"type": "json_object"}}),
        (RESPONSES, {"text": {"format": {"type": "json_object"}}}),
    ],
)
async def test_an_object_is_asked_for_in_words(
    engine: Live, model: ModelServer, path: str, given: dict[str, Any]
) -> None:
    model.enqueue(Reply([Text("{}")]))
    assert (await post(engine, path, given)).status_code == 200
    assert "one JSON object" in model.calls[-1].conversation.system


@pytest.mark.parametrize(
    ("path", "given"),
    [
        (PATH, {"reasoning_effort": "high"}),
        (RESPONSES, {"reasoning": {"effort": "high"}}),
    ],
)
async def test_effort_is_thinking_at_length(model: ModelServer, path: str, given: dict[str, Any]) -> None:
    model.enqueue(Reply([Text("ok")]), Reply([Text("ok")]))
    async with live(model, memory_enabled=False) as engine:
        await post(engine, path, {})
        await post(engine, path, given)
        tasks = (await engine.http.get("/tasks")).json()["tasks"]
        frames = [await engine.replay(task_id=task["task_id"]) for task in tasks]
    asked = [found[0].data["request"].get("super_thinking", False) for found in frames]
    assert asked == [True, False]


@pytest.mark.parametrize(
    ("path", "given"),
    [
        (PATH, {"parallel_tool_calls": False, "tools": [WEATHER]}),
        (PATH, {"seed": 7, "frequency_penalty": 0.5, "logit_bias": {"50256": -100.0}, "store": True, "n": 1}),
        (PATH, {"metadata": {"about": "something"}, "user": "ada", "logprobs": False}),
        (RESPONSES, {"store": False, "service_tier": "auto", "truncation": "auto", "include": []}),
        (RESPONSES, {"metadata": {"about": "something"}, "parallel_tool_calls": True, "frequency_penalty": 0.5}),
        (RESPONSES, {"stream_options": {"include_obfuscation": False}, "max_tool_calls": 3, "top_logprobs": 0}),
    ],
)
async def test_it_changes_nothing(engine: Live, model: ModelServer, path: str, given: dict[str, Any]) -> None:
    model.enqueue(Reply([Text("ok")]))
    answer = await post(engine, path, given)
    assert (answer.status_code, answer.headers.get("X-Aster-Warning")) == (200, None), answer.text


@pytest.mark.parametrize(
    ("path", "given", "param"),
    [
        (PATH, {"n": 2}, "n"),
        (PATH, {"n": 0}, "n"),
        (PATH, {"functions": [{"name": "f"}]}, "functions"),
        (PATH, {"logprobs": True}, "logprobs"),
        (PATH, {"top_logprobs": 3}, "logprobs"),
        (PATH, {"stop": ["a", "b", "c", "d", "e"]}, "stop"),
        (PATH, {"stop": [""]}, "stop"),
        (PATH, {"max_tokens": 0}, "max_tokens"),
        (PATH, {"temperature": 2.5}, "temperature"),
        (PATH, {"response_format": {"type": "json_schema"}}, "response_format.json_schema.schema"),
        (PATH, {"tools": [{"type": "custom"}]}, "tools.0.type"),
        (PATH, {"tool_choice": {"type": "function", "function": {"name": "x"}}}, "tool_choice"),
        (PATH, {"metadata": {"task_id": ""}}, "metadata.task_id"),
        (RESPONSES, {"prompt": {"id": "p"}}, "prompt"),
        (RESPONSES, {"conversation": "c"}, "conversation"),
        (RESPONSES, {"top_logprobs": 2}, "top_logprobs"),
        (RESPONSES, {"max_output_tokens": 0}, "max_output_tokens"),
        (RESPONSES, {"tools": [{"type": "web_search"}]}, "tools.0.type"),
    ],
)
async def test_it_is_refused(engine: Live, path: str, given: dict[str, Any], param: str) -> None:
    refused = await post(engine, path, given)
    error = refused.json()["error"]
    assert (refused.status_code, error["type"], error["param"]) == (400, "invalid_request_error", param)
    assert error["code"] == "invalid_value"


async def test_a_limit_of_the_provider_says_when(model: ModelServer) -> None:
    for path in (PATH, RESPONSES):
        model.enqueue(Failure(429, message="slow down", retry_after=3600))
        async with live(model, memory_enabled=False) as engine:
            limited = await post(engine, path, {"stream": True})
            assert (limited.status_code, limited.json()["error"]["code"]) == (429, "rate_limit_exceeded")
            assert limited.json()["error"]["type"] == "rate_limit_error"
            assert int(limited.headers["Retry-After"]) >= 1


async def test_too_much_is_said_in_their_shape(model: ModelServer) -> None:
    async with live(model, memory_enabled=False, max_request_bytes=2000) as engine:
        for path in (PATH, RESPONSES, "/api/chat"):
            large = await post(engine, path, {"user": "x" * 3000})
            assert large.status_code == 413
            assert large.json()["error"]["message"]


async def test_a_picture_at_an_address_is_fetched_with_care(model: ModelServer) -> None:
    model.enqueue(Reply([Text("A dot.")]), Reply([Text("A dot.")]))
    settings: dict[str, Any] = {"fetch_allowed_private": "127.0.0.1", "media_presend_validation_enabled": True}
    async with (
        web_server(lambda _: reply(picture(), "image/png")) as web,
        live(model, memory_enabled=False, **settings) as engine,
    ):
        item = {"type": "image_url", "image_url": {"url": f"{web.url}/dot.png"}}
        await ask(engine, [{"role": "user", "content": [{"type": "text", "text": "what?"}, item]}])
        assert "data:image/png;base64," in str(model.calls[-1].body["messages"][-1])
        part = {"type": "input_image", "image_url": f"{web.url}/dot.png"}
        message = {"role": "user", "content": [{"type": "input_text", "text": "and this?"}, part]}
        assert (await post(engine, RESPONSES, {"input": [message]})).status_code == 200
        inside = {"type": "image_url", "image_url": {"url": "http://169.254.169.254/latest"}}
        refused = await post(engine, PATH, {"messages": [{"role": "user", "content": [inside]}]})
        assert refused.status_code == 400
    assert len(web.asked) == 2


async def test_input_items_are_what_came_with_a_request(engine: Live, model: ModelServer) -> None:
    call = new_id("call")
    model.enqueue(Reply([ToolCall("weather", {"city": "Rome"}, id=call)]), Reply([Text("Warm.")]))
    one = (await post(engine, RESPONSES, {"input": "weather, please", "tools": [TOOL]})).json()
    output = {"type": "function_call_output", "call_id": call, "output": "warm"}
    clock = {"type": "function", "name": "clock"}
    asked = {"input": [output], "previous_response_id": one["id"], "tools": [TOOL, clock]}
    two = (await post(engine, RESPONSES, asked)).json()
    first = (await engine.http.get(f"{RESPONSES}/{one['id']}/input_items")).json()
    assert [item["content"][0]["text"] for item in first["data"]] == ["weather, please"]
    assert (first["object"], first["has_more"], first["first_id"]) == ("list", False, first["data"][0]["id"])
    second = (await engine.http.get(f"{RESPONSES}/{two['id']}/input_items", params={"order": "asc"})).json()
    assert [(item["type"], item["call_id"], item["output"]) for item in second["data"]] == [
        ("function_call_output", call, "warm")
    ]
    rest = await engine.http.get(f"{RESPONSES}/{two['id']}/input_items", params={"after": second["last_id"]})
    assert rest.json()["data"] == []
    unknown = await engine.http.get(f"{RESPONSES}/{two['id']}/input_items", params={"after": "x"})
    assert (unknown.status_code, unknown.json()["error"]["param"]) == (400, "after")
    missing = await engine.http.get(f"{RESPONSES}/resp_x_0/input_items")
    assert (missing.status_code, missing.json()["error"]["code"]) == (404, "response_not_found")
    kept = [(await engine.http.get(f"{RESPONSES}/{name}")).json() for name in (one["id"], two["id"])]
    assert [[tool["name"] for tool in item["tools"]] for item in kept] == [["weather"], ["weather", "clock"]]


async def test_an_unknown_field_is_named(engine: Live, model: ModelServer) -> None:
    model.enqueue(Reply([Text("ok")]))
    answer = await post(engine, PATH, {"verbosity_level": "low"})
    assert "verbosity_level" in answer.headers["X-Aster-Warning"]
    assert message_of(answer.json())["content"] == "ok"
