"""Text as the checks read it: prose without code, sentences, plain words and numbers.

Everything here is one pass over a text of bounded length.
"""

import re
from collections.abc import Iterator
from typing import Final

MOST_ANSWER: Final = 8000

_FENCE: Final = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.DOTALL)
_END: Final = re.compile(r"(?<=[.!?;])\s+|\n+")
_ESCAPE: Final = re.compile(r"\\[nrt\"'/\\]|<[^<>\n]{1,40}>|&(?:quot|amp|lt|gt|#39);")
_WORD: Final = re.compile(r"[^\W_]+")
_UNSURE: Final = re.compile(
    r"\b(?:would|should|could|might|may|if|expect\w*|example|e\.g|suppose|imagine|translat\w*|paraphras\w*|approx\w*"
    r"|about|roughly|around|nearly|almost|over|under|least|most|estimat\w*|originally|previously|earlier|before"
    r"|used\s+to|instead|rather|not|never|no\s+longer|cannot|than|likely|probably|perhaps|maybe|similar|like"
    r"|something|essentially|basically|effectively|typically|usually|default|add\w*|chang\w*|replac\w*|renam\w*|fix\w*"
    r"|updat\w*|wrote|writ\w*|will|per|each|every|up\s+to|between|first|last|another|more|other|of\s+the|out\s+of)\b"
    r"|n't\b|n\u2019t\b|~|\u2248|\?$",
    re.IGNORECASE,
)


def vocabulary(words: str) -> frozenset[str]:
    """Words listed in one string."""
    return frozenset(words.split())


def prose(text: str) -> str:
    """What an answer says, without its blocks of code."""
    text = text[:MOST_ANSWER]
    return _FENCE.sub("\n", text) if "```" in text or "~~~" in text else text


def sentences(text: str) -> Iterator[str]:
    """The sentences and lines of a prose."""
    return (part for part in map(str.strip, _END.split(text)) if part)


def unsure(sentence: str) -> bool:
    """It hedges, denies, compares, or speaks of a change: what it names need not be what a tool said."""
    return _UNSURE.search(sentence) is not None


def plain(text: str) -> str:
    """Words and digits alone, in one case, with one space between: `" no such file "`."""
    return f" {' '.join(_WORD.findall(_ESCAPE.sub(' ', text).casefold()))} "


def excerpt(text: str, most: int = 80) -> str:
    """The beginning of a text on one line."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"
