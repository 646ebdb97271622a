"""What kind of answer a question wants, and so which stores to believe more.

Decided on what the person wrote, never on an expanded question: the words that were added are not theirs.
"""

import re
from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

Intent: TypeAlias = Literal["factual", "procedural", "contextual"]

_FACTS = "who what where when name born lives works age address married company owns drives"
_WAYS = (
    "how fix solve debug error errors mistake mistakes lesson lessons avoid pattern patterns should must never always"
    " step steps procedure procedures workflow workflows"
)
_FACTUAL: Final = frozenset(_FACTS.split())
_PROCEDURAL: Final = frozenset(_WAYS.split())
_WORD = re.compile(r"[^\W_]+")

WEIGHTS: Final[Mapping[Intent, Mapping[str, float]]] = {
    "factual": {"social": 2.0, "profile": 2.0, "knowledge": 1.0, "documents": 1.0, "lessons": 0.5, "episodes": 0.8},
    "procedural": {
        "social": 0.5,
        "profile": 0.5,
        "knowledge": 1.0,
        "documents": 1.0,
        "lessons": 2.0,
        "episodes": 1.5,
    },
    "contextual": {
        "social": 1.0,
        "profile": 1.0,
        "knowledge": 1.5,
        "documents": 1.5,
        "lessons": 1.0,
        "episodes": 1.2,
    },
}
"""How much a store counts; one that is not named counts 1."""


def intent(text: str) -> Intent:
    """By the majority of the words that tell; contextual when there is none."""
    said = set(_WORD.findall(text.lower()))
    facts, ways = len(said & _FACTUAL), len(said & _PROCEDURAL)
    return "factual" if facts > ways else "procedural" if ways > facts else "contextual"
