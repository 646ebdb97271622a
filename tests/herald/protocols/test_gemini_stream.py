"""Parts become blocks, whatever the cut; signatures stay with what they came on."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aster.contracts.blocks import TextBlock, ThinkingBlock, ToolUseBlock
from aster.contracts.llm import CallFinished, StopReason, TokenUsage
from aster.herald.failure import FailureKind, HeraldError
from aster.herald.protocols.gemini import GeminiProtocol
from aster.herald.protocols.gemini_stream import GeminiDecoder
from tests.herald.asking import asking, assistant, user
from tests.herald.protocols.recorded import blocks_of, check_order, cut, finish_of, read


def _chunk(*parts: dict[str, Any], finish: str | None = None, **fields: Any) -> bytes:
    candidate: dict[str, Any] = {"content": {"parts": list(parts), "role": "model"}, "index": 0}
    if finish is not None:
        candidate["finishReason"] = finish
    body = {"candidates": [candidate], "modelVersion": "gemini-x", "responseId": "r1", **fields}
    return f"data: {json.dumps(body)}\r\n\r\n".encode()


def _thought(text: str) -> dict[str, Any]:
    return {"text": text, "thought": True}


def _call(name: str, signature: str | None = None, **fields: Any) -> dict[str, Any]:
    part: dict[str, Any] = {"functionCall": {"name": name, **fields}}
    return part | {"thoughtSignature": signature} if signature else part


_USAGE = {
    "promptTokenCount": 512,
    "cachedContentTokenCount": 500,
    "candidatesTokenCount": 29,
    "thoughtsTokenCount": 60,
    "totalTokenCount": 601,
}
ANSWER = b"".join(
    [
        _chunk(_thought("First, ")),
        _chunk(_thought("think — 考える.")),
        _chunk({"text": "I'll look\u2028 "}),
        _chunk({"text": "both up."}),
        _chunk(_call("weather", "s1", args={"city": "Zürich"}), _call("clock", args={})),
        _chunk(_call("weather", id="own-1")),
        _chunk({"text": ""}, finish="STOP", usageMetadata=_USAGE),
    ]
)


def _read(*chunks: bytes) -> list[object]:
    seen: list[object] = [*read(GeminiDecoder("asked"), chunks)]
    check_order(seen)
    return seen


def test_a_whole_answer() -> None:
    seen = _read(ANSWER)
    assert blocks_of(seen) == [
        ThinkingBlock(text="First, think — 考える.", model="asked"),
        TextBlock(text="I'll look\u2028 both up."),
        ToolUseBlock(id="made_r1_1", name="weather", input={"city": "Zürich"}, signature="s1", model="asked"),
        ToolUseBlock(id="made_r1_2", name="clock", input={}),
        ToolUseBlock(id="own-1", name="weather", input={}),
    ]
    assert finish_of(seen) == CallFinished(
        stop_reason=StopReason.TOOL_USE,
        usage=TokenUsage(input=12, output=89, cache_read=500),
        model="gemini-x",
        provider_id="r1",
    )


_WHOLE = _read(ANSWER)


@given(st.lists(st.integers(0, len(ANSWER)), max_size=40))
def test_any_cut_gives_the_same_events(places: list[int]) -> None:
    assert _read(*cut(ANSWER, places)) == _WHOLE


@given(st.integers(0, ANSWER.index(b'"finishReason"')))
def test_a_stream_that_stops_before_its_finish_is_a_cut_off_prefix(length: int) -> None:
    *events, error = _read(ANSWER[:length])
    assert isinstance(error, HeraldError)
    assert error.kind is FailureKind.TRANSPORT
    assert events == _WHOLE[: len(events)]


def test_a_signature_on_text_and_on_thought() -> None:
    signed = {"text": "", "thoughtSignature": "t1"}
    (said,) = blocks_of(_read(_chunk({"text": "Hi."}), _chunk(signed, finish="STOP")))
    assert said == TextBlock(text="Hi.", signature="t1", model="asked")
    (thought,) = blocks_of(_read(_chunk(_thought("hm")), _chunk(signed, finish="STOP")))
    assert thought == ThinkingBlock(text="hm", signature="t1", model="asked")
    seen = _read(_chunk({**_thought("hm"), "thoughtSignature": "t2"}), _chunk({"text": "Hi."}, finish="STOP"))
    assert blocks_of(seen) == [ThinkingBlock(text="hm", signature="t2", model="asked"), TextBlock(text="Hi.")]
    assert blocks_of(_read(_chunk(signed, finish="STOP"))) == []


def test_ids_do_not_repeat_within_a_conversation() -> None:
    earlier = assistant(ToolUseBlock(id="made_call_1", name="clock", input={}))
    decoder = GeminiProtocol().decoder(asking("a", earlier, user("b")))
    nameless = _chunk(_call("clock"), finish="STOP").replace(b'"responseId": "r1"', b'"responseId": null')
    (block,) = blocks_of([*read(decoder, [nameless])])
    assert isinstance(block, ToolUseBlock)
    assert block.id == "made_call_2"


@pytest.mark.parametrize(
    ("wire", "reason"),
    [
        ("STOP", StopReason.END_TURN),
        ("MAX_TOKENS", StopReason.MAX_TOKENS),
        ("CONTINUATION", StopReason.MAX_TOKENS),
        ("SAFETY", StopReason.REFUSAL),
        ("RECITATION", StopReason.REFUSAL),
        ("PROHIBITED_CONTENT", StopReason.REFUSAL),
    ],
)
def test_stop_reasons(wire: str, reason: StopReason) -> None:
    assert finish_of(_read(_chunk({"text": "a"}, finish=wire))).stop_reason is reason


def test_a_prompt_that_was_blocked() -> None:
    body = {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "usageMetadata": {"promptTokenCount": 4}}
    seen = _read(f"data: {json.dumps(body)}\n\n".encode())
    assert finish_of(seen).stop_reason is StopReason.REFUSAL
    assert finish_of(seen).usage == TokenUsage(input=4)
    assert len(seen) == 1


def test_a_finish_without_content() -> None:
    bare = b'data: {"candidates":[{"finishReason":"MAX_TOKENS","index":0}]}\n\n'
    assert finish_of(_read(bare)).stop_reason is StopReason.MAX_TOKENS
    empty = b'data: {"candidates":[{"content":{"role":"model"},"finishReason":"STOP"}]}\n\n'
    assert finish_of(_read(empty)) == CallFinished(
        stop_reason=StopReason.END_TURN, usage=TokenUsage(), model="asked"
    )


def test_parts_of_other_kinds_are_passed_over() -> None:
    other = {"executableCode": {"language": "PYTHON", "code": "1"}}
    seen = _read(_chunk({"text": "a"}), _chunk(other), _chunk({"text": "b"}, finish="STOP"))
    assert blocks_of(seen) == [TextBlock(text="ab")]


@pytest.mark.parametrize("reason", ["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "OTHER", "BRAND_NEW"])
def test_an_answer_the_model_could_not_write(reason: str) -> None:
    failure = _read(_chunk(finish=reason))[-1]
    assert isinstance(failure, HeraldError)
    assert (failure.kind, failure.retryable) == (FailureKind.PROVIDER, True)
    assert failure.details is not None
    assert failure.details["provider_code"] == reason


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        ({"code": 503, "message": "Oh", "status": "UNAVAILABLE"}, FailureKind.OVERLOADED),
        ({"code": 429, "message": "Oh", "status": "RESOURCE_EXHAUSTED"}, FailureKind.RATE_LIMITED),
        ({"code": 500, "message": "Oh"}, FailureKind.PROVIDER),
        ({"message": "Oh"}, FailureKind.PROVIDER),
    ],
)
def test_an_error_inside_the_stream(error: dict[str, Any], expected: FailureKind) -> None:
    *events, failure = _read(_chunk({"text": "a"}), f"data: {json.dumps({'error': error})}\n\n".encode())
    assert isinstance(failure, HeraldError)
    assert failure.kind is expected
    assert "Oh" in failure.message
    assert len(events) == 2


def test_frames_that_are_none() -> None:
    for frame in (b"data: {nope\n\n", b"data: null\n\n", b'data: {"candidates":3}\n\n'):
        failure = _read(frame)[-1]
        assert isinstance(failure, HeraldError)
        assert failure.kind is FailureKind.PROVIDER
