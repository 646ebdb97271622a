"""Foundations: the instructions that a live turn's prompts are built on, kept while it waits.

A turn that asks a person or a sub-agent goes on with the very words it began with, so the beginning of its prompts
stays byte-stable. They are in memory only: after a restart they are read anew.
"""

from collections import OrderedDict
from typing import Final, NamedTuple

from aster.engine_core.context.layers import Layer

MOST_TURNS: Final = 1_000


class Foundation(NamedTuple):
    """What a turn is told of its soul, by its workspace and of its skills."""

    soul: str
    notes: tuple[Layer, ...]
    skills: tuple[Layer, ...]


class Foundations:
    """Those of the turns that went on last."""

    def __init__(self, capacity: int = MOST_TURNS) -> None:
        self._capacity = capacity
        self._kept: OrderedDict[str, Foundation] = OrderedDict()

    def keep(self, turn_id: str, foundation: Foundation) -> None:
        self._kept[turn_id] = foundation
        self._kept.move_to_end(turn_id)
        if len(self._kept) > self._capacity:
            self._kept.popitem(last=False)

    def find(self, turn_id: str) -> Foundation | None:
        return self._kept.get(turn_id)

    def forget(self, turn_id: str) -> None:
        """A turn is over."""
        self._kept.pop(turn_id, None)
