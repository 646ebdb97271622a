"""What is sent as Responses, and what the refusals mean."""

import json
from typing import Any

import pytest

from aster.contracts.blocks import (
    Base64Source,
    DocumentBlock,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
    UrlSource,
)
from aster.contracts.llm import ModelRequest
from aster.herald.endpoint import Endpoint
from aster.herald.failure import FailureKind, HeraldError
from aster.herald.protocols.openai_responses import OpenAIResponsesProtocol
from tests.herald.asking import CLOCK, PDF, PNG, asking, assistant, full_request, png, user

_PROTOCOL = OpenAIResponsesProtocol()
_OPENAI = Endpoint.openai("key", "gpt-6-sol")
_LOCAL = Endpoint.openai_compatible("http://127.0.0.1:1/v1", "qwen", api="responses")


def _body(request: ModelRequest, endpoint: Endpoint = _OPENAI) -> dict[str, Any]:
    path, _, body = _PROTOCOL.encode(request, endpoint)
    assert path == "/responses"
    return json.loads(body)


def test_the_smallest_request() -> None:
    assert _body(asking("Hi", max_tokens=700, model="gpt-4o")) == {
        "model": "gpt-4o",
        "stream": True,
        "store": False,
        "max_output_tokens": 700,
        "input": [{"role": "user", "content": [{"type": "input_text", "text": "Hi"}]}],
    }
    assert _body(asking("Hi", max_tokens=1))["max_output_tokens"] == 16


def test_everything_in_its_place() -> None:
    body = _body(full_request("gpt-6-sol"))
    assert body["instructions"] == "Be brief."
    assert [item.get("type", item.get("role")) for item in body["input"]] == [
        *("user", "assistant", "function_call", "function_call"),
        *("function_call_output", "function_call_output", "user"),
    ]
    said, answer, weather, clock, one, two, rest = body["input"]
    assert [part["type"] for part in said["content"]] == [
        *("input_text", "input_image", "input_image", "input_file", "input_text")
    ]
    assert said["content"][1] == {
        "type": "input_image",
        "image_url": f"data:image/png;base64,{PNG}",
        "detail": "auto",
    }
    assert said["content"][2]["image_url"] == "https://example.org/cat.png"
    assert said["content"][3]["file_data"] == f"data:application/pdf;base64,{PDF}"
    assert said["content"][4]["text"] == "Document “note.md”:\nGrüße"
    assert answer == {"role": "assistant", "content": "I will ask."}
    assert weather == {
        "type": "function_call",
        "call_id": "call_1",
        "name": "weather",
        "arguments": '{"city":"Bern"}',
    }
    assert clock["arguments"] == "{}"
    assert [part["type"] for part in one["output"]] == ["input_text", "input_image"]
    assert two == {"type": "function_call_output", "call_id": "call_2", "output": "no clock"}
    assert rest == {"role": "user", "content": [{"type": "input_text", "text": "Go on."}]}
    assert [(tool["type"], tool["name"], tool["strict"]) for tool in body["tools"]] == [
        ("function", "weather", False),
        ("function", "clock", False),
    ]


def test_reasoning_goes_back_whole_and_only_to_its_model() -> None:
    thought = ThinkingBlock(text="hm", signature="rs_1", encrypted="x", model="gpt-6-sol")
    silent = ThinkingBlock(text="", signature="rs_2", encrypted="y", model="gpt-6-sol")
    turn = assistant(thought, silent, "said")
    first, second, _ = _body(asking("a", turn, "b", model="gpt-6-sol"))["input"][1:4]
    summary = [{"type": "summary_text", "text": "hm"}]
    assert first == {"type": "reasoning", "id": "rs_1", "summary": summary, "encrypted_content": "x"}
    assert second == {"type": "reasoning", "id": "rs_2", "summary": [], "encrypted_content": "y"}
    other = _body(asking("a", turn, "b", model="gpt-5"))["input"]
    assert [item["role"] for item in other] == ["user", "assistant", "user"]


def test_reasoning_that_was_not_encrypted_goes_back_to_those_who_want_it() -> None:
    turn = assistant(ThinkingBlock(text="hm", signature="rs_1", model="scripted"), "said")
    assert len(_body(asking("a", turn, "b"))["input"]) == 3
    echoed = _body(asking("a", turn, "b"), _LOCAL)["input"][1]
    assert echoed["content"] == [{"type": "reasoning_text", "text": "hm"}]
    nameless = assistant(ThinkingBlock(text="hm", model="scripted"), "said")
    assert len(_body(asking("a", nameless, "b"), _LOCAL)["input"]) == 3


