"""Channel state: the fold of a turn, kept now and then so that taking it up again need not start at its beginning.

A snapshot is a cache: it has a time to live, and without it the same state is folded from the thread. It never says
anything the thread does not.
"""

from aster.brain.protocol import Brain
from aster.brain.records import SnapshotRow, ThreadKey
from aster.contracts.model import encode
from aster.contracts.turn import TurnState
from aster.engine_core.fold import fold, restore
from aster.engine_core.services import Services
from aster.engine_core.turn import Turn
from aster.infra.clock import now_ms

STEPS_BETWEEN = 10


async def load(brain: Brain, key: ThreadKey, turn_id: str) -> TurnState:
    """The state of a turn, from its newest snapshot on."""
    saved = await brain.snapshot(key.user_id, turn_id)
    start = restore(saved.snapshot_json) if saved else None
    return fold(turn_id, await brain.records(key, turn_id, start.seq if start else 0), start)


async def row(turn: Turn, seconds: int) -> SnapshotRow:
    """The snapshot of a turn as it stands on the thread now. What it waits for is written there by others, who may have
    done so already: then the thread knows more than the turn."""
    await turn.flush()
    state = await load(turn.brain, turn.key, turn.turn_id) if turn.state.waits else turn.state
    return SnapshotRow(
        turn_id=turn.turn_id,
        task_id=turn.key.task_id,
        seq=state.seq,
        snapshot_json=encode(state),
        expires_at=now_ms() + seconds * 1000,
    )


async def checkpoint(turn: Turn, services: Services) -> None:
    """Keep a snapshot of a long turn every few steps."""
    state = turn.state
    if state.settled and state.step and state.step % STEPS_BETWEEN == 0:
        turn.write(rows=(await row(turn, services.settings.channel_state_ttl_active),))
