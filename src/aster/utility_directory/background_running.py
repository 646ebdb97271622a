"""A background command of this engine while it runs: what it has said, who waits for more of it, and how it is stopped.

Any number may wait at once, each for a position of its own; what is said costs no more for it than a look at who waits.
"""

import asyncio
import time
from dataclasses import dataclass, field

from aster.contracts.errors import EngineError
from aster.infra.secret_stream import SecretStream
from aster.utility_directory.background_begun import Begun
from aster.utility_directory.background_spool import Spool


@dataclass(slots=True)
class Running:
    """A command of this engine; `over` when its end is on the thread. `spoke` is when it last said something."""

    begun: Begun
    spool: Spool = field(default_factory=Spool)
    since: float = field(default_factory=time.monotonic)
    spoke: float = field(default_factory=time.monotonic)
    over: asyncio.Event = field(default_factory=asyncio.Event)
    on_thread: "asyncio.Future[None]" = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    task: "asyncio.Task[None] | None" = None
    starting: bool = True
    ending: bool = False
    stalled: bool = False
    stopped: str | None = None
    failure: EngineError | None = None
    sieves: dict[str, SecretStream] = field(default_factory=dict[str, SecretStream])
    _waiting: dict[asyncio.Event, int] = field(default_factory=dict[asyncio.Event, int])

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.since

    def say(self, text: str) -> None:
        self.spoke = time.monotonic()
        self.spool.add(text)
        for waiter, position in self._waiting.items():
            if self.spool.size >= position:
                waiter.set()

    def flush(self) -> None:
        """Let go of what was held back in case more would come; that is nothing new."""
        for sieve in self.sieves.values():
            self.spool.add(sieve.finish())

    def nudge(self) -> None:
        """Something else is new than what it says."""
        for waiter in self._waiting:
            waiter.set()

    async def wait(self, seconds: float, position: int) -> None:
        """Until it has ended, has said so much that it reaches a position, or the time is over."""
        if self.spool.size >= position or self.over.is_set():
            return
        news = asyncio.Event()
        self._waiting[news] = position
        waiting = [asyncio.ensure_future(event.wait()) for event in (self.over, news)]
        try:
            await asyncio.wait(waiting, timeout=seconds, return_when="FIRST_COMPLETED")
        finally:
            del self._waiting[news]
            for one in waiting:
                one.cancel()

    def stop(self, why: str) -> None:
        """Kill it, once; its end follows."""
        if self.stopped is None and self.task is not None and not self.ending:
            self.stopped = why
            self.task.cancel()
