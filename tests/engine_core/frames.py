"""What tests ask of a stream of frames."""

from typing import Any

from tests.live import Seen


def events(frames: list[Seen], kind: str) -> list[dict[str, Any]]:
    return [frame.data for frame in frames if frame.event == kind]


def last(frames: list[Seen]) -> dict[str, Any]:
    """The closing event."""
    assert frames[-1].event == "thread_lifecycle"
    return frames[-1].data


def blocks(frames: list[Seen], kind: str = "text") -> list[dict[str, Any]]:
    return [data["block"] for data in events(frames, "content_block_stop") if data["block_type"] == kind]


def transitions(frames: list[Seen]) -> list[str]:
    return [data["reason"] for data in events(frames, "turn_transition")]
