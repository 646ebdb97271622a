"""The opening of a turn: its first two events, and the place its history ends."""

from aster.brain.records import ThreadKey
from aster.contracts.blocks import MediaBlock
from aster.contracts.events import Phase, ThreadLifecycle, UserMessage
from aster.contracts.events.lifecycle import Origin
from aster.contracts.model import to_builtins
from aster.contracts.turn import TurnRequest
from aster.engine_core.agent_loop import content_of
from aster.engine_core.history import History, Place
from aster.engine_core.orders import Order


async def opening(
    history: History, key: ThreadKey, order: Order, tip: Place, message_id: str, origin: Origin
) -> tuple[ThreadLifecycle, UserMessage]:
    """What a turn begins with: after the newest turn, or where an edit or a retry goes back to."""
    place, content = tip, content_of(order)
    changed = order.edit_message_id or order.retry_message_id
    if changed is not None:
        place, original = await history.find(key, changed)
        if order.retry_message_id is not None:
            content = tuple(block for block in original.content if isinstance(block, MediaBlock))
    request = TurnRequest(
        direct=order.direct,
        super_thinking=order.super_thinking,
        model=order.model,
        permission_mode=order.permission_mode or "default",
        unattended=order.unattended,
    )
    started = ThreadLifecycle(
        phase=Phase.STARTED,
        request=to_builtins(request),
        follows_turn_id=place.turn_id,
        follows_messages=place.messages,
    )
    message = UserMessage(
        message_id=message_id,
        content=content,
        origin=origin,
        edits=order.edit_message_id,
        retries=order.retry_message_id,
    )
    return started, message
