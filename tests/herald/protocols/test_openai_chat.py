"""What is sent as Chat Completions, and what the refusals mean."""

import json
from typing import Any

import pytest

from aster.contracts.blocks import DocumentBlock, ThinkingBlock, ToolResultBlock, ToolUseBlock, UrlSource
from aster.contracts.llm import ModelRequest
from aster.herald.endpoint import Endpoint
from aster.herald.failure import FailureKind, HeraldError
from aster.herald.protocols.openai_chat import OpenAIChatProtocol
from tests.herald.asking import CLOCK, PDF, PNG, asking, assistant, full_request, png, user

_PROTOCOL = OpenAIChatProtocol()
_OPENAI = Endpoint.openai("key")
_LOCAL = Endpoint.openai_compatible("http://127.0.0.1:1/v1", "qwen")


def _body(request: ModelRequest, endpoint: Endpoint = _LOCAL) -> dict[str, Any]:
    path, _, body = _PROTOCOL.encode(request, endpoint)
    assert path == "/chat/completions"
    return json.loads(body)


def test_the_smallest_request() -> None:
    assert _body(asking("Hi", max_tokens=7)) == {
        "model": "scripted",
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_tokens": 7,
        "messages": [{"role": "user", "content": "Hi"}],
    }


def test_the_limit_has_the_name_the_endpoint_knows() -> None:
    body = _body(asking("Hi", max_tokens=7), _OPENAI)
    assert body["max_completion_tokens"] == 7
    assert "max_tokens" not in body


def test_everything_in_its_place() -> None:
    body = _body(full_request("qwen"))
    system, first, second, one, two, rest = body["messages"]
    assert system == {"role": "system", "content": "Be brief."}
    assert [part["type"] for part in first["content"]] == ["text", "image_url", "image_url", "file", "text"]
    assert first["content"][1]["image_url"]["url"] == f"data:image/png;base64,{PNG}"
    assert first["content"][2]["image_url"]["url"] == "https://example.org/cat.png"
    assert first["content"][3]["file"] == {
        "filename": "paper.pdf",
        "file_data": f"data:application/pdf;base64,{PDF}",
    }
    assert first["content"][4]["text"] == "Document “note.md”:\nGrüße"
    assert second["content"] == "I will ask."
    assert second["reasoning_content"] == "Let me look."
    assert second["tool_calls"] == [
        {"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": '{"city":"Bern"}'}},
        {"id": "call_2", "type": "function", "function": {"name": "clock", "arguments": "{}"}},
    ]
    assert (one["role"], one["tool_call_id"]) == ("tool", "call_1")
    assert one["content"].startswith("sunny\n")
    assert two == {"role": "tool", "tool_call_id": "call_2", "content": "no clock"}
    assert rest["role"] == "user"
    assert [part["type"] for part in rest["content"]] == ["text", "image_url", "text"]
    assert body["stop"] == ["END"]
    assert [tool["function"]["name"] for tool in body["tools"]] == ["weather", "clock"]
    assert b"cache_control" not in _PROTOCOL.encode(full_request("qwen"), _LOCAL).body


def test_only_those_who_want_it_get_their_reasoning_back() -> None:
    turn = assistant(ThinkingBlock(text="hm", model="scripted"), "said")
    assert _body(asking("a", turn, "b"))["messages"][1]["reasoning_content"] == "hm"
    assert "reasoning_content" not in _body(asking("a", turn, "b"), _OPENAI)["messages"][1]


def test_calls_without_words() -> None:
    call = ToolUseBlock(id="c", name="clock", input={}, invalid='{"a":')
    message = _body(asking("a", assistant(call), user(ToolResultBlock(tool_use_id="c", content=()))))["messages"]
    assert message[1]["content"] is None
    assert message[1]["tool_calls"][0]["function"]["arguments"] == "{}"
    assert message[2] == {"role": "tool", "tool_call_id": "c", "content": ""}
    assert len(message) == 3


def test_a_result_that_is_only_an_image() -> None:
    results = user(ToolResultBlock(tool_use_id="c", content=(png(),)))
    tool, after = _body(asking(results))["messages"]
    assert tool["content"]
    assert [part["type"] for part in after["content"]] == ["text", "image_url"]


def test_a_document_elsewhere_is_named() -> None:
    document = DocumentBlock(source=UrlSource(url="https://example.org/a.pdf"))
    assert "https://example.org/a.pdf" in _body(asking(user(document)))["messages"][0]["content"]


