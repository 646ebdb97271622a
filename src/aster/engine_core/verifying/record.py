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
    if event.action == "repair":
        state.repaired_at = len(state.runs)
    elif event.action == "note" and owed(state) is not None:
        state.settled = True
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


def owed(state: TurnState) -> str | None:
    """The answer that was taken back, as long as no other stands in its place."""
    draft = state.judged.draft if state.judged is not None else None
    return None if any(map(_answers, _since_repair(state))) else draft


def restored(state: TurnState) -> bool:
    """The newest words are an answer that was taken back and stands again, with a note: nothing else is to come."""
    found = state.judged
    noted = found is not None and found.action == "note" and found.step == state.step
    return noted and state.settled and state.messages[-1].role == "assistant"


def done_before(state: TurnState, call: ToolCall) -> ToolOutcome | None:
    """The outcome of a call in a repair that would do again what was done and lasts; None if it may run."""
    if not repairing(state) or _moved_on(state):
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


def _moved_on(state: TurnState) -> bool:
    """Since the repair began the world has changed, or a person has spoken: the same call may be due again."""
    since = state.runs[state.repaired_at :] if state.repaired_at is not None else []
    changed = any(run.lasting and run.error is None for run in since)
    return changed or any(message.id in state.said for message in _since_repair(state))


def _since_repair(state: TurnState) -> list[Message]:
    """What came after the message that asked for the repair."""
    asked = state.judged.message_id if state.judged is not None else None
    ids = [message.id for message in state.messages]
    return state.messages[ids.index(asked) + 1 :] if asked is not None and asked in ids else []


def _answers(message: Message) -> bool:
    """It is an answer in words, not a word beside a tool call."""
    calls = any(isinstance(block, ToolUseBlock) for block in message.content)
    return message.role == "assistant" and not calls and bool(text_of(message.content).strip())


def _exit_code(data: dict[str, Any] | None) -> int | None:
    code = data.get("exit_code") if data else None
    return code if isinstance(code, int) else None
