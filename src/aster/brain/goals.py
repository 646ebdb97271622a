"""The goal of a task, as a storage keeps it: one at most, changed by the events that tell of it and by nothing else."""

from typing import Literal, Protocol, TypeAlias

from aster.brain.records import ThreadKey
from aster.contracts.model import Contract

Standing: TypeAlias = Literal["active", "achieved", "failed"]


class Goal(Contract):
    """A goal. `outcome` is what came of it when it was last looked at (`active` before that), `blocks` how often the
    turn was sent on then."""

    goal_id: str
    goal: str
    status: Standing
    outcome: str
    reason: str | None
    blocks: int
    set_at: int
    updated_at: int


class GoalStore(Protocol):
    async def of(self, key: ThreadKey) -> Goal | None: ...
