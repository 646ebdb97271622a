"""Turns and other replicas: noticing what they did to a turn of this process, and stopping one of theirs.

What decides is on the thread's row: who has the turn, whether it was asked to stop. A hint only says that it is time to
look; one that is missed is made up for when hints come again.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias

from aster.brain.changes import Change
from aster.brain.protocol import Brain
from aster.brain.records import ThreadKey, TurnRecord
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.turn import TurnStatus
from aster.engine_core.live import Live, LiveTurns
from aster.engine_core.runner import Runner

log = logging.getLogger("aster.neighbours")

Take: TypeAlias = Callable[[TurnRecord], Awaitable[object]]
"""Goes on with a turn here, if nobody else has it."""
STOP_SECONDS: Final = 20.0
_LOOK_SECONDS: Final = 0.5


class Neighbours:
    """Looks after the turns of this process when others have written to their threads."""

    def __init__(self, brain: Brain, live: LiveTurns, runner: Runner) -> None:
        self._brain = brain
        self._live = live
        self._runner = runner
        self._looking: dict[ThreadKey, asyncio.Task[None]] = {}
        self._again: set[ThreadKey] = set()

    def changed(self, change: Change) -> None:
        for key in self._live.keys if change.everything else self._live.keys & change.threads:
            if key in self._looking:
                self._again.add(key)
            else:
                task = asyncio.get_running_loop().create_task(self._look(key), name=f"look {key.task_id}")
                self._looking[key] = task

    async def _look(self, key: ThreadKey) -> None:
        try:
            while (live := self._live.get(key)) is not None:
                self._again.discard(key)
                await self._compare(key, live)
                if key not in self._again:
                    return
        except Exception:  # the boundary to storage: the next hint looks again
            log.exception("a thread that was written to elsewhere could not be read")
        finally:
            self._again.discard(key)
            self._looking.pop(key, None)

    async def _compare(self, key: ThreadKey, live: Live) -> None:
        live.followed = True
        if live.turn is not None:
            live.turn.steered = True
        thread = await self._brain.thread(key)
        if thread is None or self._live.get(key) is not live or not _goes_on(live):
            return
        if live.since is not None and thread.epoch > live.since:
            log.warning("turn %s was taken by another replica", live.turn_id)
            live.lost = True
        elif thread.asked_to_stop is not None and (thread.active_turn_id, live.stop_reason) == (live.turn_id, None):
            live.stop_reason = thread.asked_to_stop
        else:
            return
        if live.begun:
            self._runner.cancel(key)

    async def close(self) -> None:
        looking = list(self._looking.values())
        for task in looking:
            task.cancel()
        await asyncio.gather(*looking, return_exceptions=True)


def _goes_on(live: Live) -> bool:
    """Whether it is this process's to run on with; not when its end is being written, or it is being left."""
    turn = live.turn
    return not (live.left or live.lost) and (turn is None or turn.state.status is TurnStatus.RUNNING)


async def stopped(brain: Brain, take: Take, key: ThreadKey, turn_id: str, stop_reason: str) -> None:
    """Have a turn stopped by whoever runs it; returns when it does not run any more. One that nobody runs is taken to
    be ended here: it need not wait for a slot for that."""
    deadline = time.monotonic() + STOP_SECONDS
    with brain.subscribe(key, await brain.head(key)) as news:
        running = await brain.ask_to_stop(key, turn_id, stop_reason)
        while running and time.monotonic() < deadline:
            turn = await brain.turn(key.user_id, turn_id)
            running = turn is not None and turn.status == TurnStatus.RUNNING
            if turn is not None and running:
                if turn.owner is None:
                    await take(turn)
                await news.next(_LOOK_SECONDS)
    if running:
        raise EngineError(
            ErrorCode.TASK_BUSY,
            "The turn was asked to stop and has not ended yet. It will; look again in a moment.",
            {"task_id": key.task_id, "turn_id": turn_id},
            retry_after=2.0,
        )
