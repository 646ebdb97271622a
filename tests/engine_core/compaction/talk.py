"""Conversations that grow, and what the model was shown of them."""

from typing import Any

from aster.testing import RecordedCall, Reply, Text, ToolCall


def filler(characters: int, seed: int = 0) -> str:
    """Plain words, no two lines alike."""
    lines: list[str] = []
    size = number = 0
    while size < characters:
        lines.append(f"line {seed}-{number}: the quick brown fox counts {number * 7919 % 10007} small stones")
        size += len(lines[-1]) + 1
        number += 1
    return "\n".join(lines)[:characters]


def writes(path: str, text: str) -> Reply:
    return Reply([ToolCall("write_file", {"path": path, "content": text})])


def reads(*paths: str) -> Reply:
    return Reply([ToolCall("read_file", {"path": path}) for path in paths])


def says(text: str) -> Reply:
    return Reply([Text(text)])


def shown(call: RecordedCall) -> list[dict[str, Any]]:
    """The messages of a request, without the instructions."""
    return [message for message in call.body["messages"] if message["role"] != "system"]


def text_in(call: RecordedCall) -> str:
    """All text of the messages of a request."""
    return "\n".join(_text(message.get("content")) for message in shown(call))


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(
        _text(part.get("text") or part.get("content")) for part in content or [] if isinstance(part, dict)
    )


def results(call: RecordedCall) -> list[str]:
    """The results of tools as the model was shown them (OpenAI's wire)."""
    return [_text(message["content"]) for message in shown(call) if message["role"] == "tool"]
