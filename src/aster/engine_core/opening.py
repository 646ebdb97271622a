"""The opening of a turn: its first events, and the place its history ends.

Messages that a client brings along come before it, as a turn of their own in the same commit; calls that a client
made and answered already come right after its message, so that the loop goes on from their results.
"""

from typing import NamedTuple

from aster.brain.records import ThreadKey
from aster.contracts.blocks import MediaBlock
from aster.contracts.events import Event, Phase, ThreadLifecycle, UserMessage
from aster.contracts.events.lifecycle import Origin
from aster.contracts.model import to_builtins
from aster.contracts.turn import TurnRequest
from aster.engine_core import direct_call
from aster.engine_core.agent_loop import content_of
from aster.engine_core.history import History, Place
from aster.engine_core.imports import Imported, imported, records
from aster.engine_core.orders import Order
from aster.infra.ids import new_id


class Opening(NamedTuple):
    """What a turn begins with; `before` is the turn that holds what was brought along."""

    started: ThreadLifecycle
    message: UserMessage
    made: tuple[Event, ...] = ()
    before: Imported | None = None


async def opening(
    history: History, key: ThreadKey, order: Order, tip: Place, message_id: str, origin: Origin, said_at: str | None
) -> Opening:
    """What a turn begins with: after the newest turn, or after the place that the order, an edit or a retry names."""
    place, content = tip, content_of(order)
    if order.follows is not None:
        place = Place(order.follows.turn_id, order.follows.messages)
    changed = order.edit_message_id or order.retry_message_id
    if changed is not None:
        place, original = await history.find(key, changed)
        if order.retry_message_id is not None:
            content = tuple(block for block in original.content if isinstance(block, MediaBlock))
    before = None
    if order.brought:
        known = await history.load(key, place)
        before = imported(order.brought, place, order.brought_turn_id or new_id("turn"))
        place = Place(before.turn_id)
        history.keep(key, before.turn_id, [*known, *before.messages])
    started = ThreadLifecycle(
        phase=Phase.STARTED,
        request=to_builtins(_request(order)),
        follows_turn_id=place.turn_id,
        follows_messages=place.messages,
    )
    message = UserMessage(
        message_id=message_id,
        content=content,
        origin="engine" if order.method else origin,
        edits=order.edit_message_id,
        retries=order.retry_message_id,
        said_at=said_at,
    )
    fired = () if order.fired is None else (order.fired,)
    return Opening(started, message, (*fired, *records(order.made), *direct_call.records(order.call)), before)


def _request(order: Order) -> TurnRequest:
    return TurnRequest(
        direct=order.direct,
        super_thinking=order.super_thinking,
        model=order.model,
        permission_mode=order.permission_mode or "default",
        unattended=order.unattended,
        instructions=order.instructions,
        tools=order.tools,
        own_tools=order.own_tools,
        options=order.options,
        echo=order.echo,
        place=order.place,
        method=order.method,
        agent=order.profile,
        parent=order.parent,
        budget=order.budget,
        woken=order.woken,
        advance=order.advance,
    )
