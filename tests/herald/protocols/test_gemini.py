"""What is sent as `generateContent`, and what the refusals mean."""

import json
from typing import Any

import pytest

from aster.contracts.blocks import DocumentBlock, ImageBlock, TextBlock, ThinkingBlock, ToolUseBlock, UrlSource
from aster.contracts.blocks import ToolResultBlock as Result
from aster.contracts.llm import ModelRequest
from aster.herald.endpoint import Endpoint
from aster.herald.failure import FailureKind, HeraldError
from aster.herald.protocols.gemini import GeminiProtocol
from aster.herald.protocols.gemini_stream import MADE
from tests.herald.asking import PDF, PNG, WEATHER, asking, assistant, full_request, png, user

_PROTOCOL = GeminiProtocol()
_ENDPOINT = Endpoint.gemini("key")


def _body(request: ModelRequest) -> dict[str, Any]:
    return json.loads(_PROTOCOL.encode(request, _ENDPOINT).body)


def _ok(call_id: str, text: str = "ok") -> Result:
    return Result(tool_use_id=call_id, content=(TextBlock(text=text),))


def test_the_smallest_request() -> None:
    assert _body(asking("Hi", max_tokens=7)) == {
        "contents": [{"role": "user", "parts": [{"text": "Hi"}]}],
        "generationConfig": {"maxOutputTokens": 7},
    }


@pytest.mark.parametrize(
    ("model", "resource"),
    [
        ("gemini-3.8-flash", "models/gemini-3.8-flash"),
        ("models/gemini-3.8-flash", "models/gemini-3.8-flash"),
        ("tunedModels/mine", "tunedModels/mine"),
        ("../../v1/files", "models/..%2F..%2Fv1%2Ffiles"),
        ("a?key=b#c", "models/a%3Fkey%3Db%23c"),
    ],
)
def test_the_model_is_in_the_path_and_leads_nowhere_else(model: str, resource: str) -> None:
    assert _PROTOCOL.encode(asking("Hi", model=model), _ENDPOINT).path == (
        f"/{resource}:streamGenerateContent?alt=sse"
    )


def test_everything_in_its_place() -> None:
    body = _body(full_request("gemini-2.5-flash"))
    assert body["systemInstruction"] == {"parts": [{"text": "Be brief."}]}
    first, second, third = body["contents"]
    assert [content["role"] for content in body["contents"]] == ["user", "model", "user"]
    assert first["parts"] == [
        {"text": "What is in these?"},
        {"inlineData": {"mimeType": "image/png", "data": PNG}},
        {"fileData": {"mimeType": "image/png", "fileUri": "https://example.org/cat.png"}},
        {"inlineData": {"mimeType": "application/pdf", "data": PDF}},
        {"text": "Document “note.md”:\nGrüße"},
    ]
    assert second["parts"] == [
        {"text": "Let me look.", "thought": True, "thoughtSignature": "c2ln"},
        {"text": "I will ask."},
        {"functionCall": {"name": "weather", "args": {"city": "Bern"}, "id": "call_1"}},
        {"functionCall": {"name": "clock", "args": {}, "id": "call_2"}},
    ]
    assert third["parts"] == [
        {"functionResponse": {"name": "weather", "response": {"output": "sunny"}, "id": "call_1"}},
        {"functionResponse": {"name": "clock", "response": {"error": "no clock"}, "id": "call_2"}},
        {"text": "Attached by the tool weather:"},
        {"inlineData": {"mimeType": "image/png", "data": PNG}},
        {"text": "Go on."},
    ]
    weather, clock = body["tools"][0]["functionDeclarations"]
    assert weather["parameters"] == {
        "type": "OBJECT",
        "properties": {"city": {"type": "STRING"}},
        "required": ["city"],
    }
    assert clock == {"name": "clock", "description": "The time."}
    assert body["generationConfig"]["stopSequences"] == ["END"]


