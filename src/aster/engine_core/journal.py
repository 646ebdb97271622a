"""The journal: what was said in a turn is remembered with its end, so that another task can find it.

It is one commit with the end of the turn: whoever has seen the end finds what was said, and a crash loses neither.
Only words are written then; vectors are made when the machine is idle. What hangs on a memory (an answer that used
it, the words a fact was taken from) is forgotten with it.
"""

import logging
from typing import TypeAlias

from aster.brain.memory_records import JournalRow, MemoryRow
from aster.brain.records import ThreadKey
from aster.contracts.blocks import text_of
from aster.contracts.events import Phase
from aster.contracts.messages import Message
from aster.contracts.turn import TurnState
from aster.engine_core.turn import Turn
from aster.infra.clock import now_ms
from aster.infra.settings import Settings
from aster.memory.drafts import Draft
from aster.memory.memory import Memory
from aster.memory.worth import gist, passages

log = logging.getLogger("aster.journal")

EXTRACTOR = "journal"
PAGE = 500
FAILING = 3
"""Failed calls in a row after which what a turn was told did not help it."""

Heard: TypeAlias = list[tuple[str, list[str]]]
"""The messages that a person wrote, by id, in the parts that are kept of them."""


class Journal:
    def __init__(self, memory: Memory, settings: Settings) -> None:
        self._memory = memory
        self._on = settings.memory_enabled and settings.memory_journal

    async def entry(self, turn: Turn, phase: Phase, messages: list[Message]) -> tuple[JournalRow, ...]:
        """What a turn that ends with these messages leaves; one that was cancelled, was between agents or is
        a replay leaves nothing."""
        request = turn.state.request
        if phase is Phase.CANCELLED or request.parent is not None or request.replay is not None:
            return ()
        now = now_ms()
        said: tuple[MemoryRow, ...] = ()
        try:
            said = await self._said(turn, phase, messages, now) if self._on else ()
        except Exception:  # the boundary to memory: a turn never fails by it
            log.exception("what was said in a turn could not be remembered")
        helped = _helped(turn.state, phase)
        marked = turn.state.recalled if helped is not None else ()
        return (_row(turn, now, said=said, marked=marked, helpful=bool(helped)),) if said or marked else ()

    async def _said(self, turn: Turn, phase: Phase, messages: list[Message], now: int) -> tuple[MemoryRow, ...]:
        heard = _heard(turn.state, messages)
        if heard and not all(turn.state.said.values()):
            await turn.flush()
        answer = gist(_answer(messages)) if phase is Phase.COMPLETED else ""
        entries = drafts(turn.key.task_id, turn.state, heard, answer, now)
        user_id = turn.key.user_id
        rows = (self._memory.row(user_id, draft, now) for draft in entries)
        return tuple(row for row in rows if not self._memory.again(user_id, row))

    def entered(self, rows: tuple[JournalRow, ...]) -> None:
        """It is committed."""
        self._memory.stir()
        for row in rows:
            self._memory.noticed(row.user_id, row.said)

    def used(self, turn: Turn, ids: tuple[str, ...]) -> tuple[JournalRow, ...]:
        """These memories enter the context of a turn."""
        return (_row(turn, now_ms(), used=ids),) if ids else ()

    async def tear_out(self, key: ThreadKey) -> None:
        """A task was deleted: what was said and noted in it is forgotten. What somebody had kept from it stays."""
        while True:
            rows = await self._memory.page(key.user_id, task_id=key.task_id, limit=PAGE)
            said = [row.id for row in rows if row.kind == "note" or row.extractor == EXTRACTOR]
            if said:
                await self._memory.forget(key.user_id, said)
            if not said or len(rows) < PAGE:
                return


def drafts(task_id: str, state: TurnState, heard: Heard, answer: str, now: int) -> list[Draft]:
    """What of a turn is remembered: what the person said, and the gist of the answer, each with its place; 0 is where
    the turn begins or ends."""
    entries: list[tuple[str, str, int, int, tuple[str, ...]]] = []
    opening = next(iter(state.said), None)
    for message_id, parts in heard:
        seq = state.said[message_id]
        first = state.first_seq if message_id == opening else seq
        entries += [("user", part, first, seq, state.remembered) for part in parts]
    if answer:
        after = max(state.said.values(), default=0)
        sources = (*state.remembered, *state.recalled)
        entries.append(("assistant", answer, after + 1 if after else 0, 0, sources))
    return [
        Draft(
            "episode",
            {"description": text, "speaker": speaker},
            task_id=task_id,
            first_seq=first,
            last_seq=last,
            extractor=EXTRACTOR,
            derived_from=sources,
            event_at=now,
        )
        for speaker, text, first, last, sources in entries
    ]


def _heard(state: TurnState, messages: list[Message]) -> Heard:
    said = ((message.id, text_of(message.content)) for message in messages)
    heard = [(message_id, passages(text)) for message_id, text in said if message_id and message_id in state.said]
    return [(message_id, parts) for message_id, parts in heard if parts]


def _helped(state: TurnState, phase: Phase) -> bool | None:
    """Whether the lessons a turn was given helped it: it ended well, or it kept failing; None when nobody can tell."""
    if phase is Phase.COMPLETED and not state.ledger.strikes:
        return True
    return False if phase is Phase.ERRORED or state.ledger.strikes >= FAILING else None


def _row(
    turn: Turn,
    at: int,
    said: tuple[MemoryRow, ...] = (),
    used: tuple[str, ...] = (),
    marked: tuple[str, ...] = (),
    helpful: bool = False,
) -> JournalRow:
    user_id, task_id = turn.key
    return JournalRow(
        user_id=user_id,
        task_id=task_id,
        turn_id=turn.turn_id,
        at=at,
        said=said,
        used=used,
        marked=marked,
        helpful=helpful,
    )


def _answer(messages: list[Message]) -> str:
    said = (text_of(message.content) for message in reversed(messages) if message.role == "assistant")
    return next((text for text in said if text), "")
