"""Rungs four to six: what is long and old is shortened to its telling parts; no message goes.

Level 1 shortens the results of tools and drops old thoughts, level 2 also the model's own long texts and calls,
level 3 also a person's. Each leaves the newest messages as they are, fewer the higher it is, and always the model's
last words and all that came after them.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final, cast

import msgspec

from aster.contracts.blocks import (
    ContentBlock,
    FileBlock,
    ResultContent,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
)
from aster.contracts.messages import Message
from aster.engine_core.compaction.shape import answers, by_person, changed, kept_at, last_answer

TAILS: Final = {1: 6, 2: 4, 3: 2}
RESULT_CHARS: Final = 500
RESULT_LINES: Final = 10
ENDS: Final = 3
TELLING_LINES: Final = 20
WORTH: Final = 0.8
"""A shortened result has to be this much shorter, or it stays whole."""
SAID_CHARS: Final = 2_000
SAID_ENDS: Final = 400
ASKED_CHARS: Final = 1_000
ASKED_HEAD: Final = 500
CLIPPED_HEAD: Final = 3_000
CLIPPED_TAIL: Final = 1_500

_TELLING = re.compile(r"error|exception|fail|warning|result|total|summary", re.IGNORECASE)


def shortened(messages: Sequence[Message], level: int, spared: frozenset[str]) -> list[Message]:
    """The messages, those before the tail of this level shortened; `spared` are ids that are not touched."""
    old = min(len(messages) - TAILS[level], last_answer(messages))
    return [
        _message(message, level) if at < old and _may(message, spared) else message
        for at, message in enumerate(messages)
    ]


def _may(message: Message, spared: frozenset[str]) -> bool:
    return bool(message.archived) and message.digest is None and message.id not in spared


def _message(message: Message, level: int) -> Message:
    if message.recalled is not None:
        message = msgspec.structs.replace(message, recalled=None)
    if answers(message):
        return changed(message, *(_result(block, message) for block in message.content))
    if message.role == "assistant":
        return changed(message, *_said(message, level))
    if level < 3 or not by_person(message):
        return message
    return changed(message, *(_asked(block, message) for block in message.content))


def _result(block: ContentBlock, message: Message) -> ContentBlock:
    if not isinstance(block, ToolResultBlock):
        return block
    parts = tuple(_part(part, message) for part in block.content)
    if all(new is old for new, old in zip(parts, block.content, strict=True)):
        return block
    return msgspec.structs.replace(block, content=parts)


def _part(part: ResultContent, message: Message) -> ResultContent:
    if not isinstance(part, TextBlock):
        return part
    lines = part.text.split("\n")
    if len(part.text) <= RESULT_CHARS or len(lines) <= RESULT_LINES:
        return part
    telling = [line[:RESULT_CHARS] for line in lines[ENDS:-ENDS] if _TELLING.search(line)][:TELLING_LINES]
    gone = len(lines) - 2 * ENDS - len(telling)
    text = "\n".join(
        [*lines[:ENDS], *telling, f"[... {gone} lines compressed, {kept_at(message)}]", *lines[-ENDS:]]
    )
    return TextBlock(text=text) if len(text) < WORTH * len(part.text) else part


def _said(message: Message, level: int) -> Iterator[ContentBlock]:
    spoken = [block for block in message.content if not isinstance(block, ThinkingBlock)]
    for block in spoken or message.content:
        if level < 2:
            yield block
        elif isinstance(block, TextBlock) and len(block.text) > SAID_CHARS:
            yield TextBlock(text=_ends(block.text, message))
        elif isinstance(block, ToolUseBlock) and len(str(block.input)) > SAID_CHARS:
            shorter = cast("dict[str, Any]", _value(block.input, message))
            yield msgspec.structs.replace(block, input=shorter)
        else:
            yield block


def _value(value: Any, message: Message) -> Any:
    match value:
        case str() if len(value) > SAID_CHARS:
            return _ends(value, message)
        case list():
            return [_value(item, message) for item in cast("list[Any]", value)]
        case dict():
            return {key: _value(item, message) for key, item in cast("dict[str, Any]", value).items()}
        case _:
            return value


def _ends(text: str, message: Message) -> str:
    gap = f"\n[... {len(text) - 2 * SAID_ENDS:,} chars compressed, {kept_at(message)} ...]\n"
    return text[:SAID_ENDS] + gap + text[-SAID_ENDS:]


def clipped(message: Message) -> Message:
    """A very long message of a person's with the most of its beginning and some of its end."""
    return changed(message, *(_clipped(block, message) for block in message.content))


def _clipped(block: ContentBlock, message: Message) -> ContentBlock:
    if not isinstance(block, TextBlock) or len(block.text) <= CLIPPED_HEAD + CLIPPED_TAIL:
        return block
    gap = f"\n[... {len(block.text) - CLIPPED_HEAD - CLIPPED_TAIL:,} chars compressed, {kept_at(message)} ...]\n"
    return TextBlock(text=block.text[:CLIPPED_HEAD] + gap + block.text[-CLIPPED_TAIL:])


def _asked(block: ContentBlock, message: Message) -> ContentBlock:
    if isinstance(block, FileBlock):
        return TextBlock(text=f"[{block.__struct_config__.tag}, {kept_at(message)}]")
    if not isinstance(block, TextBlock) or len(block.text) <= ASKED_CHARS:
        return block
    return TextBlock(
        text=f"{block.text[:ASKED_HEAD]}\n[... message truncated for context budget, {kept_at(message)}]"
    )
