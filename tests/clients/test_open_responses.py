"""What the Open Responses specification asks of an endpoint, in the cases of its public acceptance suite.

The cases and their conditions are those of the suite, each whole and streamed, and some that it does not have. The
shapes of the response and of every event are checked field by field here, because the suite itself is on no package
registry. The table in docs/doors.md says what passes.
"""

import json
from collections.abc import AsyncIterator
from typing import Any, TypeAlias

import pytest

from aster.testing import Answer, ModelServer, RecordedCall, Reply, Thinking
from tests.clients.obliging import obliging
from tests.clients.test_openai_sdk import DOT
from tests.live import Live, live

TOOL = {
    "type": "function",
    "name": "get_weather",
    "description": "Get the current weather for a location",
    "parameters": {"type": "object", "properties": {"location": {"type": "string"}}, "required": ["location"]},
}
NAMED: dict[str, Any] = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
WEATHER = [{"type": "message", "role": "user", "content": "What's the weather like in San Francisco?"}]
CASES: dict[str, dict[str, Any]] = {
    "basic text": {"input": [{"type": "message", "role": "user", "content": "Say hello in exactly 3 words."}]},
    "system prompt": {
        "input": [
            {"type": "message", "role": "system", "content": "You are a pirate."},
            {"type": "message", "role": "user", "content": "Say hello."},
        ]
    },
    "tool calling": {"input": WEATHER, "tools": [TOOL]},
    "image input": {
        "input": [
            {
                "type": "message",
                "role": "user",
                "content": [
                    {"type": "input_text", "text": "What do you see?"},
                    {"type": "input_image", "image_url": f"data:image/png;base64,{DOT}"},
                ],
            }
        ]
    },
    "multi-turn": {
        "input": [
            {"type": "message", "role": "user", "content": "My name is Alice."},
            {"type": "message", "role": "assistant", "content": "Hello Alice!"},
            {"type": "message", "role": "user", "content": "What is my name?"},
        ]
    },
    "structured output": {
        "input": "A name, please.",
        "text": {"format": {"type": "json_schema", "name": "who", "schema": NAMED, "strict": True}},
    },
    "every parameter": {
        "input": "Say hello.",
        "instructions": "Be polite.",
        "max_output_tokens": 100,
        "metadata": {"about": "a test"},
        "parallel_tool_calls": False,
        "presence_penalty": 0.1,
        "reasoning": {"effort": "low"},
        "safety_identifier": "somebody",
        "store": True,
        "temperature": 0.5,
        "tool_choice": "none",
        "tools": [TOOL],
        "top_p": 0.9,
        "truncation": "disabled",
    },
}
WHOLE, NUMBER, TEXT, FLAG, LIST, MAP = int, (int, float), str, bool, list, dict
Shape: TypeAlias = dict[str, tuple[Any, bool]]
"""The kind of each field that has to be there, and whether it may be null."""


def shape(kind: Any, *names: str, null: bool = False) -> Shape:
    return dict.fromkeys(names, (kind, null))


RESPONSE: Shape = {
    **shape(TEXT, "id", "object", "status", "model", "truncation", "service_tier"),
    **shape(TEXT, "previous_response_id", "instructions", "safety_identifier", "user", null=True),
    **shape(TEXT, "prompt_cache_key", null=True),
    **shape(WHOLE, "created_at", "top_logprobs"),
    **shape(NUMBER, "top_p", "temperature", "presence_penalty", "frequency_penalty"),
    **shape(WHOLE, "completed_at", "max_output_tokens", "max_tool_calls", null=True),
    **shape(FLAG, "parallel_tool_calls", "store", "background"),
    **shape(LIST, "output", "tools"),
    **shape(MAP, "text", "metadata"),
    **shape(MAP, "incomplete_details", "error", "reasoning", "usage", null=True),
    **shape((str, dict), "tool_choice"),
}
USAGE: Shape = {
    **shape(WHOLE, "input_tokens", "output_tokens", "total_tokens"),
    **shape(MAP, "input_tokens_details", "output_tokens_details"),
}
FUNCTION: Shape = {
    **shape(TEXT, "type", "name"),
    **shape(TEXT, "description", null=True),
    **shape(MAP, "parameters", null=True),
    **shape(FLAG, "strict", null=True),
}
ITEMS: dict[str, Shape] = {
    "message": {**shape(TEXT, "id", "status", "role"), **shape(LIST, "content")},
    "function_call": shape(TEXT, "id", "call_id", "name", "arguments", "status"),
    "reasoning": {**shape(TEXT, "id"), **shape(LIST, "summary")},
}
PARTS: dict[str, Shape] = {
    "output_text": {**shape(TEXT, "text"), **shape(LIST, "annotations", "logprobs")},
    "summary_text": shape(TEXT, "text"),
}
FORMATS: dict[str, Shape] = {
    "text": {},
    "json_schema": {
        **shape(TEXT, "name"),
        **shape(TEXT, "description", null=True),
        **shape(MAP, "schema", null=True),
        **shape(FLAG, "strict"),
    },
}
SNAPSHOT, ITEM = shape(MAP, "response"), {**shape(WHOLE, "output_index"), **shape(MAP, "item")}
PLACE = {**shape(TEXT, "item_id"), **shape(WHOLE, "output_index")}
CONTENT, SUMMARY = {**PLACE, **shape(WHOLE, "content_index")}, {**PLACE, **shape(WHOLE, "summary_index")}
EVENTS: dict[str, Shape] = {
    **dict.fromkeys(("response.created", "response.in_progress", "response.completed"), SNAPSHOT),
    **dict.fromkeys(("response.failed", "response.incomplete"), SNAPSHOT),
    **dict.fromkeys(("response.output_item.added", "response.output_item.done"), ITEM),
    **dict.fromkeys(("response.content_part.added", "response.content_part.done"), CONTENT | shape(MAP, "part")),
    "response.output_text.delta": CONTENT | shape(TEXT, "delta"),
    "response.output_text.done": CONTENT | shape(TEXT, "text"),
    "response.reasoning_summary_part.added": SUMMARY | shape(MAP, "part"),
    "response.reasoning_summary_part.done": SUMMARY | shape(MAP, "part"),
    "response.reasoning_summary_text.delta": SUMMARY | shape(TEXT, "delta"),
    "response.reasoning_summary_text.done": SUMMARY | shape(TEXT, "text"),
    "response.function_call_arguments.delta": PLACE | shape(TEXT, "delta"),
    "response.function_call_arguments.done": PLACE | shape(TEXT, "arguments"),
}
STATUSES = {"in_progress", "completed", "incomplete"}


