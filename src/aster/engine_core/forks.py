"""Forking: a new task that begins where another stood at a sequence number.

The records up to there are copied, turns and requests under new ids; a turn that was under way at that point is
closed on the copy, the same way a cancel closes one. The original is not touched.
"""

import msgspec

from aster.brain.records import ConversationRow, ThreadKey
from aster.brain.unit import Absent, Conflict
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.events import (
    CompactionEvent,
    Event,
    HitlRequest,
    HitlResolved,
    PermissionPrompt,
    Phase,
    TaskLifecycle,
    ThreadLifecycle,
    UnknownEvent,
    decode_event,
)
from aster.contracts.model import encode
from aster.contracts.turn import TurnState
from aster.engine_core.admission import check_task
from aster.engine_core.closing import messages_at_end, unanswered
from aster.engine_core.compaction import forked as compactions
from aster.engine_core.fold import apply
from aster.engine_core.orders import Forked
from aster.engine_core.services import Services
from aster.infra.clock import now_ms
from aster.infra.ids import new_id

PAGE = 1000


async def fork(services: Services, source: ThreadKey, seq: int, new_task_id: str | None) -> Forked:
    thread = await services.brain.thread(source)
    head = await services.brain.head(source)
    if thread is None:
        raise EngineError(ErrorCode.TASK_NOT_FOUND, f"There is no task {source.task_id!r}.")
    if not 1 <= seq <= head:
        problem = f"must be between 1 and {head}"
        raise EngineError(
            ErrorCode.INVALID_REQUEST,
            f"`seq` {problem}, the newest event of the task.",
            {"fields": [{"field": "seq", "problem": problem}]},
        )
    if new_task_id is not None:
        check_task(new_task_id)
    target = ThreadKey(source.user_id, new_task_id or new_id("task"))
    events = await _records(services, source, seq)
    copied, rows, names = _close(events)
    views = await compactions.copied(services.brain, source, events, names)
    forked = TaskLifecycle(
        phase="forked", from_task_id=source.task_id, from_seq=seq, title=f"{thread.title} (fork)".strip()
    )
    try:
        written = await services.brain.append(target, None, [*copied, forked], rows=[*rows, *views], guard=Absent())
    except Conflict:
        raise EngineError(
            ErrorCode.TASK_EXISTS,
            f"A task {target.task_id!r} exists already. Choose another `task_id`, or leave it out.",
        ) from None
    return Forked(task_id=target.task_id, from_task_id=source.task_id, from_seq=seq, head_seq=written[-1].seq)


async def _records(services: Services, source: ThreadKey, seq: int) -> list[Event]:
    events: list[Event] = []
    after = 0
    while True:
        page = await services.brain.frames(source, after, PAGE)
        for item in page:
            if item.seq > seq:
                return events
            if item.grade not in ("delta", "shown"):
                event = decode_event(item.json)
                if not isinstance(event, UnknownEvent):
                    events.append(event)
        if len(page) < PAGE:
            return events
        after = page[-1].seq


def _close(events: list[Event]) -> tuple[list[Event], list[ConversationRow], dict[str, str]]:
    """The events of the copy with their turns renamed, the conversations they amount to, and the new names."""
    names: dict[str, str] = {}
    states: dict[str, TurnState] = {}
    copied: list[Event] = []
    for event in events:
        turn_id = event.turn_id
        if turn_id is None:
            continue
        new_turn = names.setdefault(turn_id, new_id("turn"))
        renamed = msgspec.structs.replace(event, turn_id=new_turn, seq=0)
        if isinstance(renamed, HitlRequest | PermissionPrompt | HitlResolved):
            request_id = names.setdefault(renamed.request_id, new_id("hitl"))
            renamed = msgspec.structs.replace(renamed, request_id=request_id)
        if isinstance(renamed, ThreadLifecycle) and renamed.follows_turn_id is not None:
            follows = names.get(renamed.follows_turn_id)
            renamed = msgspec.structs.replace(renamed, follows_turn_id=follows)
        if isinstance(renamed, CompactionEvent) and renamed.compaction_id is not None:
            compaction_id = names.setdefault(renamed.compaction_id, new_id("cmp"))
            renamed = msgspec.structs.replace(renamed, compaction_id=compaction_id)
        apply(states.setdefault(new_turn, TurnState(turn_id=new_turn)), renamed)
        copied.append(renamed)
    for state in states.values():
        if not state.status.ended:
            copied += _ending(state)
    return copied, [_conversation(state) for state in states.values()], names


def _ending(state: TurnState) -> list[Event]:
    events = unanswered(state)
    events.append(ThreadLifecycle(phase=Phase.CANCELLED, segment=state.segment, stop_reason="forked"))
    closing = [msgspec.structs.replace(event, turn_id=state.turn_id) for event in events]
    for event in closing:
        apply(state, event)
    return closing


def _conversation(state: TurnState) -> ConversationRow:
    messages = messages_at_end(state)
    return ConversationRow(
        turn_id=state.turn_id,
        messages=encode(messages),
        message_count=len(messages),
        follows_turn_id=state.follows_turn_id,
        follows_messages=state.follows_messages,
        created_at=now_ms(),
    )
