"""What turns know of sub-agents beyond their own threads: how to have one begun, how to wait for one, and where one
ended unnoticed."""

from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from aster.brain.agents import SubagentRecord
from aster.brain.records import ThreadKey
from aster.engine_core.orders import Order


async def _nobody_begins(key: ThreadKey, turn_id: str, order: Order) -> None:
    """Until somebody runs turns, whoever is to be begun stays a row."""
    del key, turn_id, order


async def _nobody_stops(key: ThreadKey, stop_reason: str) -> str | None:
    del key, stop_reason


async def _nobody_goes(child: SubagentRecord) -> None:
    del child


async def _nobody_works(key: ThreadKey) -> list[ThreadKey]:
    del key
    return []


@asynccontextmanager
async def _at_work(key: ThreadKey) -> AsyncGenerator[None]:
    del key
    yield


class Offspring:
    """`begin` starts a turn that is on record as a sub-agent's, `stop` ends the turn of a task; `dismiss` stops one of
    them, `discard` all that work for a task and says which tasks were theirs; `resting` leaves the slot of a task's
    turn to others while it waits for one of them; `untold` are threads on which one may have ended in the background
    without the model knowing, with how often one did."""

    def __init__(self) -> None:
        self.begin: Callable[[ThreadKey, str, Order], Awaitable[None]] = _nobody_begins
        self.stop: Callable[[ThreadKey, str], Awaitable[str | None]] = _nobody_stops
        self.dismiss: Callable[[SubagentRecord], Awaitable[None]] = _nobody_goes
        self.discard: Callable[[ThreadKey], Awaitable[list[ThreadKey]]] = _nobody_works
        self.resting: Callable[[ThreadKey], AbstractAsyncContextManager[None]] = _at_work
        self.untold: Counter[ThreadKey] = Counter()
