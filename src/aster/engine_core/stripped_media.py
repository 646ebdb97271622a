"""Stripped media: the line of text that stands where something attached was refused, computed from the notice alone.

The fold, and whoever assembles a request, use the same functions, so a conversation reads the same for ever after.
"""

from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from aster.contracts.blocks import (
    AudioBlock,
    ContentBlock,
    DocumentBlock,
    FileBlock,
    ImageBlock,
    MediaKind,
    TextBlock,
    ToolResultBlock,
    VideoBlock,
)
from aster.contracts.events import MediaNotice
from aster.contracts.messages import Message
from aster.contracts.turn import TurnState

NOUNS: dict[MediaKind, str] = {
    "image": "An image",
    "document": "A document",
    "audio": "An audio recording",
    "video": "A video",
}
_KINDS: dict[type[FileBlock], MediaKind] = {
    ImageBlock: "image",
    DocumentBlock: "document",
    AudioBlock: "audio",
    VideoBlock: "video",
}


def kind_of(block: FileBlock) -> MediaKind:
    return _KINDS[type(block)]


def noted(state: TurnState, event: MediaNotice) -> None:
    """The state after a notice: with a line of text in the place of what was refused."""
    if event.action == "unsupported":
        state.media_noted = True
    elif event.message_id is None and event.tool_call_id is None:
        state.media_withheld = True
        state.messages = list(withheld(state.messages))
    else:
        state.media_stripped.append(event)
        state.messages = [_replaced(message, event) for message in state.messages]


def cleared(state: TurnState, history: list[Message]) -> list[Message]:
    """What is shown of the conversation before, without what was refused in this turn: a compaction may have moved
    messages of the turn itself there."""
    if state.media_withheld:
        return list(withheld(history))
    for event in state.media_stripped:
        history = [_replaced(message, event) for message in history]
    return history


def withheld(messages: Iterable[Message]) -> Iterator[Message]:
    """Messages with a line of text in the place of each thing attached."""
    for message in messages:
        if any(files_in(message.content)):
            message = replace(message, content=tuple(_without(block) for block in message.content))
        yield message


def _replaced(message: Message, event: MediaNotice) -> Message:
    if event.message_id is not None:
        mine = message.id == event.message_id and event.block_index < len(message.content)
        return replace(message, content=_exchanged(message.content, event.block_index)) if mine else message
    content = tuple(
        replace(block, content=_exchanged(block.content, event.block_index))
        if isinstance(block, ToolResultBlock) and block.tool_use_id == event.tool_call_id
        else block
        for block in message.content
    )
    return replace(message, content=content) if content != message.content else message


def _exchanged(content: Sequence[ContentBlock], at: int) -> tuple[ContentBlock, ...]:
    return tuple(_gone(block) if place == at else block for place, block in enumerate(content))


def _without(block: ContentBlock) -> ContentBlock:
    if isinstance(block, ToolResultBlock) and any(files_in(block.content)):
        parts = tuple(_gone(part) if isinstance(part, FileBlock) else part for part in block.content)
        return replace(block, content=parts)
    return _gone(block)


def _gone(block: ContentBlock) -> ContentBlock:
    if not isinstance(block, FileBlock):
        return block
    return TextBlock(
        text=f"[{NOUNS[kind_of(block)]} was attached here, but the model provider refused to read it.]"
    )


def files_in(content: Iterable[ContentBlock]) -> Iterator[FileBlock]:
    for block in content:
        if isinstance(block, FileBlock):
            yield block
        elif isinstance(block, ToolResultBlock):
            yield from (part for part in block.content if isinstance(part, FileBlock))
