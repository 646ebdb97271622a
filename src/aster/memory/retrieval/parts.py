"""A question made ready for searching without a model: a follow-up gets what it refers to, a long one is taken apart.

A worker model does both better when there is one; this is what holds without it, and what its failure falls back to.
"""

import re
from collections.abc import Sequence
from typing import Final

from aster.memory.retrieval.query import COMMON

_WORD = re.compile(r"[^\W_]+")
_REFERS: Final = re.compile(
    r"^(?:and|also|but|so|then|what about|how about)\b|\b(?:it|its|they|them|their|theirs|that|those|these|he|him|she"
    r"|there|same)\b",
    re.IGNORECASE,
)
_BETWEEN: Final = re.compile(r"\s+(?:and also|as well as)\s+", re.IGNORECASE)
_SHORT, _TELLING, _WHOLE, _PART, MOST = 8, 2, 8, 4, 4


def followed_up(text: str, earlier: Sequence[str]) -> str:
    """The question, with the last thing that was asked before when it cannot be understood alone: it is short, and
    refers to something or says hardly anything itself."""
    said = _WORD.findall(text)
    telling = [word for word in said if word.lower() not in COMMON]
    alone = len(said) > _SHORT or (len(telling) > _TELLING and not _REFERS.search(text))
    before = next((one for one in reversed(earlier) if one.strip() and one.strip() != text.strip()), None)
    return text if alone or before is None else f"{text.strip()} {before.strip()}"


def parts(text: str) -> tuple[str, ...]:
    """The question, and its parts when it plainly has several; at most four in all."""
    pieces = [piece.strip() for piece in _BETWEEN.split(text)]
    split = (
        len(text.split()) >= _WHOLE
        and "|" not in text
        and "context:" not in text.lower()
        and all(len(piece.split()) >= _PART for piece in pieces)
    )
    return tuple(dict.fromkeys((text, *pieces)))[:MOST] if split and len(pieces) > 1 else (text,)
