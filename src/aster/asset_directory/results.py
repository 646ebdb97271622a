"""What a server answered, as an outcome: words, pictures, and a note in place of what a model cannot be shown."""

import msgspec
from mcp_types import (
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    EmbeddedResource,
    GetPromptResult,
    ImageContent,
    ReadResourceResult,
    ResourceLink,
    TextContent,
    TextResourceContents,
)
from mcp_types import ContentBlock as Said

from aster.contracts.assets import ContentDef
from aster.contracts.blocks import Base64Source, ImageBlock, ResultContent, TextBlock
from aster.contracts.tools import ToolOutcome

_PICTURES = frozenset(("image/png", "image/jpeg", "image/gif", "image/webp"))
_PICTURE_CHARS = 7_000_000
_MOST_PICTURES = 8
_EMPTY = "(The server answered with nothing.)"


def called(result: CallToolResult) -> ToolOutcome:
    """The outcome of a tool's call; what the server calls an error is one that the model can act on."""
    output = _blocks(result.content)
    if result.structured_content is not None and not any(isinstance(block, TextBlock) for block in output):
        output.append(TextBlock(text=msgspec.json.encode(result.structured_content).decode()))
    return _outcome(output, failed=result.is_error)


def listed(found: list[ContentDef], what: str) -> ToolOutcome:
    """What there is to be read, a line for each."""
    return ToolOutcome.text("\n".join(_line(one) for one in found) or f"The server has no {what}.")


def _line(one: ContentDef) -> str:
    if one.kind == "prompt":
        return f"{one.address}({', '.join(one.arguments)})  {one.description}".rstrip()
    return f"{one.address}  {one.title}{' (a template)' if one.kind == 'template' else ''}"


def read(result: ReadResourceResult) -> ToolOutcome:
    return _outcome([_resource(content) for content in result.contents])


def prompted(result: GetPromptResult) -> ToolOutcome:
    output: list[ResultContent] = []
    for message in result.messages:
        output += [TextBlock(text=f"{message.role}:"), *_blocks([message.content])]
    return _outcome(output)


def _outcome(output: list[ResultContent], failed: bool = False) -> ToolOutcome:
    blocks = tuple(output) or (TextBlock(text=_EMPTY),)
    if not failed:
        return ToolOutcome(ok=True, output=blocks)
    return msgspec.structs.replace(ToolOutcome.error("", reason="tool_failed"), output=blocks)


def _blocks(content: list[Said]) -> list[ResultContent]:
    out: list[ResultContent] = []
    pictures = 0
    for block in content:
        match block:
            case TextContent():
                out.append(TextBlock(text=block.text))
            case ImageContent():
                pictures += 1
                out.append(_picture(block.mime_type, block.data, pictures))
            case AudioContent():
                out.append(_left_out(f"audio ({block.mime_type})", len(block.data)))
            case ResourceLink():
                out.append(TextBlock(text=f"[resource {block.name}: {block.uri}]"))
            case EmbeddedResource():
                out.append(_resource(block.resource))
    return out


def _resource(content: TextResourceContents | BlobResourceContents) -> ResultContent:
    if isinstance(content, TextResourceContents):
        return TextBlock(text=content.text)
    if content.mime_type in _PICTURES:
        return _picture(content.mime_type or "", content.blob, 1)
    return _left_out(f"{content.uri} ({content.mime_type or 'unknown type'})", len(content.blob))


def _picture(media_type: str, data: str, number: int) -> ResultContent:
    if media_type not in _PICTURES or len(data) > _PICTURE_CHARS or number > _MOST_PICTURES:
        return _left_out(f"a picture ({media_type})", len(data))
    return ImageBlock(source=Base64Source(media_type=media_type, data=data))


def _left_out(what: str, size: int) -> TextBlock:
    return TextBlock(text=f"[{what}, {size * 3 // 4:,} bytes, is not shown]")
