"""The turns this process runs, by thread. What is kept here says nothing the threads do not; it only finds them."""

import asyncio
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aster.brain.records import ThreadKey
from aster.engine_core.runner import Runner
from aster.engine_core.turn import Turn


@dataclass(slots=True)
class Live:
    """A turn this process runs (or is about to).

    `begun` once its task has taken its first step, `followed` when a message may wait for its end, `slot` while it
    holds one, `since` is the epoch at which this process took it, `left` when this process has let go of it, `lost`
    when another has taken it.
    """

    turn_id: str
    turn: Turn | None = None
    begun: bool = False
    followed: bool = False
    slot: bool = False
    since: int | None = None
    left: bool = False
    lost: bool = False
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
        self._returning: set[asyncio.Future[None]] = set()

    def __contains__(self, key: ThreadKey) -> bool:
        return key in self._turns

    def __iter__(self) -> Iterator[Live]:
        return iter(list(self._turns.values()))

    def get(self, key: ThreadKey) -> Live | None:
        return self._turns.get(key)

    @property
    def keys(self) -> frozenset[ThreadKey]:
        return frozenset(self._turns)

    def claim(self, key: ThreadKey, turn_id: str, *, followed: bool = False) -> Live:
        """Take a thread for a turn; nobody in this process may have it."""
        assert key not in self._turns, "one turn per thread"
        live = self._turns[key] = Live(turn_id, followed=followed)
        return live

    def release(self, key: ThreadKey, live: Live) -> None:
        if self._turns.get(key) is live:
            del self._turns[key]
        live.gone.set()

    @asynccontextmanager
    async def resting(self, runner: Runner, key: ThreadKey) -> AsyncGenerator[None]:
        """Leave the slot of a turn to others while it waits for one of them. It is taken back whatever happens, so
        that whoever is to give it back in the end finds it there."""
        live = self._turns.get(key)
        if live is None or not live.slot:
            yield
            return
        live.slot = False
        runner.give_back(key.user_id)
        try:
            yield
        finally:
            back = asyncio.ensure_future(_taken_back(runner, key.user_id, live))
            self._returning.add(back)
            back.add_done_callback(self._returning.discard)
        await asyncio.shield(back)


async def _taken_back(runner: Runner, user_id: str, live: Live) -> None:
    """A turn that has ended meanwhile needs none."""
    await runner.acquire(user_id)
    if live.gone.is_set():
        runner.give_back(user_id)
    else:
        live.slot = True
