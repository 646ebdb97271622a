"""Media on its way into a turn: made fit at the door, and what the model will not be shown said on the thread.

The door is before the turn: what is refused there starts nothing. The notice is once per turn, from the thread alone.
"""

from msgspec.structs import replace

from aster.contracts.blocks import FileBlock
from aster.contracts.events import MediaNotice
from aster.engine_core.assemble import assemble
from aster.engine_core.orders import HitlReply, Order
from aster.engine_core.services import Services
from aster.engine_core.stripped_media import NOUNS, kind_of
from aster.engine_core.turn import Turn

UNSUPPORTED = "not_taken_by_model"


async def taken_in(services: Services, user_id: str, order: Order) -> Order:
    """The order with its message and media as the turn is to have them."""
    message, media = await services.media.taken_in(user_id, order.task_id, order.message, order.media)
    return replace(order, message=message, media=media)


async def answered(services: Services, reply: HitlReply) -> HitlReply:
    """A person's answer with its media as the turn is to have them."""
    if not reply.content_blocks:
        return reply
    return replace(reply, content_blocks=await services.media.checked(reply.content_blocks, "content_blocks"))


def announce(turn: Turn, services: Services) -> None:
    """Say which of the message's media the model that answers takes none of; it is told so in words."""
    state = turn.state
    if state.model_calls or state.media_noted or not state.messages:
        return
    said = state.messages[0]
    files = [(at, block) for at, block in enumerate(said.content) if isinstance(block, FileBlock)]
    if not files:
        return
    request = assemble(turn, services)
    notices = [
        MediaNotice(
            action="unsupported",
            kind=kind_of(block),
            reason=UNSUPPORTED,
            message=f"{NOUNS[kind_of(block)]} cannot be shown to {request.model}; it is told that one was attached.",
            message_id=said.id,
            block_index=at,
        )
        for at, block in files
        if not services.herald.shows(request, block)
    ]
    if notices:
        turn.write(*notices)
