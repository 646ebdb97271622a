"""The bus: what of a user's memory belongs into one turn, asked once and of all stores together.

It never fails a turn: a store that cannot be searched has nothing to say. It is deterministic: the same memory,
message and moment give the same items in the same order, and what did not fit is told, not hidden.
"""

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from aster.brain.memory_kinds import SEARCHED, Store
from aster.brain.memory_records import MemoryRow
from aster.memory.documents import INGESTED
from aster.memory.finding import Answer, Match
from aster.memory.memory import Memory
from aster.memory.retrieval.across import Ranked, fused
from aster.memory.retrieval.budget import PER_SOURCE, packed, shortened
from aster.memory.retrieval.intent import WEIGHTS, intent
from aster.memory.retrieval.parts import followed_up, parts
from aster.memory.retrieval.times import timed

PER_STORE: Final = 24
EARLIER_CHARS: Final = 300
RECEIPT_TOKENS: Final = 25
"""What the line costs that says where an item is from."""
FAR: Final = 0.15
"""A record that shares no word with the question and is not nearer to it than this only came along with others;
recall among the first ten is the same without such records."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What a turn wants to know: the message, what the person said before it, and the task, whose own words it has
    already. `questions` are those in a long message, if somebody could tell them apart."""

    text: str
    earlier: tuple[str, ...] = ()
    task_id: str = ""
    questions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Recalled:
    """A record for the turn; `cut` says why it is not in it after all."""

    row: MemoryRow
    text: str
    score: float
    reasons: dict[str, float]
    tokens: int
    cut: str | None = None


@dataclass(frozen=True, slots=True)
class Hydration:
    """What a turn is given, the best first, then what was cut; and what it had to do without."""

    query: str
    items: tuple[Recalled, ...] = ()
    duration_ms: int = 0
    notice: str | None = None


class MemoryBus:
    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    async def hydrate(
        self,
        user_id: str,
        wish: Wish,
        now: int,
        budget_tokens: int,
        stores: Sequence[Store] = SEARCHED,
        most: int = PER_SOURCE,
    ) -> Hydration:
        """The records that answer a message, within so many tokens and at most so many of a store; nothing for a blank
        one."""
        began = time.perf_counter()
        if not wish.text.strip():
            return Hydration("")
        query = followed_up(wish.text.strip(), [text[:EARLIER_CHARS] for text in wish.earlier])
        limit = max(PER_STORE, most)
        answers = await asyncio.gather(
            *(
                self._memory.search(user_id, part, stores, limit=limit, gate=True, now=now, isolated=True)
                for part in _asked(query, wish.questions)
            )
        )
        dated = timed(query, datetime.fromtimestamp(now / 1000, UTC))[0] is not None
        found = _others(answers, wish.task_id, dated)
        items = _fitted(found, WEIGHTS[intent(wish.text)], budget_tokens, most)
        return Hydration(query, items, round((time.perf_counter() - began) * 1000), _notice(answers))


def _asked(query: str, questions: Sequence[str]) -> Sequence[str]:
    return tuple(dict.fromkeys((query, *questions))) if questions else parts(query)


def tokens_of(text: str) -> int:
    """Tokens of a text with its receipt, counted from its bytes."""
    return -(-len(text.encode("utf-8", "replace")) // 4) + RECEIPT_TOKENS


def _others(answers: Sequence[Answer], task_id: str, dated: bool) -> list[tuple[Store, list[Match]]]:
    """What each store found for each part, without what the task itself has said, which is in its history, without
    what another task was given to work on, and without what only came along: a question about a time is answered by
    what has nothing else in common with it."""

    def wanted(match: Match) -> bool:
        row = match.row
        own = row.kind == "episode" and row.task_id != "" and row.task_id == task_id
        private = row.kind == "chunk" and row.extractor == INGESTED and row.task_id != task_id
        return not own and not private and (dated or not _stray(match.reasons))

    return [
        (store, [match for match in found if wanted(match)])
        for answer in answers
        for store, found in answer.stores.items()
    ]


def _stray(reasons: Mapping[str, float]) -> bool:
    return not reasons["words"] and max(reasons.get("cosine", 0.0), reasons.get("tokens", 0.0)) < FAR


def _fitted(
    found: Sequence[tuple[Store, list[Match]]], weights: Mapping[str, float], budget_tokens: int, most: int
) -> tuple[Recalled, ...]:
    """One order over all stores, what the same words say twice left out, cut to size. However long the best is, half
    of the room is for others."""
    matches: dict[tuple[str, int], Match] = {}
    for store, some in found:
        for match in some:
            matches.setdefault((store, match.row.number), match)
    lists = [(store, [match.row.number for match in some]) for store, some in found]
    said: dict[str, tuple[Ranked, str]] = {}
    for one in fused(lists, weights):
        text = matches[one.source, one.id].row.text
        shown = text if said else shortened(text, budget_tokens // 2, tokens_of)
        said.setdefault(" ".join(text.casefold().split()), (one, shown))
    fit = packed(said.values(), budget_tokens, tokens_of, most)

    def recalled(one: Ranked, text: str, tokens: int, cut: str | None = None) -> Recalled:
        match = matches[one.source, one.id]
        return Recalled(match.row, text, round(one.score, 5), match.reasons, tokens, cut)

    entered = [recalled(entry.ranked, entry.text, entry.tokens) for entry in fit.entries]
    left_out = [recalled(one, "", 0, why) for one, why in fit.cut]
    return (*entered, *left_out)


def _notice(answers: Sequence[Answer]) -> str | None:
    failed = sorted({store for answer in answers for store in answer.failed})
    notes = [f"could not be searched: {', '.join(failed)}"] if failed else []
    notes += [answer.notice for answer in answers[:1] if answer.notice]
    return "; ".join(notes) or None
