"""Agents that ended behind the model's back, told to it before its next call: once, in the engine's words.

The message and the mark that it was told are one commit. What the agent said comes with `agent_output`, between marks.
"""

from collections.abc import Sequence

from aster.brain.agents import SubagentRecord, SubagentToldRow
from aster.brain.protocol import Brain
from aster.brain.records import ThreadKey
from aster.engine_core.replaying.recorded import NOTICE
from aster.engine_core.services import Services
from aster.engine_core.telling import told
from aster.engine_core.turn import Turn
from aster.infra.clock import now_ms
from aster.infra.ids import new_id


async def tell(turn: Turn, services: Services) -> None:
    """Tell the model of agents in the background that have ended without its knowing, if there are any."""
    untold = services.offspring.untold
    seen = untold.get(turn.key)
    if seen is None:
        return
    await turn.flush()
    ended = await unnoticed(turn.brain, turn.key)
    if not ended:
        if untold.get(turn.key) == seen:
            del untold[turn.key]
        return
    turn.write(told(words(ended), new_id(NOTICE)), rows=marks(ended))


async def unnoticed(brain: Brain, key: ThreadKey) -> list[SubagentRecord]:
    """Those of a task that have ended in the background and that its model was not told of."""
    return [
        child
        for child in await brain.subagents_of(key)
        if child.background and child.ended_at is not None and child.told_at is None
    ]


def words(ended: Sequence[SubagentRecord]) -> str:
    return "\n".join(
        f"The agent {child.agent} in the background ({child.child_task_id}) has ended: {child.status}."
        " agent_output shows what it said."
        for child in ended
    )


def marks(ended: Sequence[SubagentRecord]) -> list[SubagentToldRow]:
    """That the model was told of these, for the commit that tells it."""
    now = now_ms()
    return [SubagentToldRow(child_turn_id=child.child_turn_id, told_at=now) for child in ended]
