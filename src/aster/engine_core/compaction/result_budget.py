"""The first rung: results of one step that are too much together. The largest go to artifacts, until the rest fits.

It is the only rung that touches what the model has not seen yet, so it leaves the beginning and the end of each.
"""

from collections.abc import Sequence

import msgspec

from aster.contracts.blocks import TextBlock, ToolResultBlock
from aster.contracts.messages import Message
from aster.contracts.tools import Artifact
from aster.engine_core.compaction.shape import answers, changed, result_text, tool_names
from aster.infra.ids import new_id
from aster.utility_directory.artifacts import PREFIX, Content

BATCH_CHARS = 200_000
PREVIEW_CHARS = 2_000
LEAST_CHARS = 2 * PREVIEW_CHARS


def over(messages: Sequence[Message], limit: int) -> bool:
    """Whether the newest results are more than this many characters."""
    at = _batch(messages)
    return at is not None and _size(messages[at]) > limit


def budgeted(messages: Sequence[Message], limit: int) -> tuple[list[Message], list[Content]]:
    """The messages with the newest results within a limit, and what was moved out of them."""
    at = _batch(messages)
    if at is None:
        return list(messages), []
    message, names = messages[at], tool_names(messages)
    blocks, kept, total = list(message.content), list[Content](), _size(message)
    sized = sorted(range(len(blocks)), key=lambda index: _chars(blocks[index]), reverse=True)
    for index in sized:
        block = blocks[index]
        if total <= limit or not isinstance(block, ToolResultBlock) or _chars(block) < LEAST_CHARS:
            break
        text = result_text(block)
        kept.append(_content(text, names.get(block.tool_use_id, "tool")))
        blocks[index] = _shortened(block, text, kept[-1].artifact.id)
        total -= len(text) - _chars(blocks[index])
    return [*messages[:at], changed(message, *blocks), *messages[at + 1 :]], kept


def _batch(messages: Sequence[Message]) -> int | None:
    """Where the results of the newest step are, if the model has not seen them yet."""
    for at in reversed(range(len(messages))):
        if messages[at].role == "assistant":
            return None
        if answers(messages[at]):
            return at
    return None


def _size(message: Message) -> int:
    return sum(_chars(block) for block in message.content)


def _chars(block: object) -> int:
    if not isinstance(block, ToolResultBlock):
        return 0
    return sum(len(part.text) for part in block.content if isinstance(part, TextBlock))


def _shortened(block: ToolResultBlock, text: str, artifact_id: str) -> ToolResultBlock:
    half = PREVIEW_CHARS // 2
    gap = (
        f"\n[... {len(text) - 2 * half:,} of {len(text):,} characters are left out here; the whole is kept: read_file"
        f" or grep with path {PREFIX}{artifact_id} ...]\n"
    )
    preview = TextBlock(text=text[:half] + gap + text[-half:])
    others = tuple(part for part in block.content if not isinstance(part, TextBlock))
    return msgspec.structs.replace(block, content=(preview, *others))


def _content(text: str, tool: str) -> Content:
    data = text.encode("utf-8", "replace")
    return Content(Artifact(id=new_id("art"), media_type="text/plain", size=len(data), name=f"{tool}.txt"), data)
