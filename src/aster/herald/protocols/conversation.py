"""A conversation in the shape every provider accepts, before any of them is spoken to.

Neighbouring messages of one role become one, tool results stand first in theirs, empty text disappears, and
thinking and marks go back only to the model they came from: a provider rejects another's signature.
"""

from collections.abc import Sequence

import msgspec

from aster.contracts.blocks import (
    ContentBlock,
    FileBlock,
    MediaKind,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
)
from aster.contracts.messages import Message, Role
from aster.herald.protocols.media import EVERYTHING, shown


class WireMessage(msgspec.Struct):
    """The blocks of one message on the wire; a cache mark belongs behind `mark`."""

    role: Role
    blocks: list[ContentBlock]
    mark: ContentBlock | None = None


def normalise(
    messages: Sequence[Message],
    model: str,
    cache_upto: int = 0,
    takes: frozenset[MediaKind] = EVERYTHING,
    *,
    cache_before: int = 0,
) -> list[WireMessage]:
    """The messages for this model, merged and ordered, the last of the first `cache_upto` and of the first
    `cache_before` marked; media of other kinds than the protocol `takes`, and than the model reads, as text."""
    wire: list[WireMessage] = []
    for position, message in enumerate(messages, start=1):
        blocks = [_fitted(block, model, takes) for block in message.content if _worth_sending(block, model)]
        if not all(isinstance(block, ThinkingBlock) for block in blocks):
            if wire and wire[-1].role == message.role:
                wire[-1].blocks.extend(blocks)
            else:
                wire.append(WireMessage(message.role, blocks))
        if position in (cache_upto, cache_before) and wire:
            last = wire[-1]
            last.mark = next(block for block in reversed(last.blocks) if not isinstance(block, ThinkingBlock))
    for message in wire:
        message.blocks.sort(key=lambda block: not isinstance(block, ToolResultBlock))
    return wire


def _worth_sending(block: ContentBlock, model: str) -> bool:
    if isinstance(block, TextBlock):
        return bool(block.text.strip())
    if isinstance(block, ThinkingBlock):
        return block.model is None or block.model == model
    return True


def _fitted(block: ContentBlock, model: str, takes: frozenset[MediaKind]) -> ContentBlock:
    """The block, without another model's signature on it and without media that the model cannot be shown."""
    if isinstance(block, (TextBlock, ToolUseBlock)):
        if block.signature is not None and block.model != model:
            return msgspec.structs.replace(block, signature=None, model=None)
    elif isinstance(block, ToolResultBlock):
        if any(isinstance(part, FileBlock) for part in block.content):
            return msgspec.structs.replace(
                block,
                content=tuple(
                    shown(part, model, takes) if isinstance(part, FileBlock) else part for part in block.content
                ),
            )
    elif isinstance(block, FileBlock):
        return shown(block, model, takes)
    return block
