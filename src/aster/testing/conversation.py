"""A request read without its wire format: who said what, which tools are offered, which results came back.

Rules, directives and the demo persona decide on this alone, so that they mean the same in every protocol.
The words of the user are told apart from what an engine puts beside them: a text block that is one whole
``<tag>…</tag>`` element, or a first line that is one, is context, and not a new thing said.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

from msgspec import Struct

_CONTEXT = re.compile(r"\s*<([A-Za-z][\w-]*)[^>]*>.*</\1>\s*", re.DOTALL)
_FIRST_LINE = re.compile(r"<([A-Za-z][\w-]*)>[^\n]*</\1>\n(?=.)", re.DOTALL)


class Offer(Struct, frozen=True):
    """A tool the request offers, with the JSON schema of its input."""

    name: str
    schema: dict[str, Any]


class Said(Struct, frozen=True, tag="user"):
    """Words in a user message; `aside` when they are context around the user's own."""

    text: str
    aside: bool = False


class Call(Struct, frozen=True):
    """A tool call the model made earlier."""

    id: str
    name: str


class Answered(Struct, frozen=True, tag="assistant"):
    """An earlier reply of the model."""

    text: str
    calls: Sequence[Call] = ()


class Returned(Struct, frozen=True, tag="result"):
    """The result of a tool call."""

    call_id: str
    text: str
    is_error: bool = False


Entry: TypeAlias = Said | Answered | Returned


class Result(Struct, frozen=True):
    """A tool result with the name of the tool it came from ("" when the call is not in the request)."""

    tool: str
    text: str
    is_error: bool


class Conversation(Struct, frozen=True):
    """One request, as the script sees it."""

    model: str
    system: str
    entries: Sequence[Entry]
    tools: Sequence[Offer] = ()
    stream: bool = False
    include_usage: bool = False
    prompt_tokens: int = 0

    @property
    def text(self) -> str:
        """The last thing the user said."""
        index = self._last_said()
        return self.entries[index].text if index >= 0 else ""

    @property
    def results(self) -> list[Result]:
        """The tool results since the user spoke, in order."""
        return self.results_after(self._last_said())

    def results_after(self, index: int) -> list[Result]:
        names = {c.id: c.name for entry in self.entries if isinstance(entry, Answered) for c in entry.calls}
        return [
            Result(names.get(entry.call_id, ""), entry.text, entry.is_error)
            for entry in self.entries[index + 1 :]
            if isinstance(entry, Returned)
        ]

    def offer(self, name: str) -> Offer | None:
        return next((tool for tool in self.tools if tool.name == name), None)

    def said_this_turn(self) -> Iterator[tuple[int, str]]:
        """The user's words since the model last ended a turn, newest first, with their place in `entries`."""
        for index in range(len(self.entries) - 1, -1, -1):
            entry = self.entries[index]
            if isinstance(entry, Answered) and not entry.calls:
                return
            if isinstance(entry, Said) and not entry.aside:
                yield index, entry.text

    def _last_said(self) -> int:
        """The place of the user's last words, or of the last context if there are none, or -1."""
        own = aside = -1
        for index, entry in enumerate(self.entries):
            if isinstance(entry, Said):
                own, aside = (own, index) if entry.aside else (index, aside)
        return own if own >= 0 else aside


def words_of_user(texts: Sequence[str]) -> list[Said]:
    """The texts of one user message as entries: its context, then its own words joined into one.

    A message without text (an image alone) is context too.
    """
    parted = [part for text in texts for part in _parted(text)]
    context = [text for text in parted if _CONTEXT.fullmatch(text)]
    own = [text for text in parted if not _CONTEXT.fullmatch(text)]
    entries = [Said(text, aside=True) for text in context]
    if own:
        entries.append(Said("\n".join(own)))
    return entries or [Said("", aside=True)]


def _parted(text: str) -> tuple[str, ...]:
    """The text, its first line apart if that is context."""
    first = None if _CONTEXT.fullmatch(text) else _FIRST_LINE.match(text)
    return (text,) if first is None else (first[0], text[first.end() :])
