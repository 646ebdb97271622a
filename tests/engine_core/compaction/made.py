"""Messages for rungs to work on, as a conversation leaves them."""

from collections.abc import Sequence

import msgspec

from aster.contracts.blocks import TextBlock, ToolResultBlock, ToolUseBlock
from aster.contracts.messages import Digest, Message
from aster.engine_core.compaction.shape import answers
from aster.engine_core.compaction.transcript import archived


def person(text: str, name: str | None = None) -> Message:
    return Message(role="user", content=(TextBlock(text=text),), id=name or f"msg-{text[:20]}")


def model(text: str) -> Message:
    return Message(role="assistant", content=(TextBlock(text=text),))


def calls(*ids: str, tool: str = "bash", **given: str) -> Message:
    return Message(
        role="assistant", content=tuple(ToolUseBlock(id=name, name=tool, input=dict(given)) for name in ids)
    )


def results(*texts: tuple[str, str]) -> Message:
    blocks = (ToolResultBlock(tool_use_id=name, content=(TextBlock(text=text),)) for name, text in texts)
    return Message(role="user", content=tuple(blocks))


def step(name: str, text: str) -> list[Message]:
    return [calls(name), results((name, text))]


def kept(messages: Sequence[Message]) -> list[Message]:
    """The messages as they are once they are in the transcript."""
    return archived(messages, Digest()).messages


def shown(message: Message) -> str:
    """All text of a message."""
    texts: list[str] = []
    for block in message.content:
        if isinstance(block, TextBlock):
            texts.append(block.text)
        elif isinstance(block, ToolResultBlock):
            texts += [part.text for part in block.content if isinstance(part, TextBlock)]
    return "\n".join(texts)


def whole(messages: Sequence[Message]) -> bool:
    """Whether every result follows its call at once, and every call has its result."""
    waiting: set[str] = set()
    for message in messages:
        given = {block.tool_use_id for block in message.content if isinstance(block, ToolResultBlock)}
        if given != waiting and (given or answers(message) or waiting):
            return False
        waiting = {block.id for block in message.content if isinstance(block, ToolUseBlock)}
    return not waiting


def bare(message: Message) -> Message:
    """A message without its place in the transcript."""
    return msgspec.structs.replace(message, archived=0)
