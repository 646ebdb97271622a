"""The soul's narrative: lines about how to be with this person, told by a model from what the person has really said.

A line stands on records that rest on the person's own words, says nothing that is not in them, and tells nobody to do
what a stranger may have wanted. There are only a few, so that they are read; each version of the soul names the records
that its new lines come from.
"""

from collections.abc import Collection, Sequence
from typing import Any, Final

from aster.brain.memory_records import MemoryRow
from aster.brain.memory_words import words as stems
from aster.learning_centre.clusters import alike
from aster.learning_centre.statements import content, tokens

MOST_LINES: Final = 3
"""New lines of one night."""
MOST_PATTERNS: Final = 24
"""Lines of a soul, whoever wrote them; a longer one is left as it is."""
MOST_CHARS: Final = 240
COVERED: Final = 0.7
"""Of a line's words, so many have to be in the records it comes from."""
KNOWN_ALREADY: Final = 0.7
TOLD_FROM: Final = frozenset({"fact", "trait"})
_CONNECTING: Final = frozenset(
    stems(
        "user person prefer like want value care enjoy work usually often answer write keep give use tell when if about"
        " them their they"
    )
)
"""Words a line may bring itself."""


def problem(line: str, sources: Sequence[MemoryRow], grounded: Collection[str], known: Sequence[str]) -> str:
    """What is wrong with a line from these records; empty when it may be kept."""
    if not line or len(line) > MOST_CHARS:
        return f"a line has between 1 and {MOST_CHARS} characters"
    if not sources:
        return "it names no record that it comes from"
    if any(row.kind not in TOLD_FROM or row.id not in grounded for row in sources):
        return "it comes from records that do not rest on what the person said"
    said = frozenset[str]().union(*(content(row.text) for row in sources))
    own = [token for token in tokens(line) if token.word not in said and token.word not in _CONNECTING]
    firm = [token.shown for token in own if not token.word.isalpha() or (token.capital and token.follows != ".")]
    if firm:
        return f"it says more than the records it comes from: {', '.join(firm[:6])}"
    if len(own) > (1 - COVERED) * len(content(line)):
        return f"it says more than the records it comes from: {', '.join(token.shown for token in own[:6])}"
    if any(alike(content(line), content(pattern)) >= KNOWN_ALREADY for pattern in known):
        return "the soul says so already"
    return ""


def extended(soul: MemoryRow, lines: Sequence[str]) -> dict[str, Any]:
    """The fields of a soul with more lines."""
    kept = {name: soul.fields[name] for name in ("identity", "values", "voice") if soul.fields[name] is not None}
    return {**kept, "patterns": [*soul.fields["patterns"], *lines]}
