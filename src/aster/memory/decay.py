"""How sure a memory still is, and what a lesson is worth: computed when it is read, never written back.

Nothing is changed by the passing of time, so a record that is used again is as sure as it was said to be.
"""

from math import exp, log, log1p
from typing import Any, Final

from aster.brain.memory_records import MemoryRow

DAY: Final = 86_400_000
LASTING: Final = 180.0
"""Days after which an unused fact is half as sure; it grows with every use."""
LEAST: Final = 0.2
"""Of the confidence it was written with, so much always stays."""
UNFADING: Final = frozenset({"soul", "trait", "chunk", "node"})
"""Who somebody is, and what a document says, does not become less sure by itself."""


def confidence(row: MemoryRow, now: int) -> float:
    if row.kind in UNFADING or row.fields.get("type") == "rule":
        return row.confidence
    left = 0.5 ** (_age(row, now) / (LASTING * (1 + log1p(row.uses))))
    return round(row.confidence * max(left, LEAST), 4)


def strength(row: MemoryRow, now: int) -> float:
    """Spaced repetition: 1 when fresh; the more often it was used, the slower it fades."""
    return round(exp(-_age(row, now) / (30 * (1 + log1p(row.uses)))), 4)


def utility(row: MemoryRow) -> float:
    """What a lesson is worth: how sure it is, how often it helped when it was shown, how often it was learned."""
    fields: dict[str, Any] = row.fields
    shown, helped = row.uses, max(fields["helpful"] - fields["harmful"], 0)
    worth = 0.5 * row.confidence + 0.8 * (helped + 1) / (shown + 2) + (0.3 if fields["verified"] else 0.0)
    worth += min(0.1 * log(1 + fields["frequency"]), 0.3)
    return round(worth / 2 if shown >= 5 and helped / shown < 0.35 else worth, 4)


def _age(row: MemoryRow, now: int) -> float:
    return max(now - (row.last_used_at or row.created_at), 0) / DAY
