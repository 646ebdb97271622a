"""A conversation as a client sends it, whole and each time: lines of one form, whatever dialect they came in.

Lines have fingerprints, each made of all lines up to there, so that a conversation is known again by what was said in
it and by nothing else. What clients are known to change on the way (the space around a text, the order of calls, an
empty text for none) changes no fingerprint.
"""

import hashlib
from collections.abc import Iterable, Sequence
from typing import Final, Literal, NamedTuple, TypeAlias

from aster.contracts.blocks import (
    ContentBlock,
    FileBlock,
    MediaBlock,
    TextBlock,
    ToolResultBlock,
    ToolUseBlock,
    text_of,
)
from aster.contracts.messages import Message
from aster.contracts.model import encode
from aster.engine_core import door_places
from aster.engine_core.imports import NO_RESULT

Speaker: TypeAlias = Literal["user", "assistant", "tool"]
MOST_LINES: Final = 2_000


class Line(NamedTuple):
    """What one speaker said; `calls` are an assistant's, `call_id` says which of them a tool answers."""

    role: Speaker
    content: tuple[MediaBlock, ...] = ()
    calls: tuple[ToolUseBlock, ...] = ()
    call_id: str = ""

    @property
    def text(self) -> str:
        return text_of(self.content)

    @property
    def files(self) -> tuple[FileBlock, ...]:
        return tuple(block for block in self.content if isinstance(block, FileBlock))

    @property
    def plain(self) -> bool:
        """A text and nothing else, as nearly all lines are."""
        return len(self.content) == 1 and not self.calls and isinstance(self.content[0], TextBlock)

    @property
    def empty(self) -> bool:
        """An assistant's line that says nothing: what is left of an answer that was stopped before it began."""
        return self.role == "assistant" and not self.calls and not self.text.strip()


def said(text: str, calls: Iterable[ToolUseBlock] = ()) -> Line:
    """An assistant's line."""
    return Line("assistant", (TextBlock(text=text),) if text else (), tuple(calls))


def fingerprints(lines: Sequence[Line], root: str) -> list[str]:
    """One for each line, of all that was said up to there; `root` keeps apart who must not be taken for another."""
    found: list[str] = []
    before = hashlib.blake2b(root.encode("utf-8", "replace"), digest_size=16).hexdigest()
    for line in lines:
        before = following(before, line)
        found.append(before)
    return found


def following(before: str, line: Line) -> str:
    """The fingerprint after one more line."""
    match line:
        case Line(content=(TextBlock(text=text),), calls=()):
            return door_places.following(before, line.role, text, call_id=line.call_id)
        case _:
            pass
    files = [hashlib.blake2b(encode(block.source), digest_size=16).hexdigest() for block in line.files]
    calls = sorted(call.id for call in line.calls)
    return door_places.following(before, line.role, line.text, files=files, calls=calls, call_id=line.call_id)


class Brought(NamedTuple):
    """Lines as messages, and of how many messages each line is the last (0: it left none behind)."""

    messages: tuple[Message, ...]
    ends: tuple[int, ...]


def brought(lines: Sequence[Line]) -> Brought:
    """The messages that lines amount to: every call with its one result, no result without its call."""
    messages: list[Message] = []
    ends: list[int] = []
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        if line.role == "tool" or (line.role == "user" and not line.content) or line.empty:
            ends.append(0)
            continue
        content: tuple[ContentBlock, ...] = (*line.content, *line.calls)
        messages.append(Message(role="assistant" if line.role == "assistant" else "user", content=content))
        ends.append(0 if line.calls else len(messages))
        if line.calls:
            upto = at
            while upto < len(lines) and lines[upto].role == "tool":
                upto += 1
            messages.append(Message(role="user", content=_results(line, lines[at:upto])))
            ends += [0] * (upto - at)
            at = upto
    return Brought(tuple(messages), tuple(ends))


def _results(line: Line, answers: Sequence[Line]) -> tuple[ToolResultBlock, ...]:
    by_call = {answer.call_id: answer for answer in answers}
    results: list[ToolResultBlock] = []
    for call in line.calls:
        answer = by_call.get(call.id)
        content = answer.content if answer is not None else (TextBlock(text=NO_RESULT),)
        results.append(ToolResultBlock(tool_use_id=call.id, content=content or (TextBlock(text=""),)))
    return tuple(results)
