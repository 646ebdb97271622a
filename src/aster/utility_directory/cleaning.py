"""What a tool said, without secrets: cleaned once, before any of it is shown, kept or cut into an artifact.

A long text is read in pieces, so that other turns go on meanwhile.
"""

import asyncio
from typing import Final

import msgspec

from aster.contracts.blocks import ResultContent, TextBlock
from aster.contracts.tools import ToolOutcome
from aster.infra.secret_stream import SecretStream
from aster.infra.secrets import Secrets

PIECE: Final = 65_536


async def clean_outcome(secrets: Secrets, outcome: ToolOutcome) -> ToolOutcome:
    """The outcome as it may be kept; the same object when there is nothing to take out."""
    output = tuple([await _clean_block(secrets, block) for block in outcome.output])
    data = None if outcome.data is None else secrets.clean_data(outcome.data, "tool", shapes=True)
    same = data == outcome.data and all(new is old for new, old in zip(output, outcome.output, strict=True))
    return outcome if same else msgspec.structs.replace(outcome, output=output, data=data)


async def _clean_block(secrets: Secrets, block: ResultContent) -> ResultContent:
    if not isinstance(block, TextBlock):
        return block
    text = await clean_text(secrets, block.text)
    return block if text == block.text else msgspec.structs.replace(block, text=text)


async def clean_text(secrets: Secrets, text: str) -> str:
    """A tool's words, however long, without known values and without what looks like a secret."""
    if len(text) <= PIECE:
        return secrets.clean(text, "tool", shapes=True)
    stream = SecretStream(secrets, "tool", shapes=True)
    parts: list[str] = []
    for start in range(0, len(text), PIECE):
        parts.append(stream.feed(text[start : start + PIECE]))
        await asyncio.sleep(0)
    return "".join((*parts, stream.finish()))
