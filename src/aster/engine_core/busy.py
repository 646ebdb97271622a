"""Why a task takes no message: its turn runs, or waits for a person, or it has this message already. The refusal says
what to do then.

A message whose sender named it has the ids that belong to the name, so that it is known again however it was taken.
"""

import asyncio
from typing import Final

from aster.brain.protocol import Brain
from aster.brain.records import ThreadKey
from aster.brain.unit import Deed
from aster.contracts.errors import EngineError, ErrorCode
from aster.engine_core.live import Live
from aster.engine_core.orders import Order
from aster.infra.ids import derived_id, new_id

LOOK_SECONDS: Final = 0.05


async def refusal(brain: Brain, key: ThreadKey) -> EngineError:
    """What a client is told that did not say what to do then."""
    pending = await brain.pending_requests(key.user_id, key.task_id)
    if not pending:
        return EngineError(
            ErrorCode.TASK_BUSY,
            "A turn of this task is running. Wait for its end, or send `on_busy`: queue, steer or interrupt.",
            {"task_id": key.task_id},
            retry_after=1.0,
        )
    doubt = next((request for request in pending if request.kind == "in_doubt"), None)
    asked = doubt or pending[0]
    return EngineError(
        ErrorCode.TOOL_IN_DOUBT if doubt else ErrorCode.HITL_REQUIRED,
        f"The task waits for a person: {asked.question} Answer with POST /hitl/respond.",
        {"task_id": key.task_id, "request_id": asked.request_id, "kind": asked.kind},
    )


def message_id(order: Order) -> str:
    """The id of an order's message."""
    return new_id("msg") if order.turn_id is None else derived_id("msg", order.turn_id)


async def check_new(brain: Brain, key: ThreadKey, order: Order, live: Live | None = None) -> None:
    """Refuse a message that was taken before, whether it began a turn or was left for one. If `live` is its own turn,
    that is about to begin; what comes of it is waited for."""
    if order.turn_id is None:
        return
    while not await brain.runtime.taken(key, order.turn_id, message_id(order)):
        if live is None or live.turn_id != order.turn_id or live.gone.is_set():
            return
        await asyncio.sleep(LOOK_SECONDS)
    raise _taken(order)


def left_once(brain: Brain, key: ThreadKey, order: Order) -> Deed | None:
    """What refuses a message that is left for a busy task a second time, in the commit that leaves it."""
    if order.turn_id is None:
        return None
    return brain.runtime.leaving(key, order.turn_id, message_id(order), _taken(order))


def _taken(order: Order) -> EngineError:
    """A message that was sent again, because its sender could not know that it had arrived."""
    return EngineError(
        ErrorCode.TASK_BUSY,
        "This message was taken before. Follow it with GET /execute/replay.",
        {"task_id": order.task_id, "turn_id": order.turn_id, "message_id": message_id(order)},
    )
