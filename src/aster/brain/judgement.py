"""What a brain knows of plans and uncertainties: read models of events, never more than the thread says."""

from typing import Literal

from aster.contracts.events.judgement import Resolution
from aster.contracts.model import Contract


class PlanRecord(Contract):
    """The newest plan of a task; `body` is the event that told it."""

    turn_id: str
    seq: int
    body: bytes
    updated_at: int


class UncertaintyRecord(Contract):
    """Something the agent of a task does not know or takes for granted, as it stands."""

    item_id: str
    turn_id: str
    seq: int
    item: Literal["unknown", "assumption"]
    text: str
    impact: int
    confidence: float | None
    resolution: Resolution | None
    source: Literal["tool", "hedge"]
    resolved: bool
    note: str | None
    created_at: int
    updated_at: int


class RecurringUnknown(Contract):
    """An unknown that came up several times and is not settled; `text` is its newest wording."""

    text: str
    times: int
    tasks: int
    impact: int
    last_at: int
