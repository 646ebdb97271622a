"""Two records that cannot both be true: the one that holds since later stays, the other one's validity ends.

A model only points at the pair. That they speak of the same is checked here, and which of them stays is decided by
their times alone, whatever the model would keep. Nothing is deleted; of the same time both
stay, and it is told.
"""

from collections.abc import Collection
from typing import NamedTuple

from aster.brain.memory_records import MemoryRow
from aster.learning_centre.clusters import alike, subject
from aster.learning_centre.statements import content

SAME_MATTER = 0.25
"""Of all the words of two records, so many have to be in both for one to contradict the other."""


class Resolution(NamedTuple):
    """Which record stays and which ends; with a `problem`, neither does."""

    keep: MemoryRow
    end: MemoryRow
    problem: str = ""


def resolved(one: MemoryRow, other: MemoryRow, now: int, grounded: Collection[str]) -> Resolution:
    """What follows when a model says that two records contradict each other; `grounded` are the ids of those that rest
    on a person's own words."""
    keep, end = (one, other) if one.valid_from >= other.valid_from else (other, one)
    return Resolution(keep, end, _problem(keep, end, now, grounded))


def _problem(keep: MemoryRow, end: MemoryRow, now: int, grounded: Collection[str]) -> str:
    if keep.id == end.id:
        return "a record cannot contradict itself"
    if keep.kind != end.kind or subject(keep) != subject(end):
        return "they are about different things"
    if alike(content(keep.text), content(end.text)) < SAME_MATTER:
        return "they have too little in common to contradict each other"
    if not (keep.valid_at(now) and end.valid_at(now)):
        return "one of them does not hold any more"
    if keep.valid_from == end.valid_from:
        return "both hold since the same time, so both stay until one is said again"
    if (end.id in grounded and keep.id not in grounded) or (_rule(end) and not _rule(keep)):
        return "what a person said is not ended by something that was only concluded later"
    return ""


def _rule(row: MemoryRow) -> bool:
    return row.kind == "fact" and row.fields["type"] == "rule"
