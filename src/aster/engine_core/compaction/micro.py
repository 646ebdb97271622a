"""The third rung: results that the model has read are named instead of repeated, but for the latest few.

A result is never touched before the model has answered to it.
"""

from collections.abc import Sequence

import msgspec

from aster.contracts.blocks import TextBlock, ToolResultBlock
from aster.contracts.messages import Message
from aster.engine_core.compaction.shape import changed, kept_at, last_answer, result_text, tool_names

KEPT = 3
LEAST_CHARS = 120


def micro(messages: Sequence[Message]) -> list[Message]:
    """The messages with old results as placeholders that say where the whole is."""
    names, newest = tool_names(messages), last_answer(messages)
    left, out = KEPT, list(messages)
    for at in reversed(range(max(newest, 0))):
        message = messages[at]
        blocks = list(message.content)
        for index in reversed(range(len(blocks))):
            block = blocks[index]
            if not isinstance(block, ToolResultBlock):
                continue
            if left > 0:
                left -= 1
            elif message.archived and _worth(block):
                blocks[index] = _placeholder(message, block, names.get(block.tool_use_id, "a tool"))
        out[at] = changed(message, *blocks)
    return out


def _worth(block: ToolResultBlock) -> bool:
    return any(not isinstance(part, TextBlock) or len(part.text) > LEAST_CHARS for part in block.content)


def _placeholder(message: Message, block: ToolResultBlock, tool: str) -> ToolResultBlock:
    text = f"[Earlier result of {tool}, {len(result_text(block)):,} characters, {kept_at(message)}]"
    return msgspec.structs.replace(block, content=(TextBlock(text=text),))
