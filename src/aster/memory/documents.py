"""A long text as parts that can be found one by one, cut where paragraphs and sentences end."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from aster.contracts.errors import EngineError, ErrorCode

PART: Final = 1200
MOST: Final = 5_000_000
INGESTED: Final = "ingestion"
"""The extractor of what was put in because a message was too long: it belongs to the task of that message."""

_SEAM = re.compile(r"\n\s*\n|(?<=[.!?。！？])\s+|\n|\s+")


@dataclass(frozen=True, slots=True)
class Document:
    name: str
    text: str
    title: str = ""


def cut(text: str) -> Iterator[str]:
    """The parts of a text in order, none longer than 1,200 characters; only space between them is left out."""
    if len(text) > MOST:
        raise EngineError(
            ErrorCode.PAYLOAD_TOO_LARGE,
            f"A document holds at most {MOST:,} characters, this has {len(text):,}. Send it in several.",
            {"characters": len(text), "most": MOST},
        )
    start = 0
    while start < len(text):
        end = _end(text, start)
        part = text[start:end].strip()
        if part:
            yield part
        start = end


def _end(text: str, start: int) -> int:
    """Where a part that begins here ends: at the best seam in its second half, or where it has to."""
    most = start + PART
    if most >= len(text):
        return len(text)
    best, rank = most, 9
    for seam in _SEAM.finditer(text, start + PART // 2, most):
        found = 0 if seam.group().count("\n") > 1 else 1 if text[seam.start() - 1] in ".!?。！？" else 2
        if found <= rank:
            best, rank = seam.end(), found
    return best
