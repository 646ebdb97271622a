"""Anthropic's frames become events, whatever the cut, and never more than came."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aster.contracts.blocks import TextBlock, ThinkingBlock, ToolUseBlock
from aster.contracts.llm import CallFinished, StopReason, TokenUsage
from aster.herald.failure import FailureKind, HeraldError
from aster.herald.protocols.anthropic_stream import AnthropicDecoder
from tests.herald.protocols.recorded import (
    ANTHROPIC,
    anthropic_answer,
    anthropic_frame,
    blocks_of,
    check_order,
    cut,
    finish_of,
    read,
)


def _read(*chunks: bytes) -> list[object]:
    return [*read(AnthropicDecoder("asked"), chunks)]


def test_a_whole_answer() -> None:
    seen = _read(ANTHROPIC)
    check_order(seen)
    assert blocks_of(seen) == [
        ThinkingBlock(text="First, think — 考える.", signature="EqQBCg==", model="asked"),
        ThinkingBlock(text="", encrypted="b3BhcXVl", model="asked"),
        TextBlock(text="I'll look\u2028 both up."),
        ToolUseBlock(id="toolu_1", name="weather", input={"city": "Zürich"}),
        ToolUseBlock(id="toolu_2", name="clock", input={}),
        ToolUseBlock(id="toolu_3", name="weather", input={}, invalid="[1"),
    ]
    assert finish_of(seen) == CallFinished(
        stop_reason=StopReason.TOOL_USE,
        usage=TokenUsage(input=12, output=89, cache_read=500, cache_write=30),
        model="claude-x",
        provider_id="msg_1",
    )


_WHOLE = _read(ANTHROPIC)


@given(st.lists(st.integers(0, len(ANTHROPIC)), max_size=40))
def test_any_cut_gives_the_same_events(places: list[int]) -> None:
    assert _read(*cut(ANTHROPIC, places)) == _WHOLE


@given(st.integers(0, len(ANTHROPIC) - 2))
def test_a_stream_that_stops_anywhere_is_a_cut_off_prefix(length: int) -> None:
    *events, error = _read(ANTHROPIC[:length])
    assert isinstance(error, HeraldError)
    assert error.kind is FailureKind.TRANSPORT
    assert events == _WHOLE[: len(events)]
    assert not any(isinstance(event, CallFinished) for event in events)


@pytest.mark.parametrize(
    ("wire", "reason"),
    [
        ("end_turn", StopReason.END_TURN),
        ("max_tokens", StopReason.MAX_TOKENS),
        ("model_context_window_exceeded", StopReason.MAX_TOKENS),
        ("stop_sequence", StopReason.STOP_SEQUENCE),
        ("pause_turn", StopReason.PAUSE_TURN),
        ("refusal", StopReason.REFUSAL),
        ("something_new", StopReason.END_TURN),
    ],
)
def test_stop_reasons(wire: str, reason: StopReason) -> None:
    assert finish_of(_read(anthropic_answer(stop=wire))).stop_reason is reason


def test_blocks_we_do_not_know_are_passed_over() -> None:
    stream = anthropic_answer(
        anthropic_frame("content_block_start", index=0, content_block={"type": "server_tool_use", "id": "s"}),
        anthropic_frame("content_block_delta", index=0, delta={"type": "input_json_delta", "partial_json": "{"}),
        anthropic_frame("content_block_stop", index=0),
        anthropic_frame("a_new_event", index=0),
        anthropic_frame("content_block_start", index=1, content_block={"type": "text", "text": "Hel"}),
        anthropic_frame("content_block_delta", index=1, delta={"type": "citations_delta", "citation": {}}),
        anthropic_frame("content_block_delta", index=1, delta={"type": "text_delta", "text": "lo"}),
        anthropic_frame("content_block_stop", index=1),
    )
    seen = _read(stream)
    check_order(seen)
    assert blocks_of(seen) == [TextBlock(text="Hello")]


def test_input_that_came_with_the_start() -> None:
    block = {"type": "tool_use", "id": "t", "name": "clock", "input": {"zone": "UTC"}}
    stream = anthropic_answer(
        anthropic_frame("content_block_start", index=0, content_block=block),
        anthropic_frame("content_block_stop", index=0),
    )
    assert blocks_of(_read(stream)) == [ToolUseBlock(id="t", name="clock", input={"zone": "UTC"})]


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("overloaded_error", FailureKind.OVERLOADED),
        ("rate_limit_error", FailureKind.RATE_LIMITED),
        ("api_error", FailureKind.PROVIDER),
        ("never_seen", FailureKind.PROVIDER),
    ],
)
def test_an_error_inside_the_stream(kind: str, expected: FailureKind) -> None:
    error = _read(anthropic_frame("error", error={"type": kind, "message": "Oh"}))[-1]
    assert isinstance(error, HeraldError)
    assert error.kind is expected
    assert "Oh" in error.message


@pytest.mark.parametrize(
    "frame",
    [
        b"event: ping\ndata: {nope\n\n",
        b"data: [1]\n\n",
        b"data: \xff\n\n",
        anthropic_frame("content_block_start", index=0),
    ],
)
def test_a_malformed_frame(frame: bytes) -> None:
    error = _read(frame)[-1]
    assert isinstance(error, HeraldError)
    assert error.kind is FailureKind.PROVIDER
