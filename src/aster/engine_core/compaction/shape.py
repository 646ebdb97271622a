"""What the rungs of compaction ask of messages: who speaks, what belongs together, where a conversation may be cut.

A call and its result are never parted: no cut stands right before the results of calls.
"""

from collections.abc import Callable, Sequence
from typing import TypeAlias

import msgspec

from aster.contracts.blocks import TextBlock, ToolResultBlock, ToolUseBlock
from aster.contracts.messages import Message
from aster.utility_directory.artifacts import PREFIX

Weigh: TypeAlias = Callable[[Message], int]
"""The tokens of a message as it is sent."""

TRANSCRIPT = f"{PREFIX}transcript"
"""The path under which a conversation's own transcript is read."""


def answers(message: Message) -> bool:
    """Whether it holds the results of calls."""
    return any(isinstance(block, ToolResultBlock) for block in message.content)


def by_person(message: Message) -> bool:
    """Whether a person said it."""
    return message.role == "user" and not message.engine and message.digest is None and not answers(message)


def earlier_cut(messages: Sequence[Message], index: int) -> int:
    """The last place up to here where nothing is parted."""
    index = max(0, min(index, len(messages)))
    while 0 < index < len(messages) and answers(messages[index]):
        index -= 1
    return index


def last_answer(messages: Sequence[Message]) -> int:
    """Where the model spoke last; everything after it is new to it. -1 if it never did."""
    return next((at for at in reversed(range(len(messages))) if messages[at].role == "assistant"), -1)


def tool_names(messages: Sequence[Message]) -> dict[str, str]:
    """Which tool each call was for, by the call's id."""
    return {
        block.id: block.name for message in messages for block in message.content if isinstance(block, ToolUseBlock)
    }


def result_text(block: ToolResultBlock) -> str:
    return "\n".join(part.text for part in block.content if isinstance(part, TextBlock))


def kept_at(message: Message) -> str:
    """Where the whole of a message is, in words for the model."""
    return f"whole in {TRANSCRIPT} from line {message.archived}"


def changed(message: Message, *content: object) -> Message:
    """The message with other content; itself, if that is no change."""
    same = len(content) == len(message.content) and all(
        new is old for new, old in zip(content, message.content, strict=True)
    )
    return message if same else msgspec.structs.replace(message, content=content)
