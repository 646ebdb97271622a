"""Corrections on their way: the checks under way behind turns, and the tasks that may have one to be told.

Few answers of one task and not too many of all are checked at once; one more goes unchecked.
"""

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from typing import Final

from aster.brain.records import ThreadKey

MOST_OF_ONE: Final = 3
MOST_OF_ALL: Final = 256


@dataclass(slots=True)
class Waiting:
    """`due` are threads on which a correction may wait, with a number that changes with each."""

    due: Counter[ThreadKey] = field(default_factory=Counter[ThreadKey])
    closed: bool = False
    _checking: dict[asyncio.Task[None], ThreadKey] = field(default_factory=dict[asyncio.Task[None], ThreadKey])

    def full(self, key: ThreadKey) -> bool:
        """Whether no other answer of this task can be checked now."""
        checking = self._checking.values()
        return len(checking) >= MOST_OF_ALL or sum(other == key for other in checking) >= MOST_OF_ONE

    def add(self, key: ThreadKey, task: "asyncio.Task[None]") -> None:
        """A check has begun."""
        self._checking[task] = key
        task.add_done_callback(lambda done: self._checking.pop(done, None))

    async def close(self) -> None:
        """Check nothing any more; what is under way is given up."""
        self.closed = True
        checking = list(self._checking)
        for task in checking:
            task.cancel()
        await asyncio.gather(*checking, return_exceptions=True)
