"""A conversation with tools as a conversation of text alone, for models that know no tools.

Calls and results become text in the dialect of the prompt section. A call that could not be read is replaced by a
short note: shown its own broken text, a model imitates it.
"""

from collections.abc import Sequence

import msgspec

from aster.contracts.blocks import ContentBlock, TextBlock, ToolResultBlock, ToolUseBlock
from aster.contracts.llm import ModelRequest
from aster.contracts.messages import Message
from aster.herald.text_tools.prompt import render_call, render_result, section

REMOVED = "(A tool call that could not be read was removed here.)"


def as_text(request: ModelRequest) -> ModelRequest:
    """The request without native tools: the tools in the system prompt, calls and results as text."""
    system = f"{request.system.rstrip()}\n\n{section(request.tools)}".lstrip()
    return msgspec.structs.replace(request, system=system, tools=(), messages=tuple(_messages(request.messages)))


def _messages(messages: Sequence[Message]) -> list[Message]:
    names: dict[str, str] = {}
    out: list[Message] = []
    for message in messages:
        blocks = _spoken(message, names) if message.role == "assistant" else _answered(message, names)
        out.append(msgspec.structs.replace(message, content=tuple(blocks)))
    return out


def _spoken(message: Message, names: dict[str, str]) -> list[ContentBlock]:
    """The model's own message: everything it said and called as one text, behind what it thought."""
    others: list[ContentBlock] = []
    parts: list[str] = []
    for block in message.content:
        if isinstance(block, ToolUseBlock):
            names[block.id] = block.name
            part = render_call(block) if block.invalid is None else REMOVED
            if part != REMOVED or REMOVED not in parts:
                parts.append(part)
        elif isinstance(block, TextBlock):
            parts.append(block.text.strip())
        else:
            others.append(block)
    text = "\n\n".join(part for part in parts if part)
    return [*others, TextBlock(text=text)] if text else others


def _answered(message: Message, names: dict[str, str]) -> list[ContentBlock]:
    """Results and what else stands beside them, in order; media of a result follow its text."""
    blocks: list[ContentBlock] = []
    for block in message.content:
        if isinstance(block, ToolResultBlock):
            blocks.append(TextBlock(text=render_result(block, names.get(block.tool_use_id, "tool"))))
            blocks.extend(part for part in block.content if not isinstance(part, TextBlock))
        else:
            blocks.append(block)
    return blocks
