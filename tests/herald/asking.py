"""Requests and conversations that several tests ask with."""

import base64
from typing import Any

from aster.contracts.blocks import (
    Base64Source,
    ContentBlock,
    DocumentBlock,
    ImageBlock,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
    UrlSource,
)
from aster.contracts.llm import ModelRequest
from aster.contracts.messages import Message
from aster.contracts.tools import ToolDef

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n").decode()
PDF = base64.b64encode(b"%PDF-1.7").decode()
NOTE = base64.b64encode("Grüße".encode()).decode()
WEATHER = ToolDef(
    name="weather",
    description="The weather somewhere.",
    input_schema={"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
)
CLOCK = ToolDef(name="clock", description="The time.", input_schema={"type": "object", "properties": {}})


def user(*blocks: ContentBlock | str) -> Message:
    return Message(role="user", content=_blocks(blocks))


def assistant(*blocks: ContentBlock | str) -> Message:
    return Message(role="assistant", content=_blocks(blocks))


def _blocks(blocks: tuple[ContentBlock | str, ...]) -> tuple[ContentBlock, ...]:
    return tuple(TextBlock(text=block) if isinstance(block, str) else block for block in blocks)


def asking(*messages: Message | str, model: str = "scripted", **fields: Any) -> ModelRequest:
    turns = tuple(user(message) if isinstance(message, str) else message for message in messages)
    return ModelRequest(model=model, system=fields.pop("system", ""), messages=turns, **fields)


def png() -> ImageBlock:
    return ImageBlock(source=Base64Source(media_type="image/png", data=PNG))


def full_request(model: str, **fields: Any) -> ModelRequest:
    """A conversation with everything in it that a conversation can have."""
    pdf = DocumentBlock(source=Base64Source(media_type="application/pdf", data=PDF), title="paper.pdf")
    note = DocumentBlock(source=Base64Source(media_type="text/markdown", data=NOTE), title="note.md")
    remote = ImageBlock(source=UrlSource(url="https://example.org/cat.png"))
    return asking(
        user("What is in these?", png(), remote, pdf, note),
        assistant(
            ThinkingBlock(text="Let me look.", signature="c2ln", model=model),
            ThinkingBlock(text="", encrypted="c2VjcmV0", model=model),
            "I will ask.",
            ToolUseBlock(id="call_1", name="weather", input={"city": "Bern"}),
            ToolUseBlock(id="call_2", name="clock", input={}),
        ),
        user(
            ToolResultBlock(tool_use_id="call_1", content=(TextBlock(text="sunny"), png())),
            ToolResultBlock(tool_use_id="call_2", content=(TextBlock(text="no clock"),), is_error=True),
            "Go on.",
        ),
        model=model,
        system="Be brief.",
        tools=(WEATHER, CLOCK),
        stop_sequences=("END",),
        cache_upto=2,
        **fields,
    )
