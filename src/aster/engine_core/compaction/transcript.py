"""The transcript: every message that is no longer shown as it was, whole, in order, each exactly once.

It is written before anything is shortened, as artifacts of the task that are its parts; read one after the other they
are one text with one numbering of lines. Pictures and documents become artifacts of their own.
"""

import base64
import binascii
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import msgspec

from aster.brain.protocol import Brain
from aster.contracts.blocks import (
    Base64Source,
    ContentBlock,
    FileBlock,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
)
from aster.contracts.messages import Digest, Message
from aster.contracts.model import encode
from aster.contracts.tools import Artifact
from aster.engine_core.compaction.shape import answers, tool_names
from aster.infra.ids import new_id
from aster.utility_directory.artifacts import Content

NAME = "transcript"
"""The artifact that is all parts together; which they are depends on where in a conversation it is read."""


@dataclass(slots=True)
class Archive:
    """The messages with their places in the transcript, and what has to be kept for that to be true."""

    messages: list[Message]
    digest: Digest
    contents: list[Content] = field(default_factory=list[Content])

    @property
    def part(self) -> str | None:
        """The artifact that holds what was archived now."""
        return self.contents[0].artifact.id if self.contents else None


def archived(messages: Sequence[Message], digest: Digest) -> Archive:
    """Write every message but the newest that is not in the transcript yet to a new part of it."""
    names, media = tool_names(messages), list[Content]()
    lines, number, text = digest.lines, digest.messages, list[str]()
    placed = list(messages)
    for at, message in enumerate(messages[:-1]):
        if message.archived or message.digest is not None:
            continue
        number += 1
        written = (
            f"=== message {number}: {_speaker(message)} ===\n" + "".join(_written(message, names, media)) + "\n"
        )
        placed[at] = msgspec.structs.replace(message, archived=lines + 1)
        lines += written.count("\n")
        text.append(written)
    if not text:
        return Archive(placed, digest)
    part = _content(
        "".join(text).encode("utf-8", "replace"), "text/plain", f"transcript-{len(digest.parts) + 1}.txt"
    )
    grown = msgspec.structs.replace(digest, parts=(*digest.parts, part.artifact.id), lines=lines, messages=number)
    return Archive(placed, grown, [part, *media])


async def whole(brain: Brain, user_id: str, messages: Sequence[Message]) -> bytes | None:
    """The transcript of a conversation that was compacted; None if this one never was."""
    digest = next((message.digest for message in messages if message.digest is not None), None)
    if digest is None:
        return None
    parts = [await brain.artifact(user_id, part) for part in digest.parts]
    return b"".join(part[1] for part in parts if part is not None)


def plain(messages: Sequence[Message], code: str) -> str:
    """The messages as text alone; only what they do not know themselves, the code, says who speaks."""
    names = tool_names(messages)
    return "\n".join(
        f"[{code} {_speaker(message)}]\n" + "".join(_written(message, names, None)) for message in messages
    )


def _speaker(message: Message) -> str:
    if message.role == "assistant":
        return "assistant"
    if answers(message):
        return "results of tools"
    return "engine" if message.engine or message.digest is not None else "person"


def _written(message: Message, names: dict[str, str], media: list[Content] | None) -> Iterator[str]:
    if message.recalled is not None:
        yield f"--- from memory\n{message.recalled}\n"
    for block in message.content:
        yield from _block(block, names, media)


def _block(block: ContentBlock, names: dict[str, str], media: list[Content] | None) -> Iterator[str]:
    match block:
        case TextBlock():
            yield f"{block.text}\n"
        case ThinkingBlock():
            yield f"--- thought\n{block.text}\n" if block.text else ""
        case ToolUseBlock():
            yield f"--- calls {block.name} ({block.id})\n{encode(block.input).decode()}\n"
        case ToolResultBlock():
            failed = ", failed" if block.is_error else ""
            yield f"--- result of {names.get(block.tool_use_id, 'a tool')} ({block.tool_use_id}{failed})\n"
            for part in block.content:
                yield from _block(part, names, media)
        case _:
            yield f"[{_medium(block, media)}]\n"


def _medium(block: FileBlock, media: list[Content] | None) -> str:
    kind, source = block.__struct_config__.tag, block.source
    if not isinstance(source, Base64Source):
        return f"{kind}: {source.url}"
    if media is None:
        return f"{kind}: {source.media_type}"
    try:
        data = base64.b64decode(source.data)
    except (binascii.Error, ValueError):
        return f"{kind}: {source.media_type}, which cannot be read"
    media.append(_content(data, source.media_type, f"{kind}-{len(media) + 1}"))
    return f"{kind}: {source.media_type}, {len(data):,} bytes, kept as artifact:{media[-1].artifact.id}"


def _content(data: bytes, media_type: str, name: str) -> Content:
    return Content(Artifact(id=new_id("art"), media_type=media_type, size=len(data), name=name), data)
