"""Learning signals: what a person says of a turn, a message or a memory. There is one for each, the newest."""

from typing import Literal, NamedTuple, TypeAlias

from aster.contracts.model import Contract

Target: TypeAlias = Literal["turn", "message", "memory"]


class Signal(Contract):
    """`rating` is from -1 (wrong, harmful) to 1 (right, helpful); None when it was not rated. `number` grows with
    every new signal."""

    signal_id: str
    user_id: str
    target: Target
    target_id: str
    task_id: str
    turn_id: str
    rating: float | None
    text: str
    correction: str
    created_at: int
    updated_at: int
    number: int = 0


class Said(NamedTuple):
    """Where a message stands."""

    task_id: str
    turn_id: str
