"""A tool call in one line, and its result in another."""

import json

from aster.cli.screen.clean import clean, one_line
from aster.client.transcript import Note, ToolCard

_TELLING = ("command", "path", "file_path", "pattern", "query", "url", "question", "name")
_NAME = 80


def call_line(card: ToolCard, width: int = 100) -> str:
    """What was called with what: `bash  ls -la`."""
    tool = one_line(card.tool, _NAME)
    return f"{tool}  {_argument(card, max(width - len(tool) - 2, 10))}".rstrip()


def nested_line(item: ToolCard | Note, width: int = 100) -> str:
    """What a sub-agent called and what that came to, or what it said, in one line under the call it works for."""
    lead = f"{'  ' * item.depth}↳ {one_line(item.agent, 40)}: "
    room = max(width - len(lead), 20)
    if isinstance(item, Note):
        return lead + one_line(item.text, room)
    called = call_line(item, room // 2)
    return f"{lead}{called} → {result_line(item, max(room - len(called) - 3, 10))}"


def result_line(card: ToolCard, width: int = 100) -> str:
    """What it came to: the first line of the output, and how much more there is."""
    if card.status not in ("done", "failed"):
        return card.status
    lines = [line for line in card.output.split("\n") if line.strip()]
    more = f" (+{len(lines) - 1} lines)" if len(lines) > 1 else ""
    failed = f"{one_line(card.error, _NAME)}: " if card.error else ""
    said = one_line(lines[0], max(width - len(more) - len(failed), 10)) if lines else "no output"
    return f"{failed}{said}{more}"


def whole(card: ToolCard) -> str:
    """Everything about a call: its input and its output, at length."""
    took = "" if card.duration_ms is None else f", {card.duration_ms} ms"
    state = card.error or card.status
    given = json.dumps(card.input, indent=2, ensure_ascii=False)
    return clean(f"{card.tool} ({state}{took})\n{given}\n\n{card.output or card.progress}").rstrip()


def _argument(card: ToolCard, width: int) -> str:
    for name in _TELLING:
        value = card.input.get(name)
        if isinstance(value, str):
            return one_line(value, width)
    return one_line(json.dumps(card.input, ensure_ascii=False), width) if card.input else ""
