"""Judgement events: whether claims held up, and what the agent is not sure of."""

from typing import Literal, TypeAlias

from aster.contracts.events.base import Event

Verdict: TypeAlias = Literal["confirm", "refute", "uncertain"]
VerificationAction: TypeAlias = Literal["none", "repair", "note", "later", "correct"]


class Verification(Event, tag="verification"):
    """An answer was held against what the tools had said; `evidence` are the calls, `issues` what does not hold.

    `action` is what came of it: the answer is written again, got a note, or stands (`none`). One that was checked after
    its turn (`about_turn_id`) is to be corrected `later`, which `correct` in the next turn of the task does. `source`
    says who objected: the engine's own checks, or a model. `message_id` is the message that asks for a repair.
    """

    claim: str
    verdict: Verdict
    confidence: float
    evidence: tuple[str, ...] = ()
    action: VerificationAction = "none"
    issues: tuple[str, ...] = ()
    source: Literal["checks", "model"] = "model"
    step: int = 0
    about_turn_id: str | None = None
    message_id: str | None = None


Resolution: TypeAlias = Literal["ask_user", "find_out"]


class Uncertainty(Event, tag="uncertainty"):
    """Something the agent does not know, or takes for granted; told again with `resolved` once it is settled.

    `impact` is from 1 (little) to 5 (everything). `resolution` is who can settle an unknown: the person, or the agent
    itself. `source` is where it came from: the agent said so, or its words gave it away. `note` is how it was settled.
    """

    item_id: str
    item: Literal["unknown", "assumption"]
    text: str
    impact: int
    confidence: float | None = None
    resolved: bool = False
    resolution: Resolution | None = None
    source: Literal["tool", "hedge"] = "tool"
    note: str | None = None


class RiskSummary(Event, tag="risk_summary"):
    """What of weight the turn leaves unsettled, in the engine's words; it stands beside the answer, not in it."""

    text: str
    item_ids: tuple[str, ...]
