"""Learning events: what the learning centre does for a person, told on the thread of its own task."""

from typing import Literal, TypeAlias

from aster.contracts.events.base import Event

LearningPhase: TypeAlias = Literal["started", "finished", "deferred", "failed", "decided"]
"""`finished`: a changeset was kept, or there was nothing to do; `deferred`: a person came first, or the day's money is
used up, and it goes on later; `decided`: a changeset was accepted, rejected or reverted, or a trial has a verdict."""


class LearningUpdate(Event, tag="learning_update"):
    """Where a piece of learning (`work`) stands. `items` counts those of its changeset by what they came to, `entries`
    are the things that happened it is made of, `text` says it in words."""

    work: str
    phase: LearningPhase
    text: str = ""
    changeset_id: str | None = None
    status: str | None = None
    items: dict[str, int] = {}
    entries: int = 0
    trial_id: str | None = None
    cost_usd: float | None = None
