"""A conversation in the shape every provider accepts, before any of them is spoken to.

Neighbouring messages of one role become one, tool results stand first in theirs, empty text disappears, and
thinking and marks go back only to the model they came from: a provider rejects another's signature.
"""

from collections.abc import Sequence

import msgspec

from aster.contracts.blocks import ContentBlock, TextBlock, ThinkingBlock, ToolResultBlock, ToolUseBlock
from aster.contracts.messages import Message, Role


class WireMessage(msgspec.Struct):
    """The blocks of one message on the wire; a cache mark belongs behind `mark`."""

    role: Role
    blocks: list[ContentBlock]
    mark: ContentBlock | None = None


def normalise(messages: Sequence[Message], model: str, cache_upto: int = 0) -> list[WireMessage]:
    """The messages for this model, merged and ordered, the last of the first `cache_upto` marked."""
    wire: list[WireMessage] = []
    for position, message in enumerate(messages, start=1):
        blocks = [_unmarked(block, model) for block in message.content if _worth_sending(block, model)]
        if not all(isinstance(block, ThinkingBlock) for block in blocks):
            if wire and wire[-1].role == message.role:
                wire[-1].blocks.extend(blocks)
            else:
                wire.append(WireMessage(message.role, blocks))
        if position == cache_upto and wire:
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


def _unmarked(block: ContentBlock, model: str) -> ContentBlock:
    """The block, without another model's signature on it."""
    if isinstance(block, TextBlock | ToolUseBlock) and block.signature is not None and block.model != model:
        return msgspec.structs.replace(block, signature=None, model=None)
    return block
