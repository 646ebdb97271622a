"""Chat chunks become blocks, whatever the cut, and however a compatible server numbers them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aster.contracts.blocks import TextBlock, ThinkingBlock, ToolUseBlock
from aster.contracts.llm import BlockFinished, BlockStarted, CallFinished, StopReason, TokenUsage
from aster.herald.failure import FailureKind, HeraldError
from aster.herald.protocols.openai_chat_stream import OpenAIChatDecoder
from tests.herald.protocols.recorded import (
    DONE,
    OPENAI,
    USAGE,
    blocks_of,
    call_delta,
    check_order,
    cut,
    finish_of,
    openai_chunk,
    read,
)


def _read(*chunks: bytes) -> list[object]:
    seen: list[object] = [*read(OpenAIChatDecoder("asked"), chunks)]
    check_order(seen)
    return seen


def test_a_whole_answer() -> None:
    seen = _read(OPENAI)
    assert blocks_of(seen) == [
        ThinkingBlock(text="First, think — 考える.", model="asked"),
        TextBlock(text="I'll look\u2028 both up."),
        ToolUseBlock(id="call_1", name="weather", input={"city": "Zürich"}),
        ToolUseBlock(id="call_2", name="clock", input={}),
        ToolUseBlock(id="call_3", name="weather", input={}, invalid="[1"),
    ]
    assert finish_of(seen) == CallFinished(
        stop_reason=StopReason.TOOL_USE,
        usage=TokenUsage(input=12, output=89, cache_read=500, cache_write=30),
        model="gpt-x",
        provider_id="chatcmpl-1",
    )


_WHOLE = _read(OPENAI)


@given(st.lists(st.integers(0, len(OPENAI)), max_size=40))
def test_any_cut_gives_the_same_events(places: list[int]) -> None:
    assert _read(*cut(OPENAI, places)) == _WHOLE


@given(st.integers(0, OPENAI.index(b'"tool_calls"}]')))
def test_a_stream_that_stops_before_its_finish_is_a_cut_off_prefix(length: int) -> None:
    *events, error = _read(OPENAI[:length])
    assert isinstance(error, HeraldError)
    assert error.kind is FailureKind.TRANSPORT
    assert events == _WHOLE[: len(events)]


def test_a_finish_reason_is_enough_of_an_end() -> None:
    without_done = OPENAI.removesuffix(DONE)
    assert _read(without_done) == _WHOLE
    assert finish_of(_read(openai_chunk({"content": "a"}), DONE)).stop_reason is StopReason.END_TURN


@pytest.mark.parametrize(
    ("wire", "reason"),
    [
        ("stop", StopReason.END_TURN),
        ("length", StopReason.MAX_TOKENS),
        ("content_filter", StopReason.REFUSAL),
        ("eos", StopReason.END_TURN),
    ],
)
def test_stop_reasons(wire: str, reason: StopReason) -> None:
    assert finish_of(_read(openai_chunk({"content": "a"}, wire), DONE)).stop_reason is reason


def test_a_call_is_a_reason_to_go_on_whatever_the_server_says() -> None:
    seen = _read(call_delta(0, "c", "clock", "{}"), openai_chunk({}, "stop"), DONE)
    assert finish_of(seen).stop_reason is StopReason.TOOL_USE
    seen = _read(call_delta(0, "c", "clock", '{"a'), openai_chunk({}, "length"), DONE)
    assert finish_of(seen).stop_reason is StopReason.MAX_TOKENS


def test_a_refusal_is_said() -> None:
    seen = _read(
        openai_chunk({"refusal": "I can"}), openai_chunk({"refusal": "not."}), openai_chunk({}, "stop"), DONE
    )
    assert blocks_of(seen) == [TextBlock(text="I cannot.")]
    assert finish_of(seen).stop_reason is StopReason.REFUSAL


def test_the_other_name_of_reasoning_and_both_kinds_in_one_chunk() -> None:
    seen = _read(openai_chunk({"reasoning": "hm", "content": "a"}), openai_chunk({"content": "b"}, "stop"), DONE)
    assert blocks_of(seen) == [ThinkingBlock(text="hm", model="asked"), TextBlock(text="ab")]


def test_a_whole_call_is_finished_when_the_next_begins() -> None:
    seen = _read(
        call_delta(0, "a", "clock", "{}"), call_delta(1, "b", "clock", "{}"), openai_chunk({}, "tool_calls")
    )
    kinds = [(type(event), event.index) for event in seen if isinstance(event, (BlockStarted, BlockFinished))]
    assert kinds == [(BlockStarted, 0), (BlockFinished, 0), (BlockStarted, 1), (BlockFinished, 1)]


def test_interleaved_calls() -> None:
    seen = _read(
        call_delta(0, "a", "weather", '{"city":'),
        call_delta(1, "b", "weather", '{"city":"B'),
        call_delta(0, arguments='"Aarau"}'),
        call_delta(1, arguments='ern"}'),
        openai_chunk({}, "tool_calls"),
    )
    assert [block.input for block in blocks_of(seen) if isinstance(block, ToolUseBlock)] == [
        {"city": "Aarau"},
        {"city": "Bern"},
    ]


def test_servers_that_number_badly() -> None:
    same_index = [call_delta(0, "a", "clock", "{}"), call_delta(0, "b", "clock", "{}")]
    assert [b.id for b in blocks_of(_read(*same_index, DONE)) if isinstance(b, ToolUseBlock)] == ["a", "b"]
    no_index = [
        openai_chunk({"tool_calls": [{"id": "a", "function": {"name": "clock", "arguments": '{"z":'}}]}),
        openai_chunk({"tool_calls": [{"function": {"arguments": "1}"}}]}),
        openai_chunk({"tool_calls": [{"id": "b", "function": {"name": "clock", "arguments": "{}"}}]}),
    ]
    assert [b.input for b in blocks_of(_read(*no_index, DONE)) if isinstance(b, ToolUseBlock)] == [{"z": 1}, {}]
    repeated_id = [call_delta(0, "a", "clock", "{"), call_delta(0, "a", "clock", "}")]
    assert blocks_of(_read(*repeated_id, DONE)) == [ToolUseBlock(id="a", name="clock", input={})]
    no_id = openai_chunk({"tool_calls": [{"index": 0, "function": {"name": "clock", "arguments": "{}"}}]})
    (block,) = blocks_of(_read(no_id, DONE))
    assert isinstance(block, ToolUseBlock)
    assert block.id
    late = [call_delta(0, "a", "clock", "{}"), call_delta(1, "b", "clock", "{}"), call_delta(0, arguments=" ")]
    assert len(blocks_of(_read(*late, DONE))) == 2


def test_usage_in_every_shape() -> None:
    bare = {"prompt_tokens": 7, "completion_tokens": 3}
    assert finish_of(_read(openai_chunk({}, "stop", usage=bare))).usage == TokenUsage(input=7, output=3)
    odd = {"prompt_tokens": 1, "completion_tokens": None, "prompt_tokens_details": {"cached_tokens": 5}}
    assert finish_of(_read(openai_chunk({}, "stop", usage=odd))).usage == TokenUsage(cache_read=5)
    running = [openai_chunk({"content": "a"}, usage={"prompt_tokens": 7, "completion_tokens": 1})]
    assert finish_of(_read(*running, openai_chunk({}, "stop"), openai_chunk(usage=USAGE))).usage.output == 89
    assert finish_of(_read(openai_chunk({}, "stop"), DONE)).usage == TokenUsage()


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        ('{"message":"Oh","type":"server_error","code":null}', FailureKind.PROVIDER),
        ('{"message":"Oh","type":"x","code":"rate_limit_exceeded"}', FailureKind.RATE_LIMITED),
        ('{"message":"Oh","code":"server_is_overloaded"}', FailureKind.OVERLOADED),
        ('{"message":"Oh","code":429}', FailureKind.RATE_LIMITED),
        ('{"message":"Oh"}', FailureKind.PROVIDER),
        ('"Oh"', FailureKind.PROVIDER),
    ],
)
def test_an_error_inside_the_stream(error: str, expected: FailureKind) -> None:
    *events, failure = _read(openai_chunk({"content": "a"}), f'data: {{"error":{error}}}\n\n'.encode())
    assert isinstance(failure, HeraldError)
    assert failure.kind is expected
    assert "Oh" in failure.message
    assert len(events) == 2


def test_other_ways_to_fail() -> None:
    for frame in (
        b"data: {nope\n\n",
        b"data: null\n\n",
        b'event: error\ndata: {"message":"x"}\n\n',
        openai_chunk({}, "error"),
    ):
        failure = _read(frame)[-1]
        assert isinstance(failure, HeraldError)
        assert failure.kind is FailureKind.PROVIDER
