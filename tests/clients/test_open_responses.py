"""What the Open Responses specification asks of an endpoint, in the cases of its public acceptance suite.

The cases and their conditions are those of the suite; the shapes are checked field by field here, because the suite
itself brings generated code along that this project does not keep. The table in docs/doors.md says what passes.
"""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from aster.testing import ModelServer
from tests.clients.obliging import obliging
from tests.clients.test_openai_sdk import DOT
from tests.live import Live, live

TOOL = {
    "type": "function",
    "name": "get_weather",
    "description": "Get the current weather for a location",
    "parameters": {"type": "object", "properties": {"location": {"type": "string"}}, "required": ["location"]},
}
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
}
NUMBER, TEXT, FLAG, LIST, MAP = (int, float), str, bool, list, dict
RESPONSE: dict[str, tuple[Any, bool]] = {
    **dict.fromkeys(("id", "object", "status", "model", "truncation", "service_tier"), (TEXT, False)),
    **dict.fromkeys(("previous_response_id", "instructions", "safety_identifier", "user"), (TEXT, True)),
    "prompt_cache_key": (TEXT, True),
    **dict.fromkeys(("created_at", "top_p", "temperature", "top_logprobs"), (NUMBER, False)),
    **dict.fromkeys(("presence_penalty", "frequency_penalty"), (NUMBER, False)),
    **dict.fromkeys(("completed_at", "max_output_tokens", "max_tool_calls"), (NUMBER, True)),
    **dict.fromkeys(("parallel_tool_calls", "store", "background"), (FLAG, False)),
    **dict.fromkeys(("output", "tools"), (LIST, False)),
    **dict.fromkeys(("text", "metadata"), (MAP, False)),
    **dict.fromkeys(("incomplete_details", "error", "reasoning", "usage"), (MAP, True)),
    "tool_choice": ((str, dict), False),
}
ITEMS = {
    "message": ("id", "status", "role", "content"),
    "function_call": ("id", "call_id", "name", "arguments", "status"),
    "reasoning": ("id", "summary"),
}


@pytest.fixture
async def aster() -> AsyncIterator[Live]:
    async with ModelServer([obliging]) as model, live(model, memory_enabled=False) as engine:
        yield engine


def check(response: dict[str, Any]) -> None:
    """That a response has every field the specification asks for, of the kind it asks for."""
    for name, (kind, empty) in RESPONSE.items():
        assert name in response, name
        assert (empty and response[name] is None) or isinstance(response[name], kind), (name, response[name])
    for item in response["output"]:
        assert all(item.get(name) is not None for name in ITEMS[item["type"]]), item
    parts = [part for item in response["output"] for part in item.get("content", ())]
    assert all(set(part) >= {"type", "text", "annotations", "logprobs"} for part in parts)
    assert all(set(tool) >= {"type", "name", "description", "parameters", "strict"} for tool in response["tools"])
    if response["usage"] is not None:
        details = {"input_tokens_details": "cached_tokens", "output_tokens_details": "reasoning_tokens"}
        assert all(inner in response["usage"][outer] for outer, inner in details.items())


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("name", CASES)
async def test_case(aster: Live, name: str, stream: bool) -> None:
    answer = await aster.http.post("/v1/responses", json={"model": "aster", **CASES[name], "stream": stream})
    assert answer.status_code == 200, answer.text
    events: list[dict[str, Any]] = []
    response: dict[str, Any] = {}
    if stream:
        frames = [frame for frame in answer.text.split("\n\n") if frame]
        assert frames[-1] == "data: [DONE]"
        events = [json.loads(frame.split("\ndata: ", 1)[1]) for frame in frames[:-1]]
        assert [event["sequence_number"] for event in events] == list(range(len(events)))
        response = events[-1]["response"]
    else:
        response = answer.json()
    check(response)
    assert response["status"] == "completed"
    wanted = "function_call" if "tools" in CASES[name] else "message"
    assert wanted in {item["type"] for item in response["output"]}
    if stream and wanted == "function_call":
        kinds = {(event["type"], event.get("item", {}).get("type")) for event in events}
        assert ("response.output_item.added", "function_call") in kinds
        assert ("response.output_item.done", "function_call") in kinds
        assert {"response.function_call_arguments.delta", "response.function_call_arguments.done"} <= {
            kind for kind, _ in kinds
        }
