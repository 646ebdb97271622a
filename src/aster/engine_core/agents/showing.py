"""What a sub-agent asks a person is shown where the person is: on the thread of the task that it all began in.

The question itself stays on the sub-agent's own thread, where its answer goes; what is shown carries `depth` and is
part of no turn, so that nothing is ever decided by it.
"""

from collections.abc import Iterable

import msgspec

from aster.brain.protocol import Brain
from aster.brain.records import HitlRecord, ThreadKey
from aster.brain.unit import Present
from aster.contracts.agents import Parent
from aster.contracts.events import Event, HitlRequest, HitlResolved, PermissionPrompt
from aster.contracts.model import decode
from aster.engine_core.orders import Order


def show(brain: Brain, user_id: str, agent: str, parent: Parent, events: Iterable[Event]) -> None:
    """Show the questions among these events."""
    shown = [
        _above(event, agent, parent)
        for event in events
        if isinstance(event, HitlRequest | PermissionPrompt | HitlResolved)
    ]
    if shown:
        home = ThreadKey(user_id, parent.home_task_id)
        brain.append(home, None, shown, guard=Present()).add_done_callback(lambda done: done.exception())


async def answered(brain: Brain, request: HitlRecord, resolved: HitlResolved) -> None:
    """Show that a question has been answered, if it was a sub-agent's."""
    found = await brain.subagent(request.user_id, request.turn_id)
    if found is None:
        return
    order = decode(found.body, Order)
    if order.parent is not None:
        show(brain, request.user_id, found.agent, order.parent, [resolved])


def _above(event: HitlRequest | PermissionPrompt | HitlResolved, agent: str, parent: Parent) -> Event:
    placed = msgspec.structs.replace(event, turn_id=None, parent_turn_id=parent.turn_id, depth=parent.depth)
    if isinstance(placed, HitlRequest):
        return msgspec.structs.replace(placed, question=f"The sub-agent {agent} asks: {placed.question}")
    return placed
