"""Why a task takes no message: its turn runs, or waits for a person, or it has this message already. The refusal says
what to do then."""

from aster.brain.protocol import Brain
from aster.brain.records import ThreadKey
from aster.contracts.errors import EngineError, ErrorCode
from aster.engine_core.orders import Order


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


def taken(order: Order) -> EngineError:
    """A message that was sent again, because its sender could not know that it had arrived."""
    return EngineError(
        ErrorCode.TASK_BUSY,
        "This message was taken before. Follow it with GET /execute/replay.",
        {"task_id": order.task_id, "turn_id": order.turn_id},
    )
