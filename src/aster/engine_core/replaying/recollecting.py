"""What a replay is told of memory: what the turn was told then, nothing, or what would be found for its message now;
with and without single records.

Looking leaves no trace: no record counts as used because a replay was shown it.
"""

from collections.abc import Sequence

import msgspec

from aster.contracts.blocks import text_of
from aster.contracts.events import Event, MemoryRetrieval, RetrievedItem, UserMessage
from aster.contracts.messages import Message
from aster.contracts.replay import ReplayWish
from aster.engine_core.history import spoken
from aster.engine_core.remembering import item_of, wished
from aster.engine_core.replaying.answering import copied
from aster.engine_core.services import Services
from aster.infra.clock import now_ms
from aster.memory.bus import Wish, tokens_of

NOTES = "working"
ON_TRIAL = "trial"
"""The store that lines are shown to be from which memory does not have."""


async def recollected(
    services: Services, user_id: str, wish: ReplayWish, events: Sequence[Event], history: Sequence[Message]
) -> MemoryRetrieval | None:
    """What to show with the first message, if anything; `events` are the recorded turn's."""
    then = next((event for event in events if isinstance(event, MemoryRetrieval)), None)
    items: tuple[RetrievedItem, ...] = ()
    if then is not None and wish.memory != "none":
        items = then.items if wish.memory == "recorded" else tuple(i for i in then.items if i.store == NOTES)
    if wish.memory == "current":
        items += await _found(services, user_id, wish.task_id, events, history)
    items = tuple(item for item in items if item.id not in wish.without)
    items += tuple(_line(at, text) for at, text in enumerate(wish.extra, start=1))
    if not items:
        return None
    shown = MemoryRetrieval(query="", items=(), tokens=0, duration_ms=0) if then is None else copied(then)
    return msgspec.structs.replace(
        shown, items=items, tokens=sum(item.tokens for item in items if item.used), duration_ms=0
    )


async def _found(
    services: Services, user_id: str, task_id: str, events: Sequence[Event], history: Sequence[Message]
) -> tuple[RetrievedItem, ...]:
    settings = services.settings
    text = next((text_of(event.content) for event in events if isinstance(event, UserMessage)), "")
    if not settings.memory_enabled or not settings.memory_tokens or not wished(text):
        return ()
    earlier = next((text_of(message.content) for message in reversed(history) if spoken(message)), None)
    wish = Wish(text, () if earlier is None else (earlier,), task_id)
    known = await services.memory.known(user_id)
    found = await services.bus.hydrate(user_id, wish, now_ms(), settings.memory_tokens, known.stores)
    return tuple(map(item_of, found.items))


def _line(at: int, text: str) -> RetrievedItem:
    return RetrievedItem(store=ON_TRIAL, id=f"{ON_TRIAL}-{at}", score=1.0, tokens=tokens_of(text), text=text)
