"""Recorded turns on which something can be tried: those of the same person for whose message it would have been
recalled, the newest first, always in the same order.

Only what the person asked, and what they said of the answer later, is looked at here; the turns themselves are
replayed.
"""

from collections.abc import Collection
from typing import Any, Final, NamedTuple

import msgspec

from aster.brain.memory_words import words
from aster.brain.protocol import Brain
from aster.brain.records import ThreadKey, TurnRecord
from aster.brain.signals import Signal
from aster.contracts.blocks import text_of
from aster.contracts.learning import LEARNING_TASK, Trial
from aster.contracts.messages import Message
from aster.engine_core.history import spoken
from aster.engine_core.verifying.words import vocabulary
from aster.memory.retrieval.query import telling

THREADS: Final = 100
TURNS: Final = 300
"""Tasks and turns that are looked through, the newest first."""
LEAST_SHARED: Final = 2
"""Telling words that a message has to have in common with what says when to apply it, if there are so many."""
_ENDED: Final = frozenset({"completed", "errored"})
_FRAME: Final = frozenset(
    words(" ".join(vocabulary("user person ask asks request requests task message want wants")))
)


class Sample(NamedTuple):
    """A recorded turn: what was asked, and what the person said of it later (`rating` from -1 to 1, if any)."""

    task_id: str
    turn_id: str
    question: str
    rating: float | None = None
    correction: str = ""
    remark: str = ""


class _Recorded(msgspec.Struct):
    """What of a trajectory is looked at."""

    messages: list[Message] = []
    request: dict[str, Any] = {}


_trajectories: Final = msgspec.json.Decoder(_Recorded)


async def samples(brain: Brain, trial: Trial, most: int, without: Collection[str]) -> list[Sample]:
    """So many turns at most on which the item of a trial can be tried, but for those that are named."""
    terms = applies(trial)
    found: list[Sample] = []
    for key, turn in await turns(brain, trial.user_id):
        if len(found) >= most:
            break
        if turn.turn_id in without:
            continue
        question = await _question(brain, turn)
        if question and (_origin(trial, key, turn) or fits(terms, question)):
            found.append(await _sample(brain, key, turn, question))
    return found


async def sample(brain: Brain, trial: Trial, task_id: str, turn_id: str) -> Sample | None:
    """One turn that was chosen before; None when it is gone."""
    turn = await brain.turn(trial.user_id, turn_id)
    question = "" if turn is None else await _question(brain, turn)
    if turn is None or not question:
        return None
    return await _sample(brain, ThreadKey(trial.user_id, task_id), turn, question)


async def stirred(brain: Brain, user_id: str, since: int) -> bool:
    """Whether anything happened in a task of a user since then."""
    newest = await brain.threads(user_id, limit=2)
    return any(thread.updated_at >= since for thread in newest if thread.task_id != LEARNING_TASK)


def applies(trial: Trial) -> frozenset[str]:
    """The words that say when an item applies: a lesson's trigger, or what a heuristic is about."""
    fields = trial.fields
    text = " ".join(str(fields.get(name) or "") for name in ("trigger", "content"))
    return frozenset(telling(text)) - _FRAME


def fits(terms: frozenset[str], question: str) -> bool:
    """Whether an item with these words would have been recalled for a message."""
    return len(terms & set(words(question))) >= min(LEAST_SHARED, len(terms)) > 0


async def turns(brain: Brain, user_id: str) -> list[tuple[ThreadKey, TurnRecord]]:
    """Ended turns of a user's own tasks in which a model was asked, the newest first."""
    found: list[TurnRecord] = []
    for thread in await brain.threads(user_id, limit=THREADS):
        if thread.task_id != LEARNING_TASK and thread.parent_task_id is None:
            found += await brain.turns(ThreadKey(user_id, thread.task_id))
    ended = [turn for turn in found if turn.ended_at is not None and turn.model_calls and turn.status in _ENDED]
    ended.sort(key=lambda turn: (turn.started_at, turn.turn_id), reverse=True)
    return [(ThreadKey(user_id, turn.task_id), turn) for turn in ended[:TURNS]]


def _origin(trial: Trial, key: ThreadKey, turn: TurnRecord) -> bool:
    """Whether a turn is the one that the item was learned from."""
    last = turn.last_seq or turn.first_seq
    return key.task_id == trial.task_id and turn.first_seq <= trial.last_seq and trial.first_seq <= last


async def _question(brain: Brain, turn: TurnRecord) -> str:
    """What a person asked in a turn; empty when it cannot be replayed."""
    row = await brain.trajectory(turn.user_id, turn.turn_id)
    if row is None:
        return ""
    recorded = _trajectories.decode(row.record)
    if recorded.request.get("method"):
        return ""
    return next((text_of(message.content) for message in recorded.messages if spoken(message)), "").strip()


async def _sample(brain: Brain, key: ThreadKey, turn: TurnRecord, question: str) -> Sample:
    signals = await brain.signals(key.user_id, task_id=key.task_id, limit=500)
    said = [signal for signal in signals if signal.turn_id == turn.turn_id and signal.target != "memory"]
    return Sample(
        key.task_id, turn.turn_id, question, _rating(said), _first(said, "correction"), _first(said, "text")
    )


def _rating(said: list[Signal]) -> float | None:
    return next((signal.rating for signal in said if signal.rating is not None), None)


def _first(said: list[Signal], name: str) -> str:
    return next((text for signal in said if (text := str(getattr(signal, name)))), "")
