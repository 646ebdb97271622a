"""The fold: the one function that turns a turn's events into its state.

The running loop, a restart, a fork and a replay all use it, so they cannot disagree. Deltas carry nothing the state
needs: a block counts when its `content_block_stop` is there, a model call when its `usage` is there. The usage of a
call that was cut off is money and nothing else.
"""

from collections.abc import Iterable

import msgspec

from aster.contracts.blocks import TextBlock, ToolResultBlock, ToolUseBlock
from aster.contracts.budgets import BudgetCase
from aster.contracts.events import (
    BudgetEvent,
    CompactionEvent,
    CompactionRequested,
    ContentBlockStop,
    ErrorEvent,
    Event,
    Grade,
    HitlRequest,
    HitlResolved,
    HookRan,
    MediaNotice,
    MemoryRetrieval,
    MemoryWrite,
    PermissionSuggestion,
    Phase,
    PlanUpdate,
    ProviderFallback,
    Recovery,
    RiskSummary,
    SubagentLifecycle,
    ThreadLifecycle,
    TodoUpdate,
    ToolCallIssued,
    ToolError,
    ToolResult,
    TransitionReason,
    TurnTransition,
    Uncertainty,
    Usage,
    UserMessage,
    Verification,
    decode_event,
)
from aster.contracts.llm import TokenUsage
from aster.contracts.messages import Message
from aster.contracts.permissions import Behavior
from aster.contracts.tools import PERMISSION_DENIED, ToolCall
from aster.contracts.turn import (
    Answer,
    BudgetQuestion,
    CallState,
    Question,
    Transition,
    TurnRequest,
    TurnState,
    TurnStatus,
)
from aster.engine_core import doubts, ledger, openings, recollection, reminders, stripped_media, wishes
from aster.engine_core.agents import children
from aster.engine_core.planning import noted as plan_noted
from aster.engine_core.verifying import record

_STATUS = {
    Phase.STARTED: TurnStatus.RUNNING,
    Phase.RESUMED: TurnStatus.RUNNING,
    Phase.SUSPENDED: TurnStatus.SUSPENDED,
    Phase.COMPLETED: TurnStatus.COMPLETED,
    Phase.ERRORED: TurnStatus.ERRORED,
    Phase.CANCELLED: TurnStatus.CANCELLED,
}

_STRICTEST_FIRST: tuple[Behavior, ...] = ("deny", "ask", "allow")


def fold(turn_id: str, records: Iterable[tuple[str, bytes]], start: TurnState | None = None) -> TurnState:
    """The state after these records, from the beginning or from a snapshot."""
    state = start or TurnState(turn_id=turn_id)
    for _, data in records:
        apply(state, decode_event(data))
    return state


def restore(data: bytes) -> TurnState:
    """Read a state written by this or an older version."""
    return msgspec.json.decode(data, type=TurnState)


def apply(state: TurnState, event: Event) -> None:
    """Move the state on by one record. An event not yet committed has seq 0 and leaves the position alone."""
    match event:
        case ContentBlockStop():
            state.step = event.step
            state.step_blocks.append(event.block)
        case Usage():
            _paid(state, event)
            if not event.estimated and event.purpose in ("step", "import"):
                _called(state, event)
        case UserMessage():
            _said(state, event)
        case ToolCallIssued():
            call = state.calls[event.tool_call_id]
            call.issued, call.effect = event.attempt, event.effect
            state.lasting_effects = state.lasting_effects or not event.effect.repeatable
        case ToolError():
            state.calls[event.tool_call_id].failure = event.failure
        case ToolResult():
            _answered(state, event)
        case HitlRequest():
            _asked(state, event)
        case BudgetEvent(status="warning"):
            state.budget_warned[event.scope] = event.limit
        case HitlResolved():
            _resolved(state, event)
        case PermissionSuggestion():
            state.denials = 0
        case TurnTransition():
            _went_round(state, event)
        case MemoryRetrieval():
            _recalled(state, event)
        case MemoryWrite():
            if event.action in ("created", "updated", "superseded"):
                state.remembered = (*state.remembered, event.id)
        case HookRan():
            _hooked(state, event)
        case CompactionRequested() | CompactionEvent():
            _compacted(state, event)
        case MediaNotice():
            stripped_media.noted(state, event)
        case TodoUpdate():
            state.todos, state.todo_rounds = event.todos, -1
        case PlanUpdate():
            plan_noted.updated(state, event)
        case Uncertainty() | RiskSummary():
            doubts.noted(state, event)
        case SubagentLifecycle():
            children.noted(state, event)
        case Recovery():
            _discarded(state, event)
        case Verification():
            record.judged(state, event)
        case ProviderFallback():
            state.fallback_model = event.to_model
            state.transitions.pop(TransitionReason.TRANSPORT_RETRY, None)
        case ThreadLifecycle():
            _phase(state, event)
        case ErrorEvent():
            state.error = event.error
        case _:
            pass
    place(state, event)


