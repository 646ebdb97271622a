"""Which turns are learned from: one entry in the queue for each turn that a person's words were answered in, in the
very commit of its end, so that none is lost and none is counted twice.

What agents do among themselves belongs to the turn they work for; a call that a client makes itself, a replay and a
turn that was cancelled before anything was said teach nothing.
"""

from collections.abc import Sequence
from typing import Final

from aster.brain.learning import LearningEntryRow
from aster.contracts.events import Phase, TransitionReason
from aster.contracts.learning import EntryKind
from aster.contracts.messages import Message
from aster.contracts.turn import TurnState
from aster.engine_core.journal import FAILING
from aster.engine_core.services import Services
from aster.engine_core.turn import Turn
from aster.infra.clock import now_ms

_FAILED: Final = frozenset({TransitionReason.LOOP_GUARD})
"""Reasons to stop that tell of a turn that got nowhere."""


def entry(
    turn: Turn, services: Services, phase: Phase, stop_reason: str, messages: Sequence[Message]
) -> tuple[LearningEntryRow, ...]:
    """What a turn that ends like this leaves in the queue."""
    if services.settings.learning == "off" or not _teaches(turn.state, phase, messages):
        return ()
    return (
        LearningEntryRow(
            entry_id=turn.turn_id,
            user_id=turn.key.user_id,
            kind=_kind(turn.state, phase, stop_reason),
            task_id=turn.key.task_id,
            turn_id=turn.turn_id,
            created_at=now_ms(),
        ),
    )


def _teaches(state: TurnState, phase: Phase, messages: Sequence[Message]) -> bool:
    request = state.request
    if request.parent is not None or request.method or request.replay is not None:
        return False
    return phase is not Phase.CANCELLED or any(message.role == "assistant" for message in messages)


def _kind(state: TurnState, phase: Phase, stop_reason: str) -> EntryKind:
    failed = phase is Phase.ERRORED or stop_reason in _FAILED or state.ledger.strikes >= FAILING
    return "failure" if failed else "turn"
