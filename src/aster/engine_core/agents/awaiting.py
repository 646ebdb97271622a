"""Looking after an agent in the background, and waiting a while for its end.

Whoever waits leaves its slot to others meanwhile, the one it waits for among them, and looks at what is on record: the
end may be written by any process.
"""

import time
from typing import Final

from aster.brain.agents import SubagentRecord
from aster.brain.fanout import Subscription
from aster.brain.protocol import Brain
from aster.brain.records import ThreadKey
from aster.engine_core.services import Services
from aster.engine_core.turn import Turn

_LOOK_SECONDS: Final = 1.0


async def begun_by(turn: Turn, services: Services, task_id: str, seconds: float) -> SubagentRecord | None:
    """A sub-agent of the turn's task, as it stands when it has ended or the time is up; None when there is no such."""
    found = await _find(turn.brain, turn.key, task_id)
    if found is None or found.ended_at is not None or seconds <= 0:
        return found
    async with services.offspring.resting(turn.key):
        return await _ended(turn, task_id, time.monotonic() + seconds) or found


async def _ended(turn: Turn, task_id: str, deadline: float) -> SubagentRecord | None:
    with turn.brain.subscribe(turn.key, await turn.brain.head(turn.key)) as thread:
        while True:
            found = await _find(turn.brain, turn.key, task_id)
            left = deadline - time.monotonic()
            if found is None or found.ended_at is not None or left <= 0 or turn.yielding:
                return found
            await _news(thread, min(left, _LOOK_SECONDS))


async def _news(thread: Subscription, seconds: float) -> None:
    """Wait until one has begun or ended; or so long, for what no fan-out tells."""
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        if any(frame.type == "subagent_lifecycle" for frame in await thread.next(left)):
            return


async def _find(brain: Brain, key: ThreadKey, task_id: str) -> SubagentRecord | None:
    return next((child for child in await brain.subagents_of(key) if child.child_task_id == task_id), None)
