"""Redaction: what is taken out of an event before it moves the turn's state or reaches the thread.

Registered values are taken out of everything, whoever said it. What only looks like a secret is taken out of what
tools say, before it gets here (`ToolRuntime`, `SecretStream`), and stays in the rest: a person may have to name a
token of their own, and a call must reach its tool as the model wrote it.
"""

from typing import TypeVar

import msgspec

from aster.contracts.blocks import (
    Base64Source,
    MediaBlock,
    TextBlock,
    ThinkingBlock,
)
from aster.contracts.events import (
    BudgetEvent,
    ContentBlockStop,
    Event,
    HitlResolved,
    Recovery,
    ThreadLifecycle,
    ToolError,
    ToolResult,
    Usage,
    UserMessage,
    decode_event,
)
from aster.contracts.model import decode, encode, to_builtins
from aster.engine_core.orders import HitlReply, Order
from aster.infra.secrets import Secrets, Where

_SAYS_NOTHING = (Usage, ThreadLifecycle, Recovery, BudgetEvent)
"""Events that hold no text from outside."""
_SOURCES: dict[type[Event], Where] = {
    ContentBlockStop: "model",
    HitlResolved: "person",
    ToolError: "tool",
    ToolResult: "tool",
    UserMessage: "person",
}

_replace = msgspec.structs.replace
Media = TypeVar("Media", bound=MediaBlock)


def cleaned(secrets: Secrets, event: Event) -> Event:
    """The event as it may be kept; the same object when there is nothing to take out."""
    match event:
        case ToolResult():
            return _clean_result(secrets, event)
        case UserMessage():
            content = clean_content(secrets, event.content, "person")
            return event if content is event.content else _replace(event, content=content)
        case _ if isinstance(event, _SAYS_NOTHING):
            return event
        case _:
            return _clean_any(secrets, event)


def clean_order(secrets: Secrets, order: Order) -> Order:
    """A person's message, which waits in the inbox in these words or opens a turn with them."""
    order = _clean_rest(secrets, order)
    message = secrets.clean(order.message, "person")
    media = clean_content(secrets, order.media, "person")
    if message is order.message and media is order.media:
        return order
    return _replace(order, message=message, media=media)


def _clean_rest(secrets: Secrets, order: Order) -> Order:
    """What a client sends beside a message: its instructions, its tools and the history it brings along."""
    if not (order.instructions or order.tools or order.brought or order.made or order.call or order.echo):
        return order
    beside = _replace(order, message="", media=())
    if next(secrets.found(encode(beside).decode(), shapes=False), None) is None:
        return order
    cleaned_order = decode(encode(secrets.clean_data(to_builtins(beside), "person")), Order)
    return _replace(cleaned_order, message=order.message, media=order.media)


def clean_reply(secrets: Secrets, reply: HitlReply) -> HitlReply:
    """A person's answer, before it is matched with what was asked."""
    feedback = reply.feedback
    return _replace(
        reply,
        answer=secrets.clean(reply.answer, "person"),
        feedback=None if feedback is None else secrets.clean(feedback, "person"),
        content_blocks=clean_content(secrets, reply.content_blocks, "person"),
        request=secrets.clean_data(reply.request, "person"),
    )


def clean_content(secrets: Secrets, content: tuple[Media, ...], where: Where) -> tuple[Media, ...]:
    """Blocks with their text cleaned; pictures and documents in base64 stay as they are."""
    blocks = tuple(_clean_block(secrets, block, where) for block in content)
    return content if all(new is old for new, old in zip(blocks, content, strict=True)) else blocks


def _clean_block(secrets: Secrets, block: Media, where: Where) -> Media:
    if isinstance(block, TextBlock):
        text = secrets.clean(block.text, where)
        return block if text == block.text else _replace(block, text=text)
    if not isinstance(block.source, Base64Source):
        url = secrets.clean(block.source.url, where)
        return block if url == block.source.url else _replace(block, source=_replace(block.source, url=url))
    return block


def _clean_result(secrets: Secrets, event: ToolResult) -> ToolResult:
    output = secrets.clean(event.output, "tool")
    content = clean_content(secrets, event.content, "tool")
    if output != event.output or content is not event.content:
        event = _replace(event, output=output, content=content)
    if event.data is not None:
        event = _replace(event, data=secrets.clean_data(event.data, "tool"))
    return event


def _clean_any(secrets: Secrets, event: Event) -> Event:
    """Whatever text an event holds: looked through as it would be written, taken apart only when there is need."""
    if next(secrets.found(encode(event).decode(), shapes=False), None) is None:
        return event
    where = _SOURCES.get(type(event), "engine")
    changed = decode_event(encode(secrets.clean_data(to_builtins(event), where)))
    return _unsigned(changed) if isinstance(changed, ContentBlockStop) else changed


def _unsigned(changed: ContentBlockStop) -> ContentBlockStop:
    """A provider's signature is on the words as they were: it is not handed back with others."""
    block = changed.block
    if isinstance(block, ThinkingBlock):
        return _replace(changed, block=_replace(block, signature=None, encrypted=None))
    if block.signature is not None:
        return _replace(changed, block=_replace(block, signature=None, model=None))
    return changed
