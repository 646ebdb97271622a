"""What other replicas have committed, told as a hint: whoever holds something in memory looks again.

A hint never carries data, and may be missed while the connection it comes by is being made anew; then one that means
everything is told instead. A brain that only this process writes to never tells any.
"""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from aster.brain.records import ThreadKey


class Change(NamedTuple):
    """Threads that were written to and tables that were changed elsewhere; `everything` when it is not known what."""

    threads: frozenset[ThreadKey] = frozenset()
    tables: frozenset[str] = frozenset()
    everything: bool = False

    def touches(self, *tables: str) -> bool:
        return self.everything or not self.tables.isdisjoint(tables)


Listener: TypeAlias = Callable[[Change], None]


class Changes:
    def __init__(self) -> None:
        self._listeners: list[Listener] = []

    def watch(self, listener: Listener) -> Callable[[], None]:
        """Call a function, on the loop, with every change from now on; returns how to stop."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def tell(self, change: Change) -> None:
        for listener in list(self._listeners):
            listener(change)