def place(state: TurnState, event: Event) -> None:
    """Note how far the thread is known, from a record that is committed."""
    if not event.seq or event.grade is Grade.DELTA:
        return
    state.seq = max(state.seq, event.seq)
    match event:
        case ContentBlockStop() | CompactionRequested() | Usage(estimated=True, purpose="step"):
            return
        case SubagentLifecycle() if event.phase != "started":
            return
        case Usage(purpose="step"):
            state.step_floor = state.boundary_seq
        case ThreadLifecycle(phase=Phase.STARTED):
            state.first_seq = event.seq
        case UserMessage() if event.message_id in state.said:
            state.said[event.message_id] = event.seq
        case _:
            pass
    state.boundary_seq = max(state.boundary_seq, event.seq)


def _said(state: TurnState, event: UserMessage) -> None:
    said = Message(
        role="user",
        content=event.content,
        id=event.message_id,
        said_at=event.said_at,
        engine=event.origin == "engine",
    )
    state.messages.append(said)
    if event.origin not in ("engine", "agent"):
        state.said[event.message_id] = 0


def _called(state: TurnState, event: Usage) -> None:
    blocks, state.step_blocks = state.step_blocks, []
    openings.note(state.ledger, blocks)
    state.step = event.step
    state.model_calls += 1
    state.settled = False
    state.stop_reason = event.stop_reason
    state.endpoint = event.endpoint
    state.transitions.pop(TransitionReason.TRANSPORT_RETRY, None)
    state.transitions.pop(TransitionReason.COMPACT_RETRY, None)
    if blocks:
        state.messages.append(Message(role="assistant", content=tuple(blocks), id=event.message_id))
    state.calls = {
        block.id: CallState(
            call=ToolCall(id=block.id, name=block.name, input=block.input), invalid=block.invalid, hint=block.hint
        )
        for block in blocks
        if isinstance(block, ToolUseBlock)
    }


def _paid(state: TurnState, event: Usage) -> None:
    cached = event.cache_hit_tokens + event.cache_write_tokens
    state.usage = state.usage.plus(
        TokenUsage(
            input=event.input_tokens - cached,
            output=event.output_tokens,
            cache_read=event.cache_hit_tokens,
            cache_write=event.cache_write_tokens,
        )
    )
    state.cost_usd += event.cost_usd or 0.0
    if event.purpose == "plan":
        plan_noted.asked(state)


def _answered(state: TurnState, event: ToolResult) -> None:
    content = event.content or (TextBlock(text=event.output),)
    call = state.calls[event.tool_call_id]
    state.denials += event.error == PERMISSION_DENIED
    ledger.record(state.ledger, call, event)
    plan_noted.answered(state, event, ledger.strike(event))
    record.ran(state, call, event)
    if ledger.changed(call, event):
        state.transitions.pop(TransitionReason.LOOP_GUARD, None)
    call.result = ToolResultBlock(
        tool_use_id=event.tool_call_id,
        content=content,
        is_error=event.error is not None,
        trusted=event.trusted,
    )
    results = [call.result for call in state.calls.values() if call.result is not None]
    if len(results) == len(state.calls):
        state.messages.append(Message(role="user", content=tuple(results)))


def _asked(state: TurnState, event: HitlRequest) -> None:
    if event.kind == "budget":
        case = msgspec.convert(event.input, BudgetCase)
        state.budget_questions.append(BudgetQuestion(request_id=event.request_id, case=case))
    elif event.tool_call_id in state.calls:
        call = state.calls[event.tool_call_id]
        asked = Question(
            request_id=event.request_id,
            kind=event.kind,
            attempt=call.issued,
            about=event.about,
            pin=event.pin or (None if event.offer is None else event.offer.pin),
            asked=event.input if event.kind == "elicitation" else None,
            state=event.state,
        )
        call.questions.append(asked)
    elif event.tool_call_id is None and event.kind == "question":
        state.gates.append(Question(request_id=event.request_id, kind=event.reason or event.kind))


