"""Money set aside for model calls under way, where every replica sees it.

A hold counts against its budgets from before the call until what the call used is written. It is renewed for as long as
the call runs and expires by itself, so that money set aside by a process that died comes back.
"""

from typing import ClassVar, Literal, NamedTuple

from aster.brain.records import Row


class HoldRow(Row):
    """The most a call may cost; a hold that is over has expired. `turn_id` is empty for a call of no turn."""

    table: ClassVar[str] = "budget_holds"
    key: ClassVar[tuple[str, ...]] = ("hold_id",)

    hold_id: str
    user_id: str
    task_id: str
    turn_id: str
    owner: str
    usd: float
    expires_at: int


class Cap(NamedTuple):
    """What may be spent and held altogether in a scope. `spent` and `root_turn_id` are for a turn: what it has spent,
    or which turn's sub-agents are to be added up."""

    scope: Literal["user", "task", "turn"]
    ceiling: float
    spent: float = 0.0
    root_turn_id: str | None = None


class Purse(NamedTuple):
    """What a user has spent since a point in time and a task of theirs ever, and what is held beside it."""

    user: float
    task: float
    user_held: float
    task_held: float

    def held(self, scope: Literal["user", "task", "turn"]) -> float:
        return self.user_held if scope == "user" else self.task_held
