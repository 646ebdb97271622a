"""The named points of a turn where hooks are asked, and what their word means there.

At each point the thread is written before the turn goes on, so that after a restart a hook that has spoken about a
message or a call is not asked about it again, and what it refused stays refused.
"""

from typing import Any

import msgspec

from aster.contracts.blocks import TextBlock, text_of
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.events import TransitionReason, TurnTransition, UserMessage
from aster.contracts.llm import StopReason
from aster.contracts.tools import OutcomeClass, ToolOutcome
from aster.contracts.turn import CallState
from aster.engine_core.history import spoken
from aster.engine_core.hooks.hooks import Heard
from aster.engine_core.hooks.settings import HookEvent
from aster.engine_core.services import Services
from aster.engine_core.telling import told
from aster.engine_core.turn import Turn

BLOCKED = "hook_blocked"
_ENDS = frozenset((StopReason.END_TURN, StopReason.STOP_SEQUENCE))


async def prompt(turn: Turn, services: Services) -> None:
    """A message came in: `SessionStart` for a task's first, `UserPromptSubmit` for each. A refusal ends it."""
    hooks, state = services.hooks, turn.state
    if state.hook_refused is not None:
        raise _refusal(state.hook_refused)
    wanted = [event for event in (HookEvent.SESSION_START, HookEvent.USER_PROMPT_SUBMIT) if event in hooks]
    if not wanted or state.prompted or state.model_calls:
        return
    said = next((text_of(message.content) for message in state.messages if spoken(message)), "")
    for event in wanted:
        if event is HookEvent.SESSION_START and (state.session_hooked or turn.history or state.request.parent):
            continue
        heard = await hooks.ask(event, _payload(turn, prompt=said))
        turn.write(*heard.ran, *_notes(heard))
        if heard.blocked is not None:
            raise _refusal(heard.blocked)


async def before(turn: Turn, services: Services, call: CallState) -> ToolOutcome | None:
    """A call is about to be decided. Its outcome if a hook refuses it; its input may be another one afterwards."""
    if call.hook_refused is not None:
        return refused(call, call.hook_refused)
    if HookEvent.PRE_TOOL_USE not in services.hooks or call.hooked or call.issued or call.questions:
        return None
    heard = await services.hooks.ask(HookEvent.PRE_TOOL_USE, _about(turn, call), call.call.id)
    turn.write(*heard.ran)
    return None if heard.blocked is None else refused(call, heard.blocked)


async def asking(turn: Turn, services: Services, call: CallState, reason: str) -> Heard | None:
    """A person is about to be asked about a call; a hook may answer instead."""
    if HookEvent.PERMISSION_REQUEST not in services.hooks:
        return None
    payload = {**_about(turn, call), "permission_reason": reason}
    heard = await services.hooks.ask(HookEvent.PERMISSION_REQUEST, payload, call.call.id)
    turn.write(*heard.ran)
    return heard


async def after(turn: Turn, services: Services, call: CallState, outcome: ToolOutcome) -> ToolOutcome:
    """A call has come to its outcome; hooks see it and may add a note for the model."""
    event = HookEvent.POST_TOOL_USE if outcome.ok else HookEvent.POST_TOOL_USE_FAILURE
    if event not in services.hooks:
        return outcome
    output = {"tool_output": text_of(outcome.output), "tool_error": None if outcome.ok else outcome.reason}
    heard = await services.hooks.ask(event, {**_about(turn, call), **output}, call.call.id)
    turn.write(*heard.ran)
    notes = [note for note in (*heard.context, heard.blocked) if note]
    added = tuple(TextBlock(text=f"\n[Hook note]: {note}") for note in notes)
    return msgspec.structs.replace(outcome, output=(*outcome.output, *added)) if added else outcome


async def stopping(turn: Turn, services: Services, stop_reason: str) -> bool:
    """The turn is about to end; whether it may. A hook can send it round once more, and only once."""
    state, reason = turn.state, TransitionReason.STOP_HOOK_CONTINUATION
    event = HookEvent.STOP if state.request.parent is None else HookEvent.SUBAGENT_STOP
    again = state.transitions.get(reason, 0) > 0
    if event not in services.hooks or stop_reason not in _ENDS or again:
        return True
    answer = next(
        (text_of(message.content) for message in reversed(state.messages) if message.role == "assistant"), ""
    )
    heard = await services.hooks.ask(event, _payload(turn, answer=answer, stop_reason=stop_reason))
    turn.write(*heard.ran)
    if heard.blocked is None or heard.stop:
        return True
    turn.write(TurnTransition(reason=reason, step=state.step + 1, limit=1), told(heard.blocked))
    return False


async def compacting(turn: Turn, services: Services, trigger: str, focus: str) -> list[str]:
    """The conversation is about to be compacted; what its summary has to mind. A refusal is raised."""
    if HookEvent.PRE_COMPACT not in services.hooks or turn.state.request.replay is not None:
        return []
    heard = await services.hooks.ask(HookEvent.PRE_COMPACT, _payload(turn, trigger=trigger, focus=focus or None))
    turn.write(*heard.ran)
    return minded(heard)


def minded(heard: Heard) -> list[str]:
    """What hooks want a compaction to mind."""
    if heard.blocked is not None:
        raise EngineError(
            ErrorCode.PERMISSION_DENIED, f"A hook refused to compact the conversation: {heard.blocked}"
        )
    return heard.context


def refused(call: CallState, reason: str) -> ToolOutcome:
    text = f"A hook of the operator refused `{call.call.name}`: {reason}"
    return ToolOutcome.error(text, reason=BLOCKED, failure=OutcomeClass.FATAL)


def _refusal(reason: str) -> EngineError:
    return EngineError(ErrorCode.PERMISSION_DENIED, f"A hook refused this message: {reason}")


def _about(turn: Turn, call: CallState) -> dict[str, Any]:
    return _payload(turn, tool_name=call.call.name, tool_input=call.call.input, tool_call_id=call.call.id)


def _payload(turn: Turn, **more: Any) -> dict[str, Any]:
    agent, parent = turn.state.request.agent, turn.state.request.parent
    whose = {"agent": agent.label} if agent is not None else {}
    if parent is not None:
        whose |= {"parent_task_id": parent.task_id, "parent_turn_id": parent.turn_id}
    return {
        **whose,
        "user_id": turn.key.user_id,
        "task_id": turn.key.task_id,
        "turn_id": turn.turn_id,
        "step": turn.state.step,
        "permission_mode": turn.state.request.permission_mode,
        **more,
    }


def _notes(heard: Heard) -> list[UserMessage]:
    return [told(f"[Hook note]: {note}") for note in heard.context]
