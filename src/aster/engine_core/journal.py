"""The journal: what was said in a turn is remembered once it is over, so that another task can find it.

It is written beside the turns, which it never delays or fails. Whoever begins a turn after another has ended finds
what was said there. What hangs on a memory (an answer that used it, the words a fact was taken from) is forgotten
with it.
"""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Awaitable, Coroutine, Sequence

from aster.brain.records import ThreadKey
from aster.contracts.blocks import text_of
from aster.contracts.events import Phase
from aster.contracts.turn import TurnState
from aster.engine_core.turn import Turn
from aster.infra.clock import now_ms
from aster.infra.settings import Settings
from aster.memory.drafts import Draft
from aster.memory.keeping import tells_secret
from aster.memory.memory import Memory

log = logging.getLogger("aster.journal")

EXTRACTOR = "journal"
LONGEST = 1000
PAGE = 500
PATIENCE = 2.0
"""Seconds that anybody waits for what is being written."""
LEAST_WORDS = 3
"""A shorter text (`hi`, `go on`) tells nothing to anybody later."""


class Journal:
    def __init__(self, memory: Memory, settings: Settings) -> None:
        self._memory = memory
        self._on = settings.memory_enabled and settings.memory_journal
        self._writing: defaultdict[str, set[asyncio.Task[None]]] = defaultdict(set)

    def enter(self, turn: Turn, phase: Phase) -> None:
        """A turn has ended; one that was cancelled leaves nothing."""
        if not self._on or phase is Phase.CANCELLED:
            return
        entries = drafts(turn.key.task_id, turn.state, phase)
        if entries:
            self._later(turn.key.user_id, self._memory.write(turn.key.user_id, entries))

    def used(self, key: ThreadKey, turn_id: str, ids: Sequence[str]) -> None:
        """These memories entered the context of a turn."""
        self._later(key.user_id, self._memory.use(key.user_id, ids, key.task_id, turn_id))

    def _later(self, user_id: str, work: Coroutine[None, None, object]) -> None:
        task = asyncio.create_task(_tried(work), name="journal")
        self._writing[user_id].add(task)
        task.add_done_callback(lambda done: self._done(user_id, done))

    async def tear_out(self, key: ThreadKey) -> None:
        """A task was deleted: what was said in it is forgotten. What somebody had kept from it stays."""
        await self.settled(key.user_id)
        while True:
            rows = await self._memory.page(key.user_id, task_id=key.task_id, store="episodes", limit=PAGE)
            said = [row.id for row in rows if row.extractor == EXTRACTOR]
            if said:
                await self._memory.forget(key.user_id, said)
            if not said or len(rows) < PAGE:
                return

    async def settled(self, user_id: str) -> None:
        """Wait until the turns of this user that have ended are remembered, but not for a brain that cannot write."""
        writing = self._writing.get(user_id)
        if writing:
            await asyncio.wait(tuple(writing), timeout=PATIENCE)

    async def close(self) -> None:
        """Write what is under way, and give up what cannot be written."""
        writing = [task for tasks in self._writing.values() for task in tasks]
        if writing:
            _, stuck = await asyncio.wait(writing, timeout=PATIENCE)
            for task in stuck:
                task.cancel()
            await asyncio.gather(*stuck, return_exceptions=True)

    def _done(self, user_id: str, task: asyncio.Task[None]) -> None:
        writing = self._writing[user_id]
        writing.discard(task)
        if not writing:
            del self._writing[user_id]


async def _tried(work: Awaitable[object]) -> None:
    try:
        await work
    except Exception:  # the boundary of work nobody waits for
        log.exception("what was said in a turn, or used by it, could not be remembered")


def drafts(task_id: str, state: TurnState, phase: Phase) -> list[Draft]:
    """What of a turn is remembered: what the person said, and what was answered, each with its place."""
    answered = phase is Phase.COMPLETED
    answer = next(
        (text for text in (text_of(m.content) for m in reversed(state.messages) if m.role == "assistant") if text),
        "",
    )
    said = text_of(state.messages[0].content) if state.messages else ""
    now, split = now_ms(), state.first_seq + 1
    entries = [
        ("user", said, state.first_seq, split, state.remembered),
        ("assistant", answer if answered else "", split + 1, state.seq, (*state.remembered, *state.recalled)),
    ]
    return [
        Draft(
            "episode",
            {"description": text[:LONGEST], "speaker": speaker},
            task_id=task_id,
            first_seq=first,
            last_seq=last,
            extractor=EXTRACTOR,
            derived_from=sources,
            event_at=now,
        )
        for speaker, text, first, last, sources in entries
        if len(text.split()) >= LEAST_WORDS and not tells_secret(text)
    ]