@pytest.fixture
async def aster() -> AsyncIterator[Live]:
    async with ModelServer([thoughtful]) as model, live(model, memory_enabled=False) as engine:
        yield engine


def thoughtful(call: RecordedCall) -> Answer:
    """An obliging model that thinks before it talks."""
    answer = obliging(call)
    talks = isinstance(answer, Reply) and "Say hello." in call.conversation.text
    return Reply([Thinking("Hello, then."), *answer.parts]) if talks and isinstance(answer, Reply) else answer


def fits(found: dict[str, Any], wanted: Shape) -> None:
    for name, (kind, null) in wanted.items():
        assert name in found, f"{name} is missing in {found}"
        value = found[name]
        right = isinstance(value, kind) and (kind is FLAG or not isinstance(value, bool))
        assert right or (null and value is None), (name, value)


def check_item(item: dict[str, Any]) -> None:
    fits(item, ITEMS[item["type"]])
    assert item.get("status", "completed") in STATUSES
    for part in (*item.get("content", ()), *item.get("summary", ())):
        fits(part, PARTS[part["type"]])


def check(response: dict[str, Any]) -> None:
    """That a response has every field the specification asks for, of the kind it asks for."""
    fits(response, RESPONSE)
    for item in response["output"]:
        check_item(item)
    for tool in response["tools"]:
        fits(tool, FUNCTION)
    fits(response["text"]["format"], FORMATS[response["text"]["format"]["type"]])
    assert set(response["reasoning"]) >= {"effort", "summary"}
    if response["usage"] is not None:
        fits(response["usage"], USAGE)
        assert "cached_tokens" in response["usage"]["input_tokens_details"]
        assert "reasoning_tokens" in response["usage"]["output_tokens_details"]


def check_event(event: dict[str, Any]) -> None:
    assert isinstance(event["sequence_number"], int)
    fits(event, EVENTS[event["type"]])
    if "response" in event:
        check(event["response"])
    if "item" in event:
        check_item(event["item"])
    if "part" in event:
        fits(event["part"], PARTS[event["part"]["type"]])


def read(text: str) -> list[dict[str, Any]]:
    """The events of a stream: each under its own name, numbered without a gap, `[DONE]` behind the last."""
    frames = [frame for frame in text.split("\n\n") if frame]
    assert frames[-1] == "data: [DONE]"
    parts = [frame.split("\ndata: ", 1) for frame in frames[:-1]]
    events = [json.loads(data) for _, data in parts]
    assert [name for name, _ in parts] == [f"event: {event['type']}" for event in events]
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    return events


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("name", CASES)
async def test_case(aster: Live, name: str, stream: bool) -> None:
    answer = await aster.http.post("/v1/responses", json={"model": "aster", **CASES[name], "stream": stream})
    assert answer.status_code == 200, answer.text
    events = read(answer.text) if stream else []
    for event in events:
        check_event(event)
    response = events[-1]["response"] if stream else answer.json()
    check(response)
    assert response["status"] == "completed"
    wanted = "function_call" if name == "tool calling" else "message"
    assert wanted in {item["type"] for item in response["output"]}
    if stream and wanted == "function_call":
        kinds = {(event["type"], event.get("item", {}).get("type")) for event in events}
        assert ("response.output_item.added", "function_call") in kinds
        assert ("response.output_item.done", "function_call") in kinds
        assert {"response.function_call_arguments.delta", "response.function_call_arguments.done"} <= {
            kind for kind, _ in kinds
        }


async def test_what_was_asked_for_is_said_again(aster: Live) -> None:
    asked = CASES["every parameter"]
    found = (await aster.http.post("/v1/responses", json={"model": "aster", **asked})).json()
    fixed = {"input", "tools", "reasoning", "parallel_tool_calls"}
    assert {name: found[name] for name in asked if name not in fixed} == {
        name: value for name, value in asked.items() if name not in fixed
    }
    assert found["reasoning"] == {"effort": "low", "summary": None}
    assert [tool["name"] for tool in found["tools"]] == ["get_weather"]
    assert "reasoning" in {item["type"] for item in found["output"]}
