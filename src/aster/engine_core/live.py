"""The turns this process runs, by thread. What is kept here says nothing the threads do not; it only finds them."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field

from aster.brain.records import ThreadKey
from aster.engine_core.turn import Turn


@dataclass(slots=True)
class Live:
    """A turn this process runs (or is about to).

    `begun` once its task has taken its first step, `followed` when a message may wait for its end.
    """

    turn_id: str
    turn: Turn | None = None
    begun: bool = False
    followed: bool = False
    stop_reason: str | None = None
    gone: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def ending(self) -> bool:
        """Its end is written; clients may know of it before its task is gone."""
        return self.turn is not None and self.turn.state.status.ended


class LiveTurns:
    """At most one per thread."""

    def __init__(self) -> None:
        self._turns: dict[ThreadKey, Live] = {}

    def __contains__(self, key: ThreadKey) -> bool:
        return key in self._turns

    def __iter__(self) -> Iterator[Live]:
        return iter(list(self._turns.values()))

    def get(self, key: ThreadKey) -> Live | None:
        return self._turns.get(key)

    def claim(self, key: ThreadKey, turn_id: str, *, followed: bool = False) -> Live:
        """Take a thread for a turn; nobody in this process may have it."""
        assert key not in self._turns, "one turn per thread"
        live = self._turns[key] = Live(turn_id, followed=followed)
        return live

    def release(self, key: ThreadKey, live: Live) -> None:
        if self._turns.get(key) is live:
            del self._turns[key]
        live.gone.set()
