"""The trajectory of an ended turn: everything it was shown, asked, called, was told and found out, and what people
said of it since.

The row that is kept with the end of the turn holds how it was asked for and what was said; the rest is on the thread
for good and is put together when somebody reads it, so that a turn does not end later because of it.
"""

from typing import Any, Final

from aster.brain.protocol import Brain
from aster.brain.records import ThreadKey
from aster.brain.signals import Signal
from aster.contracts.events import (
    ContextManifest,
    Event,
    HitlRequest,
    HitlResolved,
    MemoryRetrieval,
    MemoryWrite,
    Usage,
    Verification,
)
from aster.contracts.model import decode, to_builtins
from aster.engine_core.replaying import recorded
from aster.engine_core.replaying.recorded import Outcome, Recorded

PAGE: Final = 500
_ENVELOPE: Final = frozenset({"type", "task_id", "turn_id", "timestamp", "parent_turn_id", "depth"})
_KINDS: Final[dict[str, tuple[type[Event], ...]]] = {
    "models": (Usage,),
    "verdicts": (Verification,),
    "remembered": (MemoryWrite,),
    "questions": (HitlRequest, HitlResolved),
}
"""What is told as it stands on the thread."""


async def read(brain: Brain, key: ThreadKey, turn_id: str) -> dict[str, Any] | None:
    """The trajectory of a turn of this task; None when there is none, or none yet."""
    turn, row = await brain.turn(key.user_id, turn_id), await brain.trajectory(key.user_id, turn_id)
    if turn is None or turn.task_id != key.task_id or row is None:
        return None
    found = await recorded.load(brain, key, turn_id)
    told = {name: [_plain(e) for e in found.events if isinstance(e, kinds)] for name, kinds in _KINDS.items()}
    return {
        **decode(row.record, dict[str, Any]),
        "first_seq": turn.first_seq,
        "last_seq": turn.last_seq,
        "context": [_manifest(event) for event in found.events if isinstance(event, ContextManifest)],
        "tools": [_tool(outcome) for outcome in found.outcomes],
        "recalled": _recalled(found),
        **told,
        "feedback": [_signal(signal) for signal in await _signals(brain, key, turn_id)],
    }


def _plain(event: Event) -> dict[str, Any]:
    fields: dict[str, Any] = to_builtins(event)
    return {name: value for name, value in fields.items() if name not in _ENVELOPE}


def _manifest(event: ContextManifest) -> dict[str, Any]:
    """Which manifest says what a model call was shown; the manifest itself is on the thread, at this seq."""
    return {
        "seq": event.seq,
        "step": event.step,
        "model": event.model,
        "entries": event.kept + len(event.entries),
        "total_tokens": event.total_tokens,
        "input_tokens": event.input_tokens,
        "cached_tokens": event.cached_tokens,
    }


def _tool(outcome: Outcome) -> dict[str, Any]:
    result, issued, failed = outcome.result, outcome.issued, outcome.failed
    return {
        "step": result.step,
        "tool": outcome.call.name,
        "tool_call_id": outcome.call.id,
        "input": outcome.call.input,
        "asked_seq": outcome.seq,
        "issued_seq": None if issued is None else issued.seq,
        "result_seq": result.seq,
        "effect": outcome.effect,
        "attempts": 0 if issued is None else issued.attempt,
        "grant_id": None if issued is None else issued.grant_id,
        "ok": result.error is None,
        "error": result.error,
        "outcome": "ok" if result.error is None else "failed" if failed is None else failed.failure,
        "trusted": result.trusted,
        "duration_ms": result.duration_ms,
    }


def _recalled(found: Recorded) -> list[dict[str, Any]]:
    """What memory had for the turn, and what of it entered the context."""
    return [
        {
            "seq": event.seq,
            "store": item.store,
            "id": item.id,
            "score": item.score,
            "used": item.used,
            "cut": item.cut,
            "text": item.text,
            "source_task_id": item.source_task_id,
            "first_seq": item.first_seq,
            "last_seq": item.last_seq,
        }
        for event in found.events
        if isinstance(event, MemoryRetrieval)
        for item in event.items
    ]


async def _signals(brain: Brain, key: ThreadKey, turn_id: str) -> list[Signal]:
    """What people have said of the turn and of its messages, the newest first."""
    found: list[Signal] = []
    before: int | None = None
    while True:
        page = await brain.signals(key.user_id, limit=PAGE, before=before, task_id=key.task_id)
        found += (signal for signal in page if signal.turn_id == turn_id)
        if len(page) < PAGE:
            return found
        before = page[-1].number


def _signal(signal: Signal) -> dict[str, Any]:
    return {
        "signal_id": signal.signal_id,
        "target": signal.target,
        "target_id": signal.target_id,
        "rating": signal.rating,
        "text": signal.text,
        "correction": signal.correction,
        "updated_at": signal.updated_at,
    }
