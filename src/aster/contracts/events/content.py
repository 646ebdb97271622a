"""Content events: the answer while it is written, and each block whole when it is done."""

from typing import ClassVar

from aster.contracts.blocks import AssistantBlock, BlockType
from aster.contracts.events.base import Event, Grade


class ContentBlockStart(Event, tag="content_block_start"):
    grade: ClassVar[Grade] = Grade.DELTA

    block_index: int
    block_type: BlockType
    step: int
    tool: str | None = None
    tool_call_id: str | None = None


class TextDelta(Event, tag="text_delta"):
    grade: ClassVar[Grade] = Grade.DELTA

    text: str
    block_index: int
    step: int


class ThinkingDelta(Event, tag="thinking_delta"):
    grade: ClassVar[Grade] = Grade.DELTA

    text: str
    block_index: int
    step: int


class ContentBlockStop(Event, tag="content_block_stop"):
    """A block is whole; the deltas before it add up to exactly this. `partial` when it was cut by a cancel."""

    block_index: int
    block_type: BlockType
    step: int
    block: AssistantBlock
    partial: bool = False