def test_effort_and_sampling_follow_the_family() -> None:
    fields: dict[str, Any] = {"thinking_budget": 20_000, "temperature": 0.3, "top_p": 0.8, "stop_sequences": ("x",)}
    unknown = _body(asking("a", max_tokens=100, **fields))
    assert unknown["reasoning_effort"] == "high"
    assert unknown["max_tokens"] == 20_100
    assert (unknown["temperature"], unknown["top_p"], unknown["stop"]) == (0.3, 0.8, ["x"])
    plain = _body(asking("a", model="gpt-4o", **fields), _OPENAI)
    assert "reasoning_effort" not in plain
    assert plain["temperature"] == 0.3
    thinker = _body(asking("a", model="gpt-5-mini", **fields), _OPENAI)
    assert thinker["reasoning_effort"] == "high"
    assert not {"temperature", "top_p", "stop"} & thinker.keys()


def test_a_family_that_does_not_think_beside_tools_is_told_so() -> None:
    body = _body(asking("a", model="gpt-5.6-sol", tools=(CLOCK,), thinking_budget=9000), _OPENAI)
    assert body["reasoning_effort"] == "none"
    assert _body(asking("a", model="gpt-5.6-sol", thinking_budget=9000), _OPENAI)["reasoning_effort"] == "medium"


def test_structured_output() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
    answer = _body(asking("a", output_schema=schema))["response_format"]["json_schema"]
    assert answer == {"name": "answer", "schema": {**schema, "additionalProperties": False}, "strict": True}


def test_the_request_id_goes_along() -> None:
    assert _PROTOCOL.encode(asking("a", request_id="r1"), _LOCAL).headers == {"x-client-request-id": "r1"}
    assert _PROTOCOL.encode(asking("a"), _LOCAL).headers == {}


def _failure(status: int, error: Any, headers: dict[str, str] | None = None) -> HeraldError:
    return _PROTOCOL.failure(status, headers or {}, json.dumps({"error": error}).encode())


@pytest.mark.parametrize(
    ("status", "kind", "code", "message", "expected"),
    [
        (400, "invalid_request_error", None, "Invalid value", "bad_request"),
        (400, "invalid_request_error", "context_length_exceeded", "too long", "overflow"),
        (400, "BadRequestError", 400, "This model's maximum context length is 8192 tokens.", "overflow"),
        (400, "exceed_context_size_error", 400, "the request exceeds the available context size", "overflow"),
        (400, "invalid_request_error", "invalid_image_format", "not an image", "refused_media"),
        (401, "invalid_request_error", "invalid_api_key", "wrong key", "auth"),
        (403, "invalid_request_error", "missing_scope", "no", "auth"),
        (404, "invalid_request_error", "model_not_found", "no such model", "bad_request"),
        (413, "invalid_request_error", None, "too large", "overflow"),
        (429, "tokens", "rate_limit_exceeded", "slow down", "rate_limited"),
        (429, "insufficient_quota", "insufficient_quota", "pay", "auth"),
        (500, "server_error", None, "sorry", "provider"),
        (503, "service_unavailable_error", "server_is_overloaded", "busy", "overloaded"),
        (503, "server_error", None, "busy", "overloaded"),
        (504, "server_error", None, "late", "timeout"),
    ],
)
def test_refusals(status: int, kind: str, code: str | int | None, message: str, expected: str) -> None:
    error = _failure(status, {"message": message, "type": kind, "code": code, "param": None})
    assert error.kind == expected
    assert message in error.message
    assert error.details is not None
    assert error.details["status"] == status


def test_other_shapes_of_refusal() -> None:
    assert _failure(404, "model 'x' not found, try pulling it first").kind is FailureKind.BAD_REQUEST
    assert _PROTOCOL.failure(502, {}, b"<html>").kind is FailureKind.PROVIDER
    assert _PROTOCOL.failure(400, {}, b'{"detail":"x"}').kind is FailureKind.BAD_REQUEST


@pytest.mark.parametrize(
    ("span", "seconds"), [("644ms", 0.644), ("6s", 6.0), ("1m30.5s", 90.5), ("2h1m", 7260.0), ("soon", None)]
)
def test_wait_until_the_exhausted_limit_is_reset(span: str, seconds: float | None) -> None:
    headers = {
        "x-ratelimit-remaining-requests": "1",
        "x-ratelimit-reset-requests": "9h",
        "x-ratelimit-remaining-tokens": "0",
        "x-ratelimit-reset-tokens": span,
    }
    error = {"message": "slow", "type": "tokens", "code": "rate_limit_exceeded"}
    assert _failure(429, error, headers).retry_after == seconds
    assert _failure(429, error, {**headers, "retry-after": "4"}).retry_after == 4