def test_signatures_go_back_on_their_parts_and_only_to_their_model() -> None:
    model = "gemini-3.8-flash"
    turn = assistant(
        ThinkingBlock(text="hm", model=model),
        TextBlock(text="I look.", signature="t1", model=model),
        ToolUseBlock(id="a", name="weather", input={}, signature="s1", model=model),
        ToolUseBlock(id="b", name="weather", input={}),
    )
    said = asking("q", turn, user(_ok("a"), _ok("b")), model=model)
    text, one, two = _body(said)["contents"][1]["parts"]
    assert text == {"text": "I look.", "thoughtSignature": "t1"}
    assert one["thoughtSignature"] == "s1"
    assert "thoughtSignature" not in two
    elsewhere = _body(asking("q", turn, user(_ok("a"), _ok("b")), model="gemini-2.5-pro"))
    assert all("thoughtSignature" not in part for part in elsewhere["contents"][1]["parts"])


def test_a_call_from_elsewhere_says_that_it_is_not_signed() -> None:
    turn = assistant(ToolUseBlock(id="a", name="clock", input={}), ToolUseBlock(id="b", name="clock", input={}))
    one, two = _body(asking("q", turn, user(_ok("a"), _ok("b")), model="gemini-3.8-flash"))["contents"][1]["parts"]
    assert one["thoughtSignature"] == "skip_thought_signature_validator"
    assert "thoughtSignature" not in two


def test_ids_that_were_made_here_are_not_sent() -> None:
    calls = [ToolUseBlock(id=f"{MADE}r_{n}", name="weather", input={"n": n}) for n in (1, 2)]
    results = user(_ok(f"{MADE}r_1", "one"), _ok(f"{MADE}r_2", "two"))
    _, called, returned = _body(asking("q", assistant(*calls), results))["contents"]
    assert [part["functionCall"] for part in called["parts"]] == [
        {"name": "weather", "args": {"n": 1}},
        {"name": "weather", "args": {"n": 2}},
    ]
    assert [part["functionResponse"] for part in returned["parts"]] == [
        {"name": "weather", "response": {"output": "one"}},
        {"name": "weather", "response": {"output": "two"}},
    ]


def test_media_elsewhere() -> None:
    image = ImageBlock(source=UrlSource(url="https://example.org/cat"))
    paper = DocumentBlock(source=UrlSource(url="https://example.org/paper.pdf?x=1.png"))
    one, two = _body(asking(user(image, paper)))["contents"][0]["parts"]
    assert one["fileData"] == {"mimeType": "image/jpeg", "fileUri": "https://example.org/cat"}
    assert two["fileData"]["mimeType"] == "application/pdf"


def test_a_result_that_is_only_an_image() -> None:
    turn = assistant(ToolUseBlock(id="c", name="look", input={}))
    returned = _body(asking("q", turn, user(Result(tool_use_id="c", content=(png(),)))))["contents"][2]["parts"]
    assert [next(iter(part)) for part in returned] == ["functionResponse", "text", "inlineData"]
    assert returned[0]["functionResponse"]["response"] == {"output": ""}


def test_thinking_and_sampling_follow_the_family() -> None:
    def config(model: str, **fields: Any) -> dict[str, Any]:
        return _body(asking("a", model=model, **fields))["generationConfig"]

    assert config("gemini-3.8-flash", thinking_budget=20_000)["thinkingConfig"] == {
        "includeThoughts": True,
        "thinkingLevel": "HIGH",
    }
    assert config("gemini-3.8-flash")["thinkingConfig"] == {"includeThoughts": True}
    assert config("gemini-2.5-flash", thinking_budget=8192)["thinkingConfig"]["thinkingBudget"] == 8192
    assert config("gemini-2.5-flash", thinking_budget=90_000)["thinkingConfig"]["thinkingBudget"] == 24_576
    assert config("gemini-2.5-flash", thinking_budget=0)["thinkingConfig"]["thinkingBudget"] == 0
    assert config("gemini-2.5-pro", thinking_budget=0)["thinkingConfig"]["thinkingBudget"] == 128
    assert "thinkingConfig" not in config("gemma-9")
    assert config("gemma-9", thinking_budget=100)["thinkingConfig"]["thinkingBudget"] == 100
    sampled = config("gemini-2.5-pro", temperature=0.3, top_p=0.8, max_tokens=100, thinking_budget=1000)
    assert (sampled["temperature"], sampled["topP"], sampled["maxOutputTokens"]) == (0.3, 0.8, 1100)


