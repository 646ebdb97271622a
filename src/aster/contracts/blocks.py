"""Content blocks: what messages are made of, independent of any provider's wire format.

A block carries everything that has to go back to the provider unchanged (signatures, encrypted reasoning),
so that a conversation can be replayed from the thread alone.
"""

from typing import Any, Literal, TypeAlias

from aster.contracts.model import Contract


class Base64Source(Contract, tag="base64", tag_field="type"):
    """Media carried inline."""

    media_type: str
    data: str


class UrlSource(Contract, tag="url", tag_field="type"):
    """Media the provider fetches by itself."""

    url: str


Source: TypeAlias = Base64Source | UrlSource


class TextBlock(Contract, tag="text", tag_field="type"):
    """Words; `signature` is the provider's mark on them, handed back untouched and only to `model`."""

    text: str
    signature: str | None = None
    model: str | None = None


class ThinkingBlock(Contract, tag="thinking", tag_field="type"):
    """Reasoning; `signature` or `encrypted` is handed back untouched, and only to `model`, which wrote it."""

    text: str
    signature: str | None = None
    encrypted: str | None = None
    model: str | None = None


class ToolUseBlock(Contract, tag="tool_use", tag_field="type"):
    """A tool call the model asked for; `invalid` holds what could not be read as a JSON object of arguments.

    `hint` is what to tell the model about that, where more is known than that it is wrong.
    `signature` is the provider's mark on the call, handed back untouched and only to `model`.
    """

    id: str
    name: str
    input: dict[str, Any]
    invalid: str | None = None
    signature: str | None = None
    model: str | None = None
    hint: str | None = None


class ImageBlock(Contract, tag="image", tag_field="type"):
    """A picture; `note` says what the engine changed about it before it was kept."""

    source: Source
    note: str | None = None


class DocumentBlock(Contract, tag="document", tag_field="type"):
    """A document; `text` is what it says, for models that cannot read the file itself."""

    source: Source
    title: str | None = None
    text: str | None = None


class AudioBlock(Contract, tag="audio", tag_field="type"):
    source: Source


class VideoBlock(Contract, tag="video", tag_field="type"):
    source: Source


FileBlock: TypeAlias = ImageBlock | DocumentBlock | AudioBlock | VideoBlock
ResultContent: TypeAlias = TextBlock | FileBlock


class ToolResultBlock(Contract, tag="tool_result", tag_field="type"):
    """The one result of one tool call; unless `trusted`, its text is data from outside and is sent marked as such."""

    tool_use_id: str
    content: tuple[ResultContent, ...]
    is_error: bool = False
    trusted: bool = False


BlockType: TypeAlias = Literal["text", "thinking", "tool_use"]
ContentBlock: TypeAlias = TextBlock | ThinkingBlock | ToolUseBlock | ToolResultBlock | FileBlock
AssistantBlock: TypeAlias = TextBlock | ThinkingBlock | ToolUseBlock
MediaBlock: TypeAlias = TextBlock | FileBlock
MediaKind: TypeAlias = Literal["image", "document", "audio", "video"]


def text_of(blocks: tuple[ContentBlock, ...] | list[ContentBlock]) -> str:
    """The text of the text blocks, joined as it was said."""
    return "".join(block.text for block in blocks if isinstance(block, TextBlock))
