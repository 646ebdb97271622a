"""The parser gives the events of the specification, however the stream is cut."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aster.contracts.sse import SseParser

_PUBLIC = Path(__file__).parents[3] / "shared" / "data" / "sse_cases_dev.json"

_ODD = "a\u2028b\u2029c\u0085d\x0be\x0cf\x1cg\x1dh"
CASES: list[tuple[str, bytes, list[tuple[str, str]]]] = [
    ("one event", b"data: a\n\n", [("message", "a")]),
    ("named event", b"event: delta\ndata: {}\n\n", [("delta", "{}")]),
    ("no space after the colon", b"event:delta\ndata:{}\n\n", [("delta", "{}")]),
    ("name after the data", b"data: 1\nevent: late\n\n", [("late", "1")]),
    ("empty name is the default", b"event:\ndata: 1\n\n", [("message", "1")]),
    ("a name does not outlive its event", b"event: x\n\ndata: 1\n\n", [("message", "1")]),
    ("several lines of data", b"data: a\ndata:  b\ndata\n\n", [("message", "a\n b\n")]),
    ("CR ends lines", b"data: a\rdata: b\r\rdata: c\r\r", [("message", "a\nb"), ("message", "c")]),
    ("CRLF ends lines", b"data: a\r\ndata: b\r\n\r\n", [("message", "a\nb")]),
    ("all ends mixed", b"data: a\rdata: b\r\n\r\n\n\rdata: d\n\r", [("message", "a\nb"), ("message", "d")]),
    ("Unicode's separators are data", f"data: {_ODD}\n\n".encode(), [("message", _ODD)]),
    ("BOM at the start", b"\xef\xbb\xbfdata: a\n\n", [("message", "a")]),
    ("a second BOM is a strange field", b"\xef\xbb\xbf\xef\xbb\xbfdata: a\n\ndata: b\n\n", [("message", "b")]),
    ("half a BOM is a strange field", b"\xef\xbbdata: a\n\ndata: b\n\n", [("message", "b")]),
    ("comments", b": hello\ndata: a\n:\n: x: y\n\n: ping\n\n", [("message", "a")]),
    ("unknown fields", b"foo: 1\ndata: a\ndatax: 2\n\n", [("message", "a")]),
    ("no data, no event", b"event: ping\nid: 3\n\n", []),
    ("empty data is data", b"data:\n\n", [("message", "")]),
    ("unfinished at the end", b"data: a\n\ndata: b\n", [("message", "a")]),
    ("blank lines between", b"\n\n\ndata: a\n\n\n\n\ndata: b\n\n", [("message", "a"), ("message", "b")]),
]  # fmt: skip


def _events(chunks: list[bytes]) -> list[tuple[str, str]]:
    parser = SseParser()
    return [(event, data.decode()) for chunk in chunks for event, data in parser.feed(chunk)]


def _bytewise(stream: bytes) -> list[bytes]:
    return [stream[i : i + 1] for i in range(len(stream))]


@pytest.mark.parametrize(("stream", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_events(stream: bytes, expected: list[tuple[str, str]]) -> None:
    assert _events([stream]) == expected
    assert _events(_bytewise(stream)) == expected


@given(st.data())
def test_any_cut_gives_the_same_events(data: st.DataObject) -> None:
    _, stream, expected = data.draw(st.sampled_from(CASES))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=8)))
    chunks = [stream[a:b] for a, b in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    assert _events(chunks) == expected


FRAMES = [
    *("data: {}\n\n", "event: delta\ndata: {}\n\n", "event: \ndata: {}\n\n", "data: a\ndata: b\n\n", ": ping\n\n"),
    *("event: delta\nid: 4\n\n", "data: {}\nevent: late\n\n", "\n"),
]


@given(st.lists(st.sampled_from(FRAMES), max_size=6))
def test_events_that_come_together_are_those_that_come_one_by_one(frames: list[str]) -> None:
    one_by_one = [event for frame in frames for event in _events([frame.encode()])]
    assert _events(["".join(frames).encode()]) == one_by_one


def test_a_large_event_in_small_pieces() -> None:
    body = b"x" * 1_000_000
    stream = b"data: " + body + b"\n\n"
    parser = SseParser()
    events = [event for i in range(0, len(stream), 1000) for event in parser.feed(stream[i : i + 1000])]
    assert [event.data for event in events] == [body]


def test_id_and_retry_are_remembered() -> None:
    parser = SseParser()
    parser.feed(b"id: 7\nretry: 250\ndata: a\n\n")
    assert (parser.last_id, parser.retry_ms) == ("7", 250)
    parser.feed(b"id: 8\0\nretry: 1x\ndata: a\n\n")
    assert (parser.last_id, parser.retry_ms) == ("7", 250)
    parser.feed(b"id\n\n")
    assert parser.last_id == ""


def test_the_public_cases() -> None:
    for case in _public_cases():
        parser = SseParser()
        seen: list[dict[str, str]] = []
        for byte in _bytewise(case["stream"].encode()):
            for event, data in parser.feed(byte):
                seen.append({"data": data.decode(), "event": event, "id": parser.last_id})
        assert seen == case["events"], case["name"]
        assert parser.retry_ms == case["retry"], case["name"]
        assert (parser.last_id or None) == case["last_event_id"], case["name"]
        whole = [{"data": d, "event": e} for e, d in _events([case["stream"].encode()])]
        assert whole == [{"data": e["data"], "event": e["event"]} for e in case["events"]], case["name"]


def _public_cases() -> list[dict[str, Any]]:
    return json.loads(_PUBLIC.read_text(encoding="utf-8")) if _PUBLIC.is_file() else []
