"""Items become blocks, whatever the cut, and however much of the documented sequence a server leaves out."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aster.contracts.blocks import TextBlock, ThinkingBlock, ToolUseBlock
from aster.contracts.llm import CallFinished, StopReason, TextPart, TokenUsage
from aster.herald.failure import FailureKind, HeraldError
from aster.herald.protocols.openai_responses_stream import OpenAIResponsesDecoder
from tests.herald.protocols.recorded import blocks_of, check_order, cut, finish_of, read


def _frame(kind: str, **fields: Any) -> bytes:
    data = json.dumps({"type": kind, "sequence_number": 0, **fields})
    return f"event: {kind}\ndata: {data}\n\n".encode()


def _added(place: int, **item: Any) -> bytes:
    return _frame("response.output_item.added", output_index=place, item=item)


def _done(place: int, **item: Any) -> bytes:
    return _frame("response.output_item.done", output_index=place, item=item)


def _text(place: int, delta: str) -> bytes:
    at = {"item_id": "msg_1", "output_index": place, "content_index": 0}
    return _frame("response.output_text.delta", **at, delta=delta, logprobs=[])


def _summary(place: int, delta: str, part: int = 0) -> bytes:
    at = {"item_id": "rs_1", "output_index": place, "summary_index": part}
    return _frame("response.reasoning_summary_text.delta", **at, delta=delta)


def _part(place: int, part: int = 0) -> bytes:
    at = {"item_id": "rs_1", "output_index": place, "summary_index": part}
    return _frame("response.reasoning_summary_part.added", **at, part={"type": "summary_text", "text": ""})


def _arguments(place: int, delta: str) -> bytes:
    at = {"item_id": "fc_1", "output_index": place}
    return _frame("response.function_call_arguments.delta", **at, delta=delta)


def _call(call_id: str, name: str, arguments: str = "") -> dict[str, Any]:
    return {"type": "function_call", "id": "fc_1", "call_id": call_id, "name": name, "arguments": arguments}


def _end(kind: str = "response.completed", **fields: Any) -> bytes:
    return _frame(kind, response={"id": "resp_1", "model": "gpt-x", "output": [], **fields})


_USAGE = {
    "input_tokens": 542,
    "input_tokens_details": {"cached_tokens": 500, "cache_write_tokens": 30},
    "output_tokens": 89,
    "output_tokens_details": {"reasoning_tokens": 60},
    "total_tokens": 631,
}
ANSWER = b"".join(
    [
        _frame("response.created", response={"id": "resp_1", "model": "gpt-x", "output": []}),
        _frame("response.in_progress", response={"id": "resp_1", "model": "gpt-x", "output": []}),
        _added(0, type="reasoning", id="rs_1", summary=[], encrypted_content="unfinished"),
        _part(0),
        _summary(0, "First, "),
        b": keep-alive\n\n",
        _summary(0, "think"),
        _part(0, 1),
        _summary(0, "— 考える.", 1),
        _done(0, type="reasoning", id="rs_1", summary=[], encrypted_content="secret"),
        _added(1, type="web_search_call", id="ws_1"),
        _done(1, type="web_search_call", id="ws_1"),
        _added(2, type="message", id="msg_1", role="assistant", content=[]),
        _text(2, "I'll look\u2028 "),
        _text(2, "both up."),
        _done(2, type="message", id="msg_1", role="assistant", phase="commentary", content=[]),
        _added(3, **_call("call_1", "weather")),
        _arguments(3, '{"city": "Zü'),
        _arguments(3, 'rich"}'),
        _done(3, **_call("call_1", "weather", '{"city": "Zürich"}')),
        _added(4, **_call("call_2", "clock")),
        _done(4, **_call("call_2", "clock")),
        _added(5, **_call("call_3", "weather")),
        _arguments(5, "[1"),
        _done(5, **_call("call_3", "weather", "[1")),
        _end(usage=_USAGE),
    ]
)


def _read(*chunks: bytes, stops: tuple[str, ...] = ()) -> list[object]:
    seen: list[object] = [*read(OpenAIResponsesDecoder("asked", stops), chunks)]
    check_order(seen)
    return seen


def test_a_whole_answer() -> None:
    seen = _read(ANSWER)
    thought = "First, think\n\n— 考える."
    assert blocks_of(seen) == [
        ThinkingBlock(text=thought, signature="rs_1", encrypted="secret", model="asked"),
        TextBlock(text="I'll look\u2028 both up.", signature="commentary", model="asked"),
        ToolUseBlock(id="call_1", name="weather", input={"city": "Zürich"}),
        ToolUseBlock(id="call_2", name="clock", input={}),
        ToolUseBlock(id="call_3", name="weather", input={}, invalid="[1"),
    ]
    assert finish_of(seen) == CallFinished(
        stop_reason=StopReason.TOOL_USE,
        usage=TokenUsage(input=12, output=89, cache_read=500, cache_write=30),
        model="gpt-x",
        provider_id="resp_1",
    )


_WHOLE = _read(ANSWER)


@given(st.lists(st.integers(0, len(ANSWER)), max_size=40))
def test_any_cut_gives_the_same_events(places: list[int]) -> None:
    assert _read(*cut(ANSWER, places)) == _WHOLE


@given(st.integers(0, len(ANSWER) - 2))
def test_a_stream_that_stops_before_its_end_is_a_cut_off_prefix(length: int) -> None:
    *events, error = _read(ANSWER[:length])
    assert isinstance(error, HeraldError)
    assert error.kind is FailureKind.TRANSPORT
    assert events == _WHOLE[: len(events)]


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        ("max_output_tokens", StopReason.MAX_TOKENS),
        ("content_filter", StopReason.REFUSAL),
        ("something_new", StopReason.MAX_TOKENS),
    ],
)
def test_incomplete_answers(reason: str, expected: StopReason) -> None:
    seen = _read(_text(0, "half of a"), _end("response.incomplete", incomplete_details={"reason": reason}))
    assert blocks_of(seen) == [TextBlock(text="half of a")]
    assert finish_of(seen).stop_reason is expected


def test_a_call_that_was_cut_off_at_the_limit() -> None:
    cut_off = _end("response.incomplete", incomplete_details={"reason": "max_output_tokens"})
    seen = _read(_added(0, **_call("c", "clock")), _arguments(0, '{"zone": "U'), cut_off)
    assert blocks_of(seen) == [ToolUseBlock(id="c", name="clock", input={}, invalid='{"zone": "U')]
    assert finish_of(seen).stop_reason is StopReason.MAX_TOKENS


def test_a_refusal_is_said() -> None:
    refusal = _frame("response.refusal.delta", item_id="m", output_index=0, content_index=0, delta="I cannot.")
    seen = _read(refusal, _end())
    assert blocks_of(seen) == [TextBlock(text="I cannot.")]
    assert finish_of(seen).stop_reason is StopReason.REFUSAL
    content = [{"type": "refusal", "refusal": "No."}]
    late = _read(_done(0, type="message", id="m", role="assistant", content=content), _end())
    assert blocks_of(late) == [TextBlock(text="No.")]
    assert finish_of(late).stop_reason is StopReason.REFUSAL


def test_reasoning_without_a_summary_is_kept_if_it_can_go_back() -> None:
    kept = _done(0, type="reasoning", id="rs_1", summary=[], encrypted_content="secret")
    lost = _done(1, type="reasoning", id="rs_2", summary=[], encrypted_content=None)
    (block,) = blocks_of(_read(kept, lost, _end()))
    assert block == ThinkingBlock(text="", signature="rs_1", encrypted="secret", model="asked")


def test_raw_reasoning() -> None:
    at = {"item_id": "rs_1", "output_index": 0, "content_index": 0}
    seen = _read(
        _added(0, type="reasoning", id="rs_1", summary=[], content=[]),
        _frame("response.reasoning_text.delta", **at, delta="hm"),
        _done(0, type="reasoning", id="rs_1", summary=[], content=[{"type": "reasoning_text", "text": "hm"}]),
        _end(),
    )
    assert blocks_of(seen) == [ThinkingBlock(text="hm", signature="rs_1", model="asked")]


def test_servers_that_send_only_whole_items() -> None:
    summary = [{"type": "summary_text", "text": "one"}, {"type": "summary_text", "text": "two"}]
    seen = _read(
        _done(0, type="reasoning", id="rs_1", summary=summary),
        _done(1, type="message", role="assistant", content=[{"type": "output_text", "text": "Hi."}]),
        _done(2, type="message", role="assistant", content=[]),
        _done(3, **_call("c", "clock", "{}")),
        _end(),
        b"data: [DONE]\n\n",
    )
    assert blocks_of(seen) == [
        ThinkingBlock(text="one\n\ntwo", signature="rs_1", model="asked"),
        TextBlock(text="Hi."),
        ToolUseBlock(id="c", name="clock", input={}),
    ]
    assert finish_of(seen).stop_reason is StopReason.TOOL_USE


def test_interleaved_calls() -> None:
    seen = _read(
        _added(0, **_call("a", "weather")),
        _added(1, **_call("b", "weather")),
        _arguments(0, '{"city":'),
        _arguments(1, '{"city":"Bern"}'),
        _arguments(0, '"Aarau"}'),
        _end(),
    )
    assert [block.input for block in blocks_of(seen) if isinstance(block, ToolUseBlock)] == [
        {"city": "Aarau"},
        {"city": "Bern"},
    ]


def test_a_stop_sequence_ends_the_answer() -> None:
    seen = _read(
        _text(0, "one E"),
        _text(0, "ND two"),
        _done(0, type="message", role="assistant", content=[{"type": "output_text", "text": "one END two"}]),
        _added(1, **_call("c", "clock")),
        _done(1, **_call("c", "clock", "{}")),
        _end(usage=_USAGE),
        stops=("END",),
    )
    assert blocks_of(seen) == [TextBlock(text="one ")]
    assert finish_of(seen).stop_reason is StopReason.STOP_SEQUENCE
    assert finish_of(seen).usage.output == 89


def test_what_was_held_back_is_said_at_the_end() -> None:
    content = [{"type": "output_text", "text": "E"}]
    done = _done(0, type="message", role="assistant", content=content)
    for frames in ([_text(0, "E"), done, _end()], [_text(0, "E"), _end()], [done, _end()]):
        seen = _read(*frames, stops=("END",))
        assert [event.text for event in seen if isinstance(event, TextPart)] == ["E"]
        assert finish_of(seen).stop_reason is StopReason.END_TURN


def test_usage_in_every_shape() -> None:
    bare = {"input_tokens": 7, "output_tokens": 3}
    assert finish_of(_read(_end(usage=bare))).usage == TokenUsage(input=7, output=3)
    odd = {"input_tokens": 1, "output_tokens": None, "input_tokens_details": {"cached_tokens": 5}}
    assert finish_of(_read(_end(usage=odd))).usage == TokenUsage(cache_read=5)
    assert finish_of(_read(_end(usage=None))).usage == TokenUsage()


@pytest.mark.parametrize(
    ("frame", "expected"),
    [
        (_end("response.failed", error={"code": "server_error", "message": "Oh"}), "provider"),
        (_end("response.failed", error={"code": "rate_limit_exceeded", "message": "Oh"}), "rate_limited"),
        (_end("response.failed", error={"code": "invalid_prompt", "message": "Oh"}), "bad_request"),
        (_end("response.failed", error={"code": "failed_to_download_image", "message": "Oh"}), "refused_media"),
        (_end("response.failed", error={"code": "vector_store_timeout", "message": "Oh"}), "timeout"),
        (_end("response.failed", error={"code": "context_length_exceeded", "message": "Oh"}), "overflow"),
        (_frame("error", code="server_is_overloaded", message="Oh", param=None), "overloaded"),
        (_frame("error", error={"type": "insufficient_quota", "code": None, "message": "Oh"}), "auth"),
        (b'event: error\ndata: {"type":"whatever","message":"Oh"}\n\n', "provider"),
    ],
)
def test_an_error_inside_the_stream(frame: bytes, expected: str) -> None:
    *events, failure = _read(_text(0, "a"), frame)
    assert isinstance(failure, HeraldError)
    assert failure.kind == expected
    assert "Oh" in failure.message
    assert len(events) == 2


def test_other_ways_to_fail() -> None:
    frames = [b"data: {nope\n\n", b"data: null\n\n", b"data: {}\n\n"]
    frames += [_frame("response.output_item.added"), _frame("response.output_item.done"), _end("response.failed")]
    for frame in frames:
        failure = _read(frame)[-1]
        assert isinstance(failure, HeraldError)
        assert failure.kind is FailureKind.PROVIDER
