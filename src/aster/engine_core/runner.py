"""The runner starts, cancels and resumes segments, and nothing more; what a segment does is not its business.

`local` runs them as asyncio tasks of this process, at most as many at a time as there are slots. Where several replicas
share a brain, what one of them cannot or may not go on with is offered to all, and whoever has room takes it.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Final, NamedTuple, Protocol, TypeAlias

from aster.brain.records import ThreadKey, TurnRecord
from aster.contracts.errors import EngineError
from aster.engine_core.slots import Slots

log = logging.getLogger("aster.runner")

LEAVE_SECONDS: Final = 5.0
"""For how long turns that are interrupted may write down how they stand."""

Work: TypeAlias = Coroutine[Any, Any, None]
Chore: TypeAlias = Callable[[], Awaitable[None]]


class Alive(NamedTuple):
    """A replica that the others know to be alive; one of them leads."""

    replica: str
    since_ms: int
    leads: bool


class Runner(Protocol):
    @property
    def shared(self) -> bool:
        """Whether other replicas go on with what this one leaves."""
        ...

    @property
    def ready(self) -> bool:
        """Whether this replica may begin anything: the others know that it is alive."""
        ...

    def try_slot(self, user_id: str) -> bool:
        """Take a slot if one is free; whoever took it gives it back."""
        ...

    def give_back(self, user_id: str) -> None: ...

    async def acquire(self, user_id: str) -> None:
        """Wait for a slot."""
        ...

    async def room(self, user_id: str) -> bool:
        """A slot for a turn that was let in without one; false when it had better go on elsewhere."""
        ...

    def refusal(self, user_id: str) -> EngineError:
        """Why there is no slot for a user."""
        ...

    def start(self, key: ThreadKey, work: Work) -> None:
        """Run a segment of this thread."""
        ...

    def cancel(self, key: ThreadKey) -> bool:
        """Interrupt the segment that runs for this thread, if one does."""
        ...

    async def offer(self, turn: TurnRecord) -> None:
        """A turn runs and nobody has it: let whoever has room go on with it."""
        ...

    async def once(self, chore: str, occasion: str, work: Chore) -> None:
        """Have a chore done, by one of the replicas, for an occasion that all of them meet."""
        ...

    async def alive(self) -> list[Alive]:
        """The replicas that are alive, the oldest first; empty where there is nobody to share with."""
        ...

    async def leave(self) -> None:
        """Take nothing more of what others leave."""
        ...

    async def idle(self, timeout: float) -> bool:
        """Wait until nothing runs; false when the time is up first."""
        ...

    async def stop(self) -> None:
        """Interrupt everything and wait until it is gone, or until it is plain that a brain out of reach keeps it."""
        ...

    @property
    def slots(self) -> tuple[int, int]:
        """Slots in use and slots in all."""
        ...


class LocalRunner:
    shared = False

    def __init__(self, slots: int, per_user: int = 0) -> None:
        self._slots = Slots(slots, per_user)
        self._tasks: dict[ThreadKey, asyncio.Task[None]] = {}

    @property
    def ready(self) -> bool:
        return True

    def try_slot(self, user_id: str) -> bool:
        return self._slots.take(user_id)

    def give_back(self, user_id: str) -> None:
        self._slots.give_back(user_id)

    async def acquire(self, user_id: str) -> None:
        await self._slots.acquire(user_id)

    async def room(self, user_id: str) -> bool:
        await self._slots.acquire(user_id)
        return True

    def refusal(self, user_id: str) -> EngineError:
        return self._slots.refusal(user_id)

    def start(self, key: ThreadKey, work: Work) -> None:
        task = asyncio.get_running_loop().create_task(work, name=f"segment {key.task_id}")
        self._tasks[key] = task
        task.add_done_callback(lambda done: self._gone(key, done))

    def _gone(self, key: ThreadKey, task: "asyncio.Task[None]") -> None:
        if self._tasks.get(key) is task:
            del self._tasks[key]
        if not task.cancelled() and task.exception() is not None:
            task.get_loop().call_exception_handler(
                {"message": "a segment failed outside its turn", "exception": task.exception(), "task": task}
            )

    def cancel(self, key: ThreadKey) -> bool:
        task = self._tasks.get(key)
        return task.cancel() if task is not None else False

    async def offer(self, turn: TurnRecord) -> None:
        """There is nobody else: the next start goes on with it."""
        del turn

    async def once(self, chore: str, occasion: str, work: Chore) -> None:
        """There is nobody else to do it."""
        del chore, occasion
        await work()

    async def alive(self) -> list[Alive]:
        return []

    async def leave(self) -> None:
        """Nobody leaves anything here."""

    async def idle(self, timeout: float) -> bool:
        running = list(self._tasks.values())
        if not running:
            return True
        _, late = await asyncio.wait(running, timeout=timeout)
        return not late

    async def stop(self) -> None:
        await asyncio.sleep(0)  # one that has not taken its first step could not leave its turn to others
        running = list(self._tasks.values())
        for task in running:
            task.cancel()
        if running:
            _, late = await asyncio.wait(running, timeout=LEAVE_SECONDS)
            if late:
                log.warning("%d turns could not be left in order: the brain takes nothing", len(late))

    @property
    def slots(self) -> tuple[int, int]:
        return self._slots.used, self._slots.total
