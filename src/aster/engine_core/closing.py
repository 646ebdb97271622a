"""Closing a turn: the thread is left valid whatever happened, every call with its one result.

The end event, the conversation for the next turn and the trajectory are one commit.
"""

import time

from aster.brain.compaction_records import CompactionRow
from aster.brain.records import ConversationRow, Row, TrajectoryRow
from aster.brain.unit import Deed
from aster.contracts.blocks import TextBlock, ToolResultBlock
from aster.contracts.errors import EngineError
from aster.contracts.events import ErrorEvent, Event, Phase, ThreadLifecycle, ToolResult
from aster.contracts.messages import Message
from aster.contracts.model import encode, to_builtins
from aster.contracts.turn import TurnState
from aster.engine_core import channel_state, door_places, learned_from, remembering, uncertainty
from aster.engine_core.projects import ending, suggesting
from aster.engine_core.services import Services
from aster.engine_core.teams import ending as member_ending
from aster.engine_core.turn import Turn
from aster.infra.clock import now_iso, now_ms
from aster.infra.ids import new_id

CANCELLED = "(cancelled)"


def unanswered(state: TurnState, output: str = CANCELLED, error: str = "cancelled") -> list[Event]:
    """A result for every call that has none."""
    return [
        ToolResult(
            tool=call.call.name,
            tool_call_id=call.call.id,
            step=state.step,
            output=output,
            error=error,
            trusted=True,
        )
        for call in state.unresolved
    ]


async def finish(turn: Turn, services: Services, phase: Phase, stop_reason: str) -> None:
    """End a turn; returns when the end is durable."""
    state = turn.state
    if state.request.replay is None:
        await remembering.obey(turn, services, phase)
        uncertainty.close(turn, services, phase)
    for event in unanswered(state):
        turn.write(event)
    end = ThreadLifecycle(phase=phase, segment=state.segment, stop_reason=stop_reason)
    preview = messages_at_end(state)
    rows = (
        ConversationRow(
            turn_id=turn.turn_id,
            messages=encode(preview),
            message_count=len(preview),
            follows_turn_id=state.follows_turn_id,
            follows_messages=state.follows_messages,
            created_at=now_ms(),
        ),
        _trajectory(turn, phase, stop_reason, preview),
    )
    entry = await services.journal.entry(turn, phase, preview)
    lesson = learned_from.entry(turn, services, phase, stop_reason, preview)
    suggested, noted = await suggesting.suggestion(turn, services, phase)
    kept = (*rows, *_cleared(turn), *entry, *lesson, *door_places.answered(state, preview, phase), *noted)
    member = await member_ending.ended(turn, services, phase, stop_reason, preview)
    deed, beside = member or (await _let_go(turn, services, phase, stop_reason), ())
    turn.write(*suggested, end, rows=kept, deed=deed, beside=beside)
    turn.when_durable(lambda: services.journal.entered(entry))
    if state.request.advance is not None:
        turn.when_durable(services.projects.begun.set)
    await turn.flush()
    services.history.keep(turn.key, turn.turn_id, list(turn.seen))
    services.foundations.forget(turn.turn_id)
    services.raven.turn_ended(phase, time.perf_counter() - turn.started, stop_reason)


async def _let_go(turn: Turn, services: Services, phase: Phase, stop_reason: str) -> Deed | None:
    """Gives back what the turn was at on a board, unless its task goes on with it."""
    request = turn.state.request
    if request.advance is not None and request.replay is None:
        return await ending.ended(turn, services, request.advance, phase, stop_reason)
    if request.replay is not None or (phase is Phase.COMPLETED and request.parent is None):
        return None
    return services.work.abandoned(turn.key, f"the turn that had it ended: {stop_reason}")


def _cleared(turn: Turn) -> list[Row]:
    """The conversation before the turn as it goes on: without media that was refused, as a view of its own, so that
    no later turn is refused it again."""
    state = turn.state
    if not turn.history or not (state.media_withheld or (state.media_stripped and state.covered)):
        return []
    return [
        CompactionRow(
            compaction_id=new_id("cmp"),
            turn_id=turn.turn_id,
            covers=state.covered,
            ok=True,
            messages=encode(turn.history),
            created_at=now_ms(),
        )
    ]


def messages_at_end(state: TurnState) -> list[Message]:
    """The turn's messages as they will stand once it is closed now."""
    text = tuple(block for block in state.step_blocks if isinstance(block, TextBlock) and block.text)
    return [*state.messages, Message(role="assistant", content=text)] if text else list(state.messages)


async def fail(turn: Turn, services: Services, error: EngineError, stop_reason: str = "error") -> None:
    """End a turn with an error: an `error` event, then the closing one."""
    body = error.body()
    for event in unanswered(turn.state, "(not run: the turn ended with an error)", "cancelled"):
        turn.write(event)
    turn.write(ErrorEvent(error=body.error, message=body.message, retry=body.retry, details=body.details))
    services.raven.note("turn_error", "error", error.message, code=error.code)
    await finish(turn, services, Phase.ERRORED, stop_reason)


async def suspend(turn: Turn, services: Services) -> None:
    """Park a turn: from here on it is a row."""
    row = await channel_state.row(turn, services.settings.channel_state_ttl_hitl)
    turn.write(ThreadLifecycle(phase=Phase.SUSPENDED, segment=turn.state.segment), rows=(row,))
    await turn.flush()
    services.raven.turn_suspended()


def _trajectory(turn: Turn, phase: Phase, stop_reason: str, messages: list[Message]) -> TrajectoryRow:
    """The whole record of what the turn did, for learning and for replay."""
    state = turn.state
    results = [block for message in messages for block in message.content if isinstance(block, ToolResultBlock)]
    record = {
        "turn_id": turn.turn_id,
        "task_id": turn.key.task_id,
        "status": phase,
        "stop_reason": stop_reason,
        "error": state.error,
        "request": to_builtins(state.request),
        "follows_turn_id": state.follows_turn_id,
        "history_messages": len(turn.history),
        "messages": to_builtins(messages),
        "model_calls": state.model_calls,
        "tool_calls": len(results),
        "tool_errors": sum(result.is_error for result in results),
        "verification": to_builtins(state.judged),
        "usage": to_builtins(state.usage),
        "cost_usd": state.cost_usd,
        "segments": state.segment + 1,
        "seconds": round(time.perf_counter() - turn.started, 3),
        "ended_at": now_iso(),
    }
    return TrajectoryRow(turn_id=turn.turn_id, status=phase, record=encode(record), created_at=now_ms())
