"""What the fold keeps for the verifier: what each tool call came to, and what was found about the newest answer.

It is computed from events alone, so a restart between a draft and its repair goes on at the same place.
"""

from typing import Any

import msgspec

from aster.contracts.blocks import ToolUseBlock, text_of
from aster.contracts.events import ToolResult, TransitionReason, Verification
from aster.contracts.messages import Message
from aster.contracts.tools import ToolCall, ToolOutcome
from aster.contracts.turn import CallState, Judgement, ToolRun, TurnState

DONE = "Not run again: the same call worked before in this turn, and what it did stands. Answer with its result."


def ran(state: TurnState, call: CallState, event: ToolResult) -> None:
    """A call has its result."""
    state.runs.append(
        ToolRun(
            call_id=event.tool_call_id,
            tool=event.tool,
            error=event.error,
            exit_code=_exit_code(event.data),
            lasting=call.effect is not None and not call.effect.repeatable,
        )
    )


def judged(state: TurnState, event: Verification) -> None:
    """An answer was judged; a note on it (the blocks before this event) becomes part of it."""
    if event.about_turn_id is not None:
        return
    before = state.judged.message_id if state.judged is not None else None
    last = state.messages[-1] if state.messages and state.messages[-1].role == "assistant" else None
    state.judged = Judgement(
        step=event.step,
        verdict=event.verdict,
        confidence=event.confidence,
        action=event.action,
        issues=event.issues,
        message_id=event.message_id or before,
        draft=text_of(last.content) if last is not None and event.action == "repair" else None,
    )
    if event.action == "note":
        _noted(state, last)


def _noted(state: TurnState, last: Message | None) -> None:
    blocks, state.step_blocks = tuple(state.step_blocks), []
    if last is None:
        state.messages.append(Message(role="assistant", content=blocks))
    else:
        state.messages[-1] = msgspec.structs.replace(last, content=(*last.content, *blocks))


def repairing(state: TurnState) -> bool:
    """An answer was taken back; what comes now is its repair."""
    return TransitionReason.VERIFICATION_REPAIR in state.transitions


def done_before(state: TurnState, call: ToolCall) -> ToolOutcome | None:
    """The outcome of a call in a repair that would do again what was done and lasts; None if it may run."""
    if not repairing(state):
        return None
    done = {run.call_id for run in state.runs if run.lasting and run.error is None}
    again = done and any(
        isinstance(block, ToolUseBlock)
        and block.id in done
        and block.name == call.name
        and block.input == call.input
        for message in state.messages
        for block in message.content
    )
    return ToolOutcome.text(DONE) if again else None


def _exit_code(data: dict[str, Any] | None) -> int | None:
    code = data.get("exit_code") if data else None
    return code if isinstance(code, int) else None