def _resolved(state: TurnState, event: HitlResolved) -> None:
    if event.approved:
        state.denials = 0
    if event.request is not None:
        state.request, state.wished_at = wishes.adopted(state.request, event.request), state.model_calls
    answer = Answer(text=event.answer, approved=event.approved, feedback=event.feedback, content=event.content)
    state.budget_questions = [
        children.settled(question, answer, event) if question.request_id == event.request_id else question
        for question in state.budget_questions
    ]
    state.gates = _with_answer(state.gates, event.request_id, answer)
    for call in state.calls.values():
        call.questions = _with_answer(call.questions, event.request_id, answer)


def _with_answer(questions: list[Question], request_id: str, answer: Answer) -> list[Question]:
    return [
        msgspec.structs.replace(question, answer=answer) if question.request_id == request_id else question
        for question in questions
    ]


def _hooked(state: TurnState, event: HookRan) -> None:
    """A hook has spoken: about the message, or about a call before it runs. It is not asked about it again."""
    state.hook_stopped = state.hook_stopped or event.stop
    if event.hook_event in ("SessionStart", "UserPromptSubmit"):
        state.session_hooked = state.session_hooked or event.hook_event == "SessionStart"
        state.prompted = state.prompted or event.hook_event == "UserPromptSubmit"
        if event.blocked:
            state.hook_refused = event.message or ""
        return
    if event.tool_call_id is None:
        return
    call = state.calls.get(event.tool_call_id)
    if call is None or event.hook_event != "PreToolUse":
        return
    call.hooked = True
    said: set[Behavior | None] = {event.permission, call.hook_permission}
    call.hook_permission = next((word for word in _STRICTEST_FIRST if word in said), None)
    if event.blocked:
        call.hook_refused, call.hook_permission = event.message or "", "deny"
    if event.updated_input is not None:
        call.call = msgspec.structs.replace(call.call, input=event.updated_input)


def _compacted(state: TurnState, event: CompactionRequested | CompactionEvent) -> None:
    """The turn goes on with another view of what was, or is to; its own messages stay as they are."""
    if isinstance(event, CompactionRequested):
        state.compaction_wanted = event.focus or ""
        return
    state.compaction_wanted = None
    if event.ok:
        state.compaction_id, state.covered = event.compaction_id, event.covers


def _recalled(state: TurnState, event: MemoryRetrieval) -> None:
    """What memory had stands with the message it was asked for: before it in the prompt, and wherever it goes."""
    used = [item for item in event.items if item.used]
    state.recalled = tuple(item.id for item in used if item.store != "working")
    if used and state.messages:
        state.messages[0] = msgspec.structs.replace(state.messages[0], recalled=recollection.rendered(event))


def _went_round(state: TurnState, event: TurnTransition) -> None:
    state.settled = True
    state.transition = Transition(reason=event.reason, attempt=event.attempt)
    state.transitions[event.reason] = event.attempt
    if event.max_tokens is not None:
        state.max_tokens = event.max_tokens
    plan_noted.went_round(state)
    if state.todos:
        state.todo_rounds = 0 if reminders.todo_due(state) else state.todo_rounds + 1
    if event.reason is TransitionReason.LOOP_GUARD:
        ledger.pivot(state.ledger)
    if event.reason in (TransitionReason.TOOL_RESULT_CONTINUATION, TransitionReason.LOOP_GUARD):
        state.max_tokens = None
        state.transitions.pop(TransitionReason.MAX_TOKENS_RECOVERY, None)
        state.transitions.pop(TransitionReason.PAUSE_TURN, None)
        state.transitions.pop(TransitionReason.EMPTY_ANSWER, None)
        state.transitions.pop(TransitionReason.REPETITION, None)


def _discarded(state: TurnState, event: Recovery) -> None:
    state.step_blocks = []
    if event.reason in ("max_tokens", "verification") and state.messages and state.messages[-1].role == "assistant":
        state.messages.pop()
        state.calls = {}


def _phase(state: TurnState, event: ThreadLifecycle) -> None:
    state.status = _STATUS[event.phase]
    state.segment = event.segment
    if event.phase is Phase.STARTED:
        state.follows_turn_id = event.follows_turn_id
        state.follows_messages = event.follows_messages
        state.request = msgspec.convert(event.request or {}, TurnRequest)
    if event.phase.final:
        state.stop_reason = event.stop_reason
        _keep_partial(state)


def _keep_partial(state: TurnState) -> None:
    """A call that was cut by a cancel leaves its text; half a tool call or half a thought is not kept."""
    text = tuple(block for block in state.step_blocks if isinstance(block, TextBlock) and block.text)
    state.step_blocks = []
    if text:
        state.messages.append(Message(role="assistant", content=text))
