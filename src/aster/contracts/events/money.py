"""Money events: what a model call used, what it cost, and where a budget stands."""

from typing import Literal, TypeAlias

from aster.contracts.events.base import Event

Purpose: TypeAlias = Literal[
    "step", "plan", "verify", "summary", "recall", "import", "sampling", "skill", "learning", "goal"
]
"""What a model call was made for: a step of the turn, or something beside its steps. An `import` was made elsewhere:
its answer came with a client's history, and cost nothing here. A `sampling` was asked for by a connected server, a
`skill` by a skill that was carried out on its own, a `learning` by the learning centre; a `goal` asks whether a task's
goal is met."""


class Usage(Event, tag="usage"):
    """One per model call, and the mark that the call is complete. `cache_hit_tokens` are part of `input_tokens`.
    `endpoint` is who was asked, by the name that `circuit_state` has for it too. One without a turn is of a call
    that the engine made beside the task's turns, such as for its title.

    `estimated`: the call was cut off (`stop_reason` says by what) after its answer had begun, so its tokens are
    those the provider had named by then and an estimate of the rest; it completes nothing. Nor does one whose
    `purpose` is not a step.
    """

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
    estimated: bool = False
    endpoint: str | None = None
    purpose: Purpose = "step"


class BudgetEvent(Event, tag="budget_event"):
    """A budget (`user` is a person's day, then `task` and `turn`) is nearly used up, or stops the turn."""

    scope: str
    status: Literal["reserved", "settled", "warning", "exceeded"]
    limit: float
    spent: float
    unit: Literal["usd", "tokens"] = "usd"
