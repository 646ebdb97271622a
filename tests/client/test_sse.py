"""The parser gives the same frames however the bytes are cut, and agrees with the public cases where they exist."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aster.client.sse import SseFrame, SseParser

CASES = Path(__file__).parents[3] / "shared" / "data" / "sse_cases_dev.json"


def parse(stream: bytes, size: int | None = None) -> tuple[list[SseFrame], SseParser]:
    parser = SseParser()
    size = size or len(stream) or 1
    frames = [frame for at in range(0, len(stream), size) for frame in parser.feed(stream[at : at + size])]
    return frames, parser


def public_cases() -> list[dict[str, Any]]:
    return json.loads(CASES.read_text(encoding="utf-8")) if CASES.is_file() else []


@pytest.mark.parametrize("size", [1, 2, 3, 7, None])
def test_agrees_with_the_public_cases(size: int | None) -> None:
    for case in public_cases():
        frames, parser = parse(case["stream"].encode(), size)
        said = [{"data": f.data.decode(), "event": f.event, "id": f.id} for f in frames]
        assert said == case["events"], case["name"]
        if case["retry"] is not None:
            assert parser.retry_ms == case["retry"], case["name"]
        if case["last_event_id"] is not None:
            assert parser.last_id == case["last_event_id"], case["name"]


def test_reads_a_frame_of_the_engine() -> None:
    frames, _ = parse(b'id: 7\nevent: text_delta\ndata: {"text":"a"}\n\n')
    assert frames == [SseFrame("text_delta", b'{"text":"a"}', "7")]


def test_a_frame_without_an_id_keeps_the_last_one() -> None:
    frames, _ = parse(b"id: 7\ndata: a\n\nevent: heartbeat\ndata: b\n\n")
    assert frames == [SseFrame("message", b"a", "7"), SseFrame("heartbeat", b"b", "7")]


def test_a_frame_the_stream_ends_in_is_not_one() -> None:
    frames, _ = parse(b"data: whole\n\ndata: half\n")
    assert [frame.data for frame in frames] == [b"whole"]


def test_only_cr_and_lf_end_a_line() -> None:
    text = "a\u2028b\u2029c\x85d\x0be\x0cf\x1cg\x1dh\x1ei"
    frames, _ = parse(f"data: {text}\n\n".encode())
    assert frames[0].data.decode() == text


def test_crlf_cut_in_the_middle_is_one_line_end() -> None:
    parser = SseParser()
    assert parser.feed(b"data: a\r") == []
    assert parser.feed(b"\n") == []
    assert [frame.data for frame in parser.feed(b"\r\n")] == [b"a"]


def test_an_id_with_a_null_is_ignored() -> None:
    frames, _ = parse(b"id: 1\n\nid: 2\0\ndata: x\n\n")
    assert frames == [SseFrame("message", b"x", "1")]


@given(
    stream=st.lists(
        st.sampled_from(
            [b"data: x", b"data", b"event: e", b"id: 3", b":c", b"\n", b"\r", b"\r\n", b"\n\n", "é".encode()]
        )
    ).map(b"".join),
    size=st.integers(1, 9),
)
def test_cutting_changes_nothing(stream: bytes, size: int) -> None:
    assert parse(stream, size)[0] == parse(stream)[0]
