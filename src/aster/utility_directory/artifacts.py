"""Output too large for a conversation: kept whole beside the thread, with its beginning and end in its place.

The preview says how to read the rest, so that nothing a tool found out is lost to the model or to people.
"""

import hashlib
from typing import NamedTuple

from aster.contracts.blocks import ResultContent, TextBlock
from aster.contracts.tools import Artifact, ToolOutcome
from aster.infra.ids import new_id

PREFIX = "artifact:"
PREVIEW_CHARS = 16_000


class Content(NamedTuple):
    """An artifact with what is in it."""

    artifact: Artifact
    data: bytes

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.data).hexdigest()


def spilled(outcome: ToolOutcome, limit: int | None, tool: str) -> tuple[ToolOutcome, tuple[Content, ...]]:
    """The outcome with every text over the limit moved to an artifact; pictures and documents stay as they are."""
    if limit is None or all(
        not isinstance(block, TextBlock) or len(block.text) <= limit for block in outcome.output
    ):
        return outcome, ()
    output: list[ResultContent] = []
    kept: list[Content] = []
    for block in outcome.output:
        if isinstance(block, TextBlock) and len(block.text) > limit:
            content = _content(block.text, tool)
            kept.append(content)
            block = TextBlock(text=_preview(block.text, content.artifact))
        output.append(block)
    moved = ToolOutcome(
        ok=outcome.ok,
        output=tuple(output),
        failure=outcome.failure,
        reason=outcome.reason,
        retry_safe=outcome.retry_safe,
        retry_after=outcome.retry_after,
        artifacts=(*outcome.artifacts, *(content.artifact for content in kept)),
        data=outcome.data,
    )
    return moved, tuple(kept)


def _content(text: str, tool: str) -> Content:
    data = text.encode("utf-8", "replace")
    artifact = Artifact(id=new_id("art"), media_type="text/plain", size=len(data), name=f"{tool}.txt")
    return Content(artifact, data)


def _preview(text: str, artifact: Artifact) -> str:
    """Whole lines from both ends where there are any."""
    half = PREVIEW_CHARS // 2
    head, tail = text[:half], text[-half:]
    head = head[: head.rfind("\n") + 1] or head
    tail = tail[tail.find("\n") + 1 :] or tail
    lines, first = text.count("\n") + 1, head.count("\n") + 1
    return (
        f"{head}\n[... {len(text) - len(head) - len(tail):,} of {len(text):,} characters are left out here. The"
        f" whole output ({lines:,} lines) is kept: read_file with path {PREFIX}{artifact.id} and offset={first}"
        f" goes on from here. ...]\n{tail}"
    )
