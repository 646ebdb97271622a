"""Admission: whether one more turn of a user may begin. It is refused with what to do about it, or waits for a replica
that has room; never does more wait so than one replica could run."""

from typing import Final

from aster.brain.protocol import Brain
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.learning import OWN_TASKS
from aster.engine_core.runner import Runner
from aster.engine_core.services import Services
from aster.engine_core.slots import too_many

_MOST: Final = 1000
"""Turns of one user that are counted; those that wait for a replica may stand before those that run."""


def check(brain: Brain, runner: Runner, *, draining: bool) -> None:
    """Refuse while this process begins nothing."""
    if draining:
        raise EngineError(
            ErrorCode.DRAINING, "The engine is shutting down. Try again in a moment.", retry_after=2.0
        )
    if not runner.ready:
        raise EngineError(
            ErrorCode.STORAGE_UNAVAILABLE,
            "This replica has lost touch with the others. Try again in a moment.",
            retry_after=1.0,
        )
    if brain.fault is not None:
        raise EngineError(
            ErrorCode.STORAGE_UNAVAILABLE,
            f"The brain cannot be written: {brain.fault}. Nothing was lost; try again later.",
            retry_after=5.0,
        )


def check_task(task_id: str) -> None:
    """Refuse a message for a thread on which the engine itself tells what it does."""
    if task_id in OWN_TASKS:
        raise EngineError(
            ErrorCode.INVALID_REQUEST,
            f"Correct this and send it again: `task_id` {task_id!r} is the engine's own.",
            {"fields": [{"field": "task_id", "problem": "is the engine's own"}]},
        )


async def running(brain: Brain, user_id: str) -> int:
    """How many turns of a user somebody runs at this moment."""
    threads = await brain.threads(user_id, limit=_MOST, status="running")
    return sum(thread.owner is not None for thread in threads)


async def slot(services: Services, runner: Runner, user_id: str) -> bool:
    """Take a slot for a new turn; false when there is none here and the turn may look for one elsewhere."""
    limit = services.settings.user_slots
    if runner.shared and limit and await running(services.brain, user_id) >= limit:
        raise too_many(limit)
    if runner.try_slot(user_id):
        return True
    if runner.shared and (await services.brain.running_by()).get(None, 0) < runner.slots[1]:
        return False
    raise runner.refusal(user_id)
