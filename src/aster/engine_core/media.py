"""Media on its way into a turn: made fit at the door, and what the model will not be shown said on the thread.

The door is before the turn: what is refused there starts nothing. The notice is once per turn, from the thread alone.
"""

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from aster.contracts.blocks import ContentBlock, FileBlock, ToolResultBlock
from aster.contracts.events import MediaNotice
from aster.contracts.messages import Message
from aster.engine_core.assemble import assemble
from aster.engine_core.orders import HitlReply, Order
from aster.engine_core.services import Services
from aster.engine_core.stripped_media import NOUNS, kind_of
from aster.engine_core.turn import Turn

UNSUPPORTED = "not_taken_by_model"


def concerned(services: Services, order: Order) -> bool:
    """Whether the desk has anything to do with an order."""
    return services.media.concerned(order.message, order.media) or bool(_files((*order.brought, *order.made)))


async def taken_in(services: Services, user_id: str, order: Order) -> Order:
    """The order with its message, its media and those of the history it brings as the turn is to have them."""
    earlier = _files((*order.brought, *order.made))
    message, media, checked = await services.media.taken_in(
        user_id, order.task_id, order.message, order.media, earlier
    )
    fit = iter(checked)
    brought, made = _with(order.brought, fit), _with(order.made, fit)
    return replace(order, message=message, media=media, brought=brought, made=made)


def _files(messages: Sequence[Message]) -> tuple[FileBlock, ...]:
    """The files of messages, also those in results of calls, in order."""
    found: list[FileBlock] = []
    for message in messages:
        for block in message.content:
            inner = block.content if isinstance(block, ToolResultBlock) else (block,)
            found += (one for one in inner if isinstance(one, FileBlock))
    return tuple(found)


def _with(messages: tuple[Message, ...], files: Iterator[FileBlock]) -> tuple[Message, ...]:
    """Messages with these in the place of their files."""
    return tuple(
        replace(message, content=tuple(_exchanged(block, files) for block in message.content))
        if _files((message,))
        else message
        for message in messages
    )


def _exchanged(block: ContentBlock, files: Iterator[FileBlock]) -> ContentBlock:
    if isinstance(block, ToolResultBlock):
        return replace(
            block, content=tuple(next(files) if isinstance(one, FileBlock) else one for one in block.content)
        )
    return next(files) if isinstance(block, FileBlock) else block


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
