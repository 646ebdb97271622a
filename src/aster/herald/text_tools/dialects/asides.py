"""Stretches that are neither prose nor calls: thought between tags, and tool results the model made up.

Nothing inside a closed thought is ever a call. A thought that is never closed ends where a call begins: what
follows is read again as prose. While that is open, it is held back.
"""

import re

from aster.herald.text_tools.dialects.base import Block, Context, Gathered, Opening, Outcome
from aster.herald.text_tools.items import Item, Said, Thought

_CALL = re.compile(r"<tool_call|<function[\s=]|<invoke[\s=]|\[TOOL_CALLS\]|<\|tool_call", re.IGNORECASE)
_LOOKBACK = 24


class ThinkBlock(Block):
    """From an opening tag to its closing one. `shown` keeps tags and thought as prose, for formats that do."""

    def __init__(self, context: Context, opener: str, closer: str, shown: bool) -> None:
        self._shown = shown
        self._closer = re.compile(re.escape(closer), re.IGNORECASE | re.ASCII)
        self._either = re.compile(f"(?P<end>{re.escape(closer)})|{_CALL.pattern}", re.IGNORECASE | re.ASCII)
        self._before = opener if shown else ""
        self._tail = ""
        self._held: list[str] | None = None

    def push(self, text: str, pos: int, final: bool) -> Outcome | None:
        if self._tail:
            text, pos, self._tail = self._tail + text[pos:], 0, ""
        if self._held is not None:
            return self._to_end(text, pos, final)
        found = self._either.search(text, pos)
        if found is not None and found["end"]:
            end = found.end() if self._shown else found.start()
            return Outcome(self._thought(text[pos:end]), text, found.end())
        if found is not None:
            self._held = []
            return Outcome(self._thought(text[pos : found.start()]), text, found.start(), self)
        if final:
            return Outcome(self._thought(text[pos:]), text, len(text))
        cut = max(pos, len(text) - _LOOKBACK)
        self._tail = text[cut:]
        return Outcome(self._thought(text[pos:cut]), "", 0, self) if cut > pos else None

    def _to_end(self, text: str, pos: int, final: bool) -> Outcome | None:
        assert self._held is not None
        found = self._closer.search(text, pos)
        if found is not None:
            end = found.end() if self._shown else found.start()
            return Outcome(self._thought("".join((*self._held, text[pos:end]))), text, found.end())
        if final:
            return Outcome([], "".join((*self._held, text[pos:])), 0)
        cut = max(pos, len(text) - _LOOKBACK)
        self._held.append(text[pos:cut])
        self._tail = text[cut:]
        return None

    def _thought(self, text: str) -> list[Item]:
        text, self._before = self._before + text, ""
        if not text:
            return []
        return [Said(text) if self._shown else Thought(text)]


class DroppedBlock(Gathered):
    """A made-up tool result: not shown, not kept."""

    def __init__(self, context: Context, opener: str, closer: str) -> None:
        super().__init__(context, opener)
        self._closer = re.compile(re.escape(closer), re.IGNORECASE | re.ASCII)
        self.lookback = len(closer) - 1

    def _seek(self, text: str, pos: int, final: bool) -> int:
        found = self._closer.search(text, pos)
        return found.end() if found else -1

    def _read(self, body: str, whole: bool) -> list[Item]:
        return []


def think_opening(closer: str, shown: bool) -> Opening:
    def begin(context: Context, opener: str) -> Block:
        return ThinkBlock(context, opener, closer, shown)

    return begin


def dropped_opening(closer: str) -> Opening:
    def begin(context: Context, opener: str) -> Block:
        return DroppedBlock(context, opener, closer)

    return begin