def test_structured_output() -> None:
    config = _body(asking("a", output_schema=WEATHER.input_schema))["generationConfig"]
    assert config["responseMimeType"] == "application/json"
    assert config["responseSchema"]["properties"] == {"city": {"type": "STRING"}}


def _failure(status: int, error: Any, headers: dict[str, str] | None = None) -> HeraldError:
    return _PROTOCOL.failure(status, headers or {}, json.dumps({"error": error}).encode())


@pytest.mark.parametrize(
    ("code", "status", "message", "expected"),
    [
        (400, "INVALID_ARGUMENT", "Invalid value", "bad_request"),
        (400, "INVALID_ARGUMENT", "The input token count (9) exceeds the maximum number of tokens", "overflow"),
        (400, "INVALID_ARGUMENT", "Request payload size exceeds the limit: 1 bytes.", "overflow"),
        (400, "INVALID_ARGUMENT", "Unable to process input image. Please retry", "refused_media"),
        (400, "INVALID_ARGUMENT", "Unsupported MIME type: image/x", "refused_media"),
        (400, "FAILED_PRECONDITION", "User location is not supported", "auth"),
        (401, "UNAUTHENTICATED", "who", "auth"),
        (403, "PERMISSION_DENIED", "no", "auth"),
        (404, "NOT_FOUND", "no such model", "bad_request"),
        (429, "RESOURCE_EXHAUSTED", "slow down", "rate_limited"),
        (499, "CANCELLED", "gone", "provider"),
        (500, "INTERNAL", "sorry", "provider"),
        (503, "UNAVAILABLE", "busy", "overloaded"),
        (504, "DEADLINE_EXCEEDED", "late", "timeout"),
        (418, "TEAPOT", "tea", "bad_request"),
    ],
)
def test_refusals(code: int, status: str, message: str, expected: str) -> None:
    error = _failure(code, {"code": code, "message": message, "status": status})
    assert error.kind == expected
    assert message in error.message
    assert error.details == {"kind": expected, "status": code, "provider_code": status}


def test_the_reason_in_the_details_decides() -> None:
    details = [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID", "metadata": {}}]
    error = _failure(400, {"code": 400, "message": "no", "status": "INVALID_ARGUMENT", "details": details})
    assert (error.kind, error.details) == (
        FailureKind.AUTH,
        {"kind": "auth", "status": 400, "provider_code": "API_KEY_INVALID"},
    )


@pytest.mark.parametrize(("delay", "seconds"), [("34s", 34.0), ("0.512s", 0.512), ("soon", None)])
def test_the_time_to_wait(delay: str, seconds: float | None) -> None:
    details = [
        {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"quotaId": "PerDay"}]},
        {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay},
    ]
    error = {"code": 429, "message": "slow", "status": "RESOURCE_EXHAUSTED", "details": details}
    assert _failure(429, error).retry_after == seconds
    assert _failure(429, error, {"retry-after": "4"}).retry_after == 4


def test_other_shapes_of_refusal() -> None:
    listed = b'[{"error":{"code":429,"message":"slow","status":"RESOURCE_EXHAUSTED"}}]'
    assert _PROTOCOL.failure(429, {}, listed).kind is FailureKind.RATE_LIMITED
    assert _PROTOCOL.failure(502, {}, b"<html>").kind is FailureKind.PROVIDER
    assert _PROTOCOL.failure(413, {}, b"[]").kind is FailureKind.OVERFLOW
