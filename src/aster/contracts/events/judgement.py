"""Judgement events: whether claims held up, and what the agent is not sure of."""

from typing import Literal

from aster.contracts.events.base import Event


class Verification(Event, tag="verification"):
    claim: str
    verdict: Literal["confirm", "refute", "uncertain"]
    confidence: float
    evidence: tuple[str, ...] = ()
    action: Literal["none", "repair", "note"] = "none"


class Uncertainty(Event, tag="uncertainty"):
    item_id: str
    item: Literal["unknown", "assumption"]
    text: str
    impact: int
    confidence: float | None = None
    resolved: bool = False