def test_reasoning_that_led_to_nothing_stays_away() -> None:
    late = ThinkingBlock(text="hm", signature="rs_1", encrypted="x", model="scripted")
    assert [item["role"] for item in _body(asking("a", assistant("said", late), "b"))["input"]] == [
        *("user", "assistant", "user")
    ]


def test_the_phase_of_a_message_goes_back_to_its_model() -> None:
    said = TextBlock(text="Let me see.", signature="commentary", model="scripted")
    assert _body(asking("a", assistant(said), "b"))["input"][1]["phase"] == "commentary"
    assert "phase" not in _body(asking("a", assistant(said), "b", model="gpt-5"))["input"][1]
    foreign = TextBlock(text="Let me see.", signature="c2ln", model="scripted")
    assert "phase" not in _body(asking("a", assistant(foreign), "b"))["input"][1]


def test_documents() -> None:
    remote = DocumentBlock(source=UrlSource(url="https://example.org/a.pdf"))
    nameless = DocumentBlock(source=Base64Source(media_type="application/pdf", data=PDF))
    one, two = _body(asking(user(remote, nameless)))["input"][0]["content"]
    assert one == {"type": "input_file", "file_url": "https://example.org/a.pdf"}
    assert two["filename"] == "document"
    with pytest.raises(HeraldError) as caught:
        _body(asking(user(DocumentBlock(source=Base64Source(media_type="text/plain", data="x")))))
    assert caught.value.kind is FailureKind.REFUSED_MEDIA


def test_results_of_every_kind() -> None:
    call = ToolUseBlock(id="c", name="clock", input={}, invalid='{"a":')
    results = user(ToolResultBlock(tool_use_id="c", content=()))
    assert _body(asking("a", assistant(call), results))["input"][1:] == [
        {"type": "function_call", "call_id": "c", "name": "clock", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": ""},
    ]
    image = user(ToolResultBlock(tool_use_id="c", content=(png(),)))
    assert _body(asking("a", assistant(call), image))["input"][2]["output"][0]["type"] == "input_image"


def test_effort_and_sampling_follow_the_family() -> None:
    fields: dict[str, Any] = {"thinking_budget": 20_000, "temperature": 0.3, "top_p": 0.8, "max_tokens": 100}
    unknown = _body(asking("a", **fields))
    assert unknown["reasoning"] == {"effort": "high", "summary": "auto"}
    assert (unknown["temperature"], unknown["top_p"], unknown["max_output_tokens"]) == (0.3, 0.8, 20_100)
    plain = _body(asking("a", model="gpt-4o", **fields))
    assert not {"reasoning", "include"} & plain.keys()
    thinker = _body(asking("a", model="gpt-5.6-sol", tools=(CLOCK,), **fields))
    assert thinker["reasoning"]["effort"] == "high"
    assert thinker["include"] == ["reasoning.encrypted_content"]
    assert not {"temperature", "top_p"} & thinker.keys()
    assert "reasoning" not in _body(asking("a", model="gpt-5.6-sol"))
    assert _body(asking("a", model="gpt-5", thinking_budget=0))["reasoning"] == {"effort": "low"}


def test_structured_output() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
    assert _body(asking("a", output_schema=schema))["text"]["format"] == {
        "type": "json_schema",
        "name": "answer",
        "schema": {**schema, "additionalProperties": False},
        "strict": True,
    }


def test_the_request_id_goes_along() -> None:
    assert _PROTOCOL.encode(asking("a", request_id="r1"), _OPENAI).headers == {"x-client-request-id": "r1"}
    assert _PROTOCOL.encode(asking("a"), _OPENAI).headers == {}


@pytest.mark.parametrize(
    ("status", "error", "expected"),
    [
        (400, {"type": "invalid_request_error", "code": "context_length_exceeded"}, "overflow"),
        (400, {"type": "invalid_request_error", "code": "invalid_image"}, "refused_media"),
        (400, {"type": "invalid_request_error", "code": "invalid_prompt"}, "bad_request"),
        (401, {"type": "invalid_request_error", "code": "invalid_api_key"}, "auth"),
        (429, {"type": "requests", "code": "rate_limit_exceeded"}, "rate_limited"),
        (503, {"type": "service_unavailable_error", "code": "server_is_overloaded"}, "overloaded"),
    ],
)
def test_refusals(status: int, error: dict[str, str], expected: str) -> None:
    body = json.dumps({"error": {"message": "no", **error}}).encode()
    failure = _PROTOCOL.failure(status, {"retry-after": "3"}, body)
    assert (failure.kind, failure.retry_after) == (expected, 3.0)
