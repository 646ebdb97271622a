"""What tests ask of a stream of frames."""

from typing import Any

from tests.live import Seen

_ASKED = frozenset(("hitl_request", "hitl_resolved", "permission_prompt"))


def events(frames: list[Seen], kind: str) -> list[dict[str, Any]]:
    """The events of a type, without what is only shown of sub-agents."""
    found = [frame.data for frame in frames if frame.event == kind]
    return found if kind in _ASKED else [data for data in found if not data.get("depth")]


def shown(frames: list[Seen], kind: str) -> list[dict[str, Any]]:
    """What is shown of sub-agents, of a type."""
    return [frame.data for frame in frames if frame.event == kind and frame.data.get("depth")]


def last(frames: list[Seen]) -> dict[str, Any]:
    """The closing event."""
    assert frames[-1].event == "thread_lifecycle"
    return frames[-1].data


def blocks(frames: list[Seen], kind: str = "text") -> list[dict[str, Any]]:
    return [data["block"] for data in events(frames, "content_block_stop") if data["block_type"] == kind]


def transitions(frames: list[Seen]) -> list[str]:
    return [data["reason"] for data in events(frames, "turn_transition")]
