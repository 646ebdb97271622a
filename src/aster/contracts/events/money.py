"""Money events: what a model call used, what it cost, and where a budget stands."""

from typing import Literal

from aster.contracts.events.base import Event


class Usage(Event, tag="usage"):
    """One per model call, and the mark that the call is complete. `cache_hit_tokens` are part of `input_tokens`."""

    step: int
    message_id: str
    model: str
    stop_reason: str
    input_tokens: int
    output_tokens: int
    cache_hit_tokens: int = 0
    cache_write_tokens: int = 0
    cost_usd: float | None = None
    duration_ms: int | None = None
    first_token_ms: int | None = None


class BudgetEvent(Event, tag="budget_event"):
    """A budget (`user` is a person's day, then `task` and `turn`) is nearly used up, or stops the turn."""

    scope: str
    status: Literal["reserved", "settled", "warning", "exceeded"]
    limit: float
    spent: float
    unit: Literal["usd", "tokens"] = "usd"
