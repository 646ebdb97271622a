"""What may be let go: records that nobody has used for long and that are worth little, and lessons that did harm.

It is decided by counting alone. What a person has said in so many words, rules, traits, the soul, documents and people
stay whatever their age; what is retired is found no longer but is still there, and a revert brings it back.
"""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from aster.brain.memory_records import MemoryRow
from aster.memory.decay import DAY, strength, utility

STATED: Final = frozenset({"person", "explicit", "core"})
"""Extractors of what a person has put in or asked to be remembered."""
LEAST_DAYS: Final = 90
FADED: Final = 0.05
"""Strength (by spaced repetition) below which a record counts as forgotten by everybody."""
UNSURE: Final = 0.75
"""A fact that was written as surer than this stays."""
DULL: Final = 0.5
"""An episode that was worth this much stays; what was said in a turn is."""
POOR: Final = 0.5
"""A lesson's utility below which it only takes room."""
TRIED: Final = 3
"""Marks after which a lesson's hit rate says something."""
HIT_RATE: Final = 0.35


class Retirement(NamedTuple):
    row: MemoryRow
    reason: str


def retirements(rows: Sequence[MemoryRow], now: int, disliked: Mapping[str, int]) -> list[Retirement]:
    """Which of these records to retire, and why; `disliked` counts, by id, the turns with them that people called
    bad."""
    found = ((row, _reason(row, now, disliked.get(row.id, 0))) for row in rows if may_go(row) and row.valid_at(now))
    return [Retirement(row, reason) for row, reason in found if reason is not None]


def may_go(row: MemoryRow) -> bool:
    """Whether a record is of a kind that is ever let go."""
    if row.extractor in STATED or row.superseded_by is not None:
        return False
    match row.kind:
        case "lesson":
            return True
        case "fact":
            return row.fields["type"] != "rule"
        case "episode":
            return row.fields["tier"] == "recent"
        case _:
            return False


def hit_rate(row: MemoryRow, disliked: int = 0) -> float | None:
    """Of the turns that tell, how many a lesson has helped; None when there are too few. What a person says of a turn
    counts more than that it ended well."""
    if row.kind != "lesson":
        return None
    helpful, harmful = max(0, row.fields["helpful"] - disliked), row.fields["harmful"] + disliked
    return helpful / (helpful + harmful) if helpful + harmful >= TRIED else None


def _reason(row: MemoryRow, now: int, disliked: int) -> str | None:
    rate = hit_rate(row, disliked)
    if rate is not None and rate < HIT_RATE:
        return f"it helped in {rate:.0%} of the turns that tell"
    days = (now - max(row.last_used_at or 0, row.created_at)) // DAY
    left = strength(row, now)
    if days < LEAST_DAYS or left >= FADED or not _poor(row):
        return None
    used = f"used {row.uses} times, last" if row.uses else "never used and written"
    return f"{used} {days} days ago; its strength is {left:.2f}"


def _poor(row: MemoryRow) -> bool:
    match row.kind:
        case "lesson":
            return utility(row) < POOR
        case "episode":
            return row.fields["value"] < DULL
        case _:
            return row.confidence <= UNSURE
