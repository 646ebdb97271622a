"""What is sent to Anthropic, and what its refusals mean."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from aster.contracts.blocks import Base64Source, DocumentBlock, ThinkingBlock, ToolResultBlock, ToolUseBlock
from aster.contracts.llm import ModelRequest
from aster.herald.endpoint import Endpoint
from aster.herald.failure import FailureKind, HeraldError
from aster.herald.protocols.anthropic import AnthropicProtocol
from tests.herald.asking import CLOCK, NOTE, PDF, PNG, WEATHER, asking, assistant, full_request, user

_PROTOCOL = AnthropicProtocol()
_ENDPOINT = Endpoint.anthropic("key")
_EPHEMERAL = {"type": "ephemeral"}


def _body(request: ModelRequest) -> dict[str, Any]:
    path, headers, body = _PROTOCOL.encode(request, _ENDPOINT)
    assert (path, headers) == ("/v1/messages", {})
    return json.loads(body)


def test_the_smallest_request() -> None:
    assert _body(asking("Hi", max_tokens=7)) == {
        "model": "scripted",
        "max_tokens": 7,
        "stream": True,
        "messages": [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}],
    }


def test_everything_in_its_place() -> None:
    body = _body(full_request("claude-haiku-4-5"))
    assert body["system"] == [{"type": "text", "text": "Be brief.", "cache_control": _EPHEMERAL}]
    assert [tool.get("cache_control") for tool in body["tools"]] == [None, _EPHEMERAL]
    assert body["stop_sequences"] == ["END"]
    first, second, third = body["messages"]
    assert [block["type"] for block in first["content"]] == ["text", "image", "image", "document", "document"]
    image, remote, pdf, note = first["content"][1:]
    assert image["source"] == {"type": "base64", "media_type": "image/png", "data": PNG}
    assert remote["source"] == {"type": "url", "url": "https://example.org/cat.png"}
    assert (pdf["source"]["data"], pdf["title"]) == (PDF, "paper.pdf")
    assert note["source"] == {"type": "text", "media_type": "text/plain", "data": "Grüße"}
    assert second["content"] == [
        {"type": "thinking", "thinking": "Let me look.", "signature": "c2ln"},
        {"type": "redacted_thinking", "data": "c2VjcmV0"},
        {"type": "text", "text": "I will ask."},
        {"type": "tool_use", "id": "call_1", "name": "weather", "input": {"city": "Bern"}},
        {"type": "tool_use", "id": "call_2", "name": "clock", "input": {}, "cache_control": _EPHEMERAL},
    ]
    assert [block["type"] for block in third["content"]] == ["tool_result", "tool_result", "text"]
    assert [part["type"] for part in third["content"][0]["content"]] == ["text", "image"]
    assert third["content"][1]["is_error"] is True
    assert "is_error" not in third["content"][0]


def test_the_prefix_is_byte_stable() -> None:
    one, two = (
        _PROTOCOL.encode(asking("a", text, tools=(WEATHER, CLOCK), system="s"), _ENDPOINT).body for text in "bc"
    )
    assert one[: one.index(b'"b"')] == two[: two.index(b'"c"')]


def test_thoughts_without_a_signature_stay_here() -> None:
    body = _body(
        asking("a", assistant(ThinkingBlock(text="hm"), "said", ThinkingBlock(text="x", signature="s")), "b")
    )
    assert body["messages"][1]["content"] == [{"type": "text", "text": "said"}]


def test_thinking_by_budget() -> None:
    body = _body(asking("a", model="claude-haiku-4-5", thinking_budget=2000, max_tokens=500, temperature=0.2))
    assert body["thinking"] == {"type": "enabled", "budget_tokens": 2000}
    assert body["max_tokens"] == 2500
    assert "temperature" not in body
    assert _body(asking("a", thinking_budget=10))["thinking"]["budget_tokens"] == 1024
    assert "thinking" not in _body(asking("a", thinking_budget=0))
    assert "thinking" not in _body(asking("a"))


def test_a_budget_waits_for_the_end_of_a_loop_begun_without_thinking() -> None:
    call = ToolUseBlock(id="c", name="clock", input={})
    result = ToolResultBlock(tool_use_id="c", content=())
    thought = ThinkingBlock(text="t", signature="s")
    loop = asking("a", assistant("x", call), user(result), thinking_budget=2000)
    assert "thinking" not in _body(loop)
    assert "thinking" in _body(asking("a", assistant(thought, call), user(result), thinking_budget=2000))
    assert "thinking" in _body(asking("a", assistant("done"), user("more"), thinking_budget=2000))


def test_thinking_by_effort() -> None:
    body = _body(asking("a", model="claude-sonnet-5-5", thinking_budget=8000, temperature=0.2, top_p=0.9))
    assert body["thinking"] == {"type": "adaptive", "display": "summarized"}
    assert body["output_config"] == {"effort": "medium"}
    assert not {"temperature", "top_p"} & body.keys()
    off = _body(asking("a", model="claude-sonnet-5-5", thinking_budget=0))
    assert off["output_config"] == {"effort": "low"}
    assert "thinking" not in off


def test_sampling_where_it_is_taken() -> None:
    assert _body(asking("a", temperature=0.2, top_p=0.9))["temperature"] == 0.2
    assert "top_p" not in _body(asking("a", temperature=0.2, top_p=0.9))
    assert _body(asking("a", top_p=0.9))["top_p"] == 0.9
    assert "temperature" not in _body(asking("a", model="claude-opus-4-8", temperature=0.2))


def test_structured_output() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    body = _body(asking("a", output_schema=schema))
    assert body["output_config"]["format"] == {
        "type": "json_schema",
        "schema": {**schema, "additionalProperties": False},
    }


def test_a_broken_document_is_refused_before_it_is_sent() -> None:
    document = DocumentBlock(source=Base64Source(media_type="text/plain", data=NOTE[:-3]))
    with pytest.raises(HeraldError) as caught:
        _body(asking(user(document)))
    assert caught.value.kind is FailureKind.REFUSED_MEDIA


def _failure(status: int, body: dict[str, Any] | bytes, headers: dict[str, str] | None = None) -> HeraldError:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return _PROTOCOL.failure(status, headers or {}, data)


def _error(kind: str, message: str = "no") -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}


@pytest.mark.parametrize(
    ("status", "kind", "message", "expected"),
    [
        (400, "invalid_request_error", "messages: at least one message is required", "bad_request"),
        (400, "invalid_request_error", "prompt is too long: 214315 tokens > 200000 maximum", "overflow"),
        (400, "invalid_request_error", "input length and `max_tokens` exceed context limit: 9 + 9 > 9", "overflow"),
        (400, "invalid_request_error", "messages.0.content.1.image.source.base64.data: too large", "refused_media"),
        (400, "invalid_request_error", "Could not process image", "refused_media"),
        (401, "authentication_error", "invalid x-api-key", "auth"),
        (402, "billing_error", "pay", "auth"),
        (403, "permission_error", "no", "auth"),
        (404, "not_found_error", "model: x", "bad_request"),
        (413, "request_too_large", "too large", "overflow"),
        (429, "rate_limit_error", "slow", "rate_limited"),
        (500, "api_error", "oh", "provider"),
        (504, "timeout_error", "late", "timeout"),
        (529, "overloaded_error", "busy", "overloaded"),
        (429, "a_new_kind", "?", "rate_limited"),
    ],
)
def test_refusals(status: int, kind: str, message: str, expected: str) -> None:
    error = _failure(status, _error(kind, message))
    assert error.kind == expected
    assert message in error.message
    assert error.details == {"kind": expected, "status": status, "provider_code": kind}


def test_a_refusal_that_is_no_json() -> None:
    error = _failure(502, b"<html>Bad gateway</html>", {"retry-after": "3"})
    assert (error.kind, error.retry_after) == (FailureKind.PROVIDER, 3.0)
    assert "Bad gateway" in error.message


def test_wait_until_the_exhausted_limit_is_reset() -> None:
    soon, late = ((datetime.now(UTC) + timedelta(seconds=s)).strftime("%Y-%m-%dT%H:%M:%SZ") for s in (20, 900))
    headers = {
        "anthropic-ratelimit-requests-remaining": "3",
        "anthropic-ratelimit-requests-reset": late,
        "anthropic-ratelimit-tokens-remaining": "0",
        "anthropic-ratelimit-tokens-reset": soon,
        "anthropic-ratelimit-input-tokens-remaining": "0",
        "anthropic-ratelimit-input-tokens-reset": "whenever",
    }
    wait = _failure(429, _error("rate_limit_error"), headers).retry_after
    assert wait is not None
    assert 15 < wait <= 20
    assert _failure(429, _error("rate_limit_error"), {**headers, "retry-after": "4"}).retry_after == 4
    assert _failure(429, _error("rate_limit_error")).retry_after is None
