"""Memory in the turn: looked into once, before the first model call, and written to when a person says so.

What was found is an event; the prompt is made of that, so a restart neither searches again nor changes a word of it.
Whatever is wrong with memory, the turn goes on without.
"""

import asyncio
import logging
from dataclasses import replace
from itertools import chain, islice
from typing import Final

from aster.brain.memory_records import MemoryRow
from aster.contracts.blocks import TextBlock, text_of
from aster.contracts.events import MemoryRetrieval, Phase, RetrievedItem
from aster.engine_core import inquiry, working
from aster.engine_core.boundary import defused
from aster.engine_core.history import spoken
from aster.engine_core.intent import intent_of
from aster.engine_core.services import Services
from aster.engine_core.turn import Turn
from aster.infra.clock import iso_ms, now_ms
from aster.memory.acquaintance import Known
from aster.memory.bus import Hydration, Recalled, Wish
from aster.memory.drafts import Draft
from aster.memory.explicit import asked_to_remember
from aster.memory.grounding import own_words
from aster.memory.keeping import keep
from aster.memory.worth import said_words

log = logging.getLogger("aster.remembering")

MOST_SECONDS: Final = 5.0
EXPLICIT: Final = "explicit"
_CHECKING: Final = frozenset({"fact-check", "verify"})
_TRIVIAL: Final = frozenset(
    (
        *(
            "hi",
            "hello",
            "hey",
            "thanks",
            "thank",
            "you",
            "ok",
            "okay",
            "yes",
            "no",
            "please",
            "bye",
            "good",
            "sure",
        ),
        *(
            "say",
            "it",
            "that",
            "this",
            "again",
            "go",
            "on",
            "ahead",
            "continue",
            "more",
            "next",
            "do",
            "done",
            "stop",
        ),
    )
)


async def begin(turn: Turn, services: Services) -> None:
    """Give a turn the soul and, once, what was noted in its task and what memory has for its message."""
    if not services.settings.memory_enabled or turn.state.request.parent is not None:
        return
    services.memory.stir()
    notes: tuple[RetrievedItem, ...] = ()
    found = None
    try:
        known = await services.memory.known(turn.key.user_id)
        replay = turn.state.request.replay
        if known.soul is not None and (replay is None or replay.soul):
            turn.soul = soul_lines(known.soul)
        if replay is not None:
            return
        if known.notes and _fresh(turn, services):
            notes = await working.unseen(turn, services.memory)
        if known.beyond(turn.key.task_id) and _fresh(turn, services):
            found = await _looked(turn, services, known)
    except Exception as error:  # noqa: BLE001 - the boundary to memory: a turn never fails by it
        log.warning("memory could not be looked into: %r", error)
        services.raven.note("memory_failed", "warning", "a turn went on without memory", error=repr(error)[:500])
    if notes or (found is not None and found.items):
        found = found or Hydration("")
        used = tuple(one.row.id for one in found.items if one.cut is None)
        turn.write(_event(found, notes), rows=services.journal.used(turn, used))


def _fresh(turn: Turn, services: Services) -> bool:
    """Whether memory is still to be looked into: once, before the first model call."""
    state = turn.state
    if not services.settings.memory_tokens or state.model_calls or not state.messages:
        return False
    return state.messages[0].recalled is None


async def _looked(turn: Turn, services: Services, known: Known) -> Hydration | None:
    wish = wish_of(turn)
    if not wished(wish.text):
        return None
    wish = replace(wish, questions=await inquiry.questions(turn, services, wish.text))
    budget = services.settings.memory_tokens
    async with asyncio.timeout(MOST_SECONDS):
        return await services.bus.hydrate(turn.key.user_id, wish, now_ms(), budget, known.stores)


def wish_of(turn: Turn) -> Wish:
    """The message, and what the person said last before it."""
    before = islice(filter(spoken, reversed(turn.history)), 1)
    earlier = tuple(text_of(message.content) for message in before)
    return Wish(text_of(turn.state.messages[0].content), earlier, turn.key.task_id)


def wished(text: str) -> bool:
    """Whether memory is wanted: not for a greeting or for what has no words, and not to check facts, which are to be
    found out anew."""
    intent = intent_of(text)
    if intent.words & _CHECKING or ("fact", "check") in intent.pairs:
        return False
    return not said_words(text) <= _TRIVIAL


async def obey(turn: Turn, services: Services, phase: Phase) -> None:
    """A turn is about to end: keep what the person asked to be remembered, unless the model has done so."""
    state = turn.state
    if not services.settings.memory_enabled or phase is Phase.CANCELLED or state.remembered or not state.messages:
        return
    if state.request.parent is not None or not spoken(state.messages[0]):
        return
    typed = next((block.text for block in state.messages[0].content if isinstance(block, TextBlock)), "")
    what = asked_to_remember(own_words(typed))
    if what is None:
        return
    await turn.flush()
    draft = Draft(
        "fact",
        {"content": what, "source": "person"},
        task_id=turn.key.task_id,
        first_seq=state.first_seq,
        last_seq=state.seq,
        extractor=EXPLICIT,
    )
    try:
        async with asyncio.timeout(MOST_SECONDS):
            event, _ = await keep(services.memory, turn.key.user_id, draft, what)
    except Exception as error:  # noqa: BLE001 - the boundary to memory: a turn never fails by it
        log.warning("what a person asked to be remembered could not be: %r", error)
        services.raven.note(
            "memory_failed", "warning", "an order to remember was not kept", error=repr(error)[:500]
        )
        return
    turn.write(event)


def soul_lines(soul: MemoryRow) -> str:
    """Who the agent is for this person, as it follows the system prompt."""
    fields = soul.fields
    values = chain(["What matters to you:"], fields["values"]) if fields["values"] else ()
    patterns = chain(["What you have learned:"], fields["patterns"]) if fields["patterns"] else ()
    voice = (f"How you speak: {fields['voice']}",) if fields["voice"] else ()
    return defused("\n".join(("Who you are for this person:", fields["identity"], *values, *patterns, *voice)))


def _event(found: Hydration, notes: tuple[RetrievedItem, ...]) -> MemoryRetrieval:
    items = (*notes, *map(item_of, found.items))
    return MemoryRetrieval(
        query=found.query,
        items=items,
        tokens=sum(item.tokens for item in items if item.used),
        duration_ms=found.duration_ms,
        notice=found.notice,
    )


def item_of(one: Recalled) -> RetrievedItem:
    """What was found, as it stands on the thread."""
    row = one.row
    return RetrievedItem(
        store=row.store,
        id=row.id,
        score=one.score,
        tokens=one.tokens,
        used=one.cut is None,
        cut=one.cut,
        text=one.text,
        reasons=one.reasons,
        source_task_id=row.task_id,
        first_seq=row.first_seq,
        last_seq=row.last_seq,
        event_at=iso_ms(row.event_at),
    )
