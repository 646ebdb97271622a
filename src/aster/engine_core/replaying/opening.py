"""The opening of a replay: a thread of its own that begins where the recorded turn stood before one of its model calls.

The conversation before the turn is one row; the records of the part that is taken over are copied, except for those
that did something: a question to a person, a sub-agent, work in the background. All of it is one
commit, so there is a whole replay or none.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

import msgspec

from aster.brain.compaction_records import CompactionRow
from aster.brain.records import ConversationRow, Row, ThreadKey
from aster.contracts.events import (
    CompactionEvent,
    ContentBlockStop,
    Event,
    HookRan,
    MediaNotice,
    MemoryRetrieval,
    Phase,
    PlanUpdate,
    ProviderFallback,
    Recovery,
    RiskSummary,
    TaskLifecycle,
    ThreadLifecycle,
    TodoUpdate,
    ToolCallIssued,
    ToolError,
    ToolResult,
    TurnTransition,
    Uncertainty,
    Usage,
    UserMessage,
    Verification,
)
from aster.contracts.messages import Message
from aster.contracts.model import encode, to_builtins
from aster.contracts.replay import RecordedView
from aster.contracts.turn import TurnRequest
from aster.engine_core.media import UNSUPPORTED
from aster.engine_core.replaying.answering import copied
from aster.infra.clock import now_ms
from aster.infra.ids import new_id

BEFORE: Final = "before_replay"
"""How the turn ended that holds the conversation before a replay."""
TAKEN_OVER: Final = (
    *(ContentBlockStop, Usage, UserMessage, ToolCallIssued, ToolError, ToolResult, TurnTransition, HookRan),
    *(TodoUpdate, PlanUpdate, Uncertainty, RiskSummary, Recovery, Verification, ProviderFallback, MediaNotice),
    CompactionEvent,
)


class Opening(NamedTuple):
    """What a thread begins with, in one commit."""

    turn_id: str
    events: list[Event]
    rows: list[Row]


def opened(
    source: ThreadKey,
    turn_id: str,
    request: TurnRequest,
    history: Sequence[Message],
    taken: Sequence[Event],
    views: Sequence[RecordedView],
    recalled: MemoryRetrieval | None,
) -> Opening:
    """The replay of a turn whose records `taken` are taken over, with what memory has for it."""
    replay = request.replay
    assert replay is not None, "only a replay is opened so"
    before = conversation(history)
    started = ThreadLifecycle(
        phase=Phase.STARTED,
        request=to_builtins(request),
        follows_turn_id=None if before is None else before.turn_id,
        turn_id=turn_id,
    )
    names = {view.compaction_id: new_id("cmp") for view in views}
    kept = [msgspec.structs.replace(event, turn_id=turn_id) for event in _kept(taken, names, recalled)]
    told = TaskLifecycle(phase="replayed", from_task_id=source.task_id, from_seq=replay.from_seq, turn_id=turn_id)
    rows: list[Row] = [view_row(view, names[view.compaction_id], turn_id) for view in views]
    events: list[Event] = [started, *kept, told]
    if before is not None:
        events, rows = [*before.events, *events], [*before.rows, *rows]
    return Opening(turn_id, events, rows)


def conversation(history: Sequence[Message]) -> Opening | None:
    """A turn that is over and holds these messages as they are; None when there are none."""
    if not history:
        return None
    turn_id = new_id("turn")
    row = ConversationRow(
        turn_id=turn_id,
        messages=encode(list(history)),
        message_count=len(history),
        follows_turn_id=None,
        follows_messages=None,
        created_at=now_ms(),
    )
    events: list[Event] = [
        ThreadLifecycle(phase=Phase.STARTED, turn_id=turn_id),
        ThreadLifecycle(phase=Phase.COMPLETED, stop_reason=BEFORE, turn_id=turn_id),
    ]
    return Opening(turn_id, events, [row])


def view_row(view: RecordedView, compaction_id: str, turn_id: str) -> CompactionRow:
    return CompactionRow(
        compaction_id=compaction_id,
        turn_id=turn_id,
        covers=view.covers,
        ok=True,
        messages=encode(view.messages),
        created_at=now_ms(),
    )


def _kept(taken: Sequence[Event], names: dict[str, str], recalled: MemoryRetrieval | None) -> list[Event]:
    """The records to take over, in order; what memory has stands behind the first message."""
    kept: list[Event] = []
    for event in taken:
        found = _as_taken(event, names) if isinstance(event, TAKEN_OVER) else None
        if found is None:
            continue
        first = isinstance(found, UserMessage) and not any(isinstance(one, UserMessage) for one in kept)
        kept.append(found)
        if first and recalled is not None:
            kept.append(recalled)
    return kept


def _as_taken(event: Event, names: dict[str, str]) -> Event | None:
    match event:
        case Usage():
            return msgspec.structs.replace(copied(event), endpoint=None)
        case MediaNotice(reason=reason) if reason == UNSUPPORTED:
            return None
        case CompactionEvent():
            view = names.get(event.compaction_id or "")
            return None if view is None else msgspec.structs.replace(copied(event), compaction_id=view)
        case _:
            return copied(event)
