"""The fold: the same events give the same state, from the start or from any snapshot in between."""

from typing import Literal

import msgspec
import pytest

from aster.contracts.blocks import AssistantBlock, TextBlock, ToolResultBlock, ToolUseBlock
from aster.contracts.events import (
    ContentBlockStop,
    Event,
    HitlRequest,
    HitlResolved,
    HookRan,
    Phase,
    Recovery,
    SubagentLifecycle,
    TextDelta,
    ThreadLifecycle,
    ToolCallIssued,
    ToolResult,
    TransitionReason,
    TurnTransition,
    Usage,
    UserMessage,
    type_of,
)
from aster.contracts.events.money import Purpose
from aster.contracts.model import encode
from aster.contracts.tools import Effect
from aster.contracts.turn import TurnState, TurnStatus
from aster.engine_core.fold import apply, fold, restore


def stop(step: int, block: AssistantBlock, index: int = 0, partial: bool = False) -> ContentBlockStop:
    kind = str(block.__struct_config__.tag)
    return ContentBlockStop(block_index=index, block_type=kind, step=step, block=block, partial=partial)  # type: ignore[arg-type]


def usage(step: int, stop_reason: str = "end_turn") -> Usage:
    return Usage(
        step=step,
        message_id=f"msg-a{step}",
        model="m",
        stop_reason=stop_reason,
        input_tokens=10,
        output_tokens=2,
        cache_hit_tokens=4,
    )


def call(number: int) -> ToolUseBlock:
    return ToolUseBlock(id=f"call-{number}", name="bash", input={"command": f"echo {number}"})


def issued(number: int, attempt: int = 1) -> ToolCallIssued:
    return ToolCallIssued(
        tool="bash",
        tool_call_id=f"call-{number}",
        input={},
        step=1,
        effect=Effect.IRREVERSIBLE,
        idempotency_key="k",
        attempt=attempt,
    )


def result(number: int, error: str | None = None) -> ToolResult:
    return ToolResult(tool="bash", tool_call_id=f"call-{number}", step=1, output=f"out {number}", error=error)


OPENING: list[Event] = [
    ThreadLifecycle(phase=Phase.STARTED, request={"direct": True}, follows_turn_id="turn-0"),
    UserMessage(message_id="msg-1", content=(TextBlock(text="hi"),)),
]
TOOLS: list[Event] = [
    *OPENING,
    stop(1, TextBlock(text="let me see"), 0),
    stop(1, call(1), 1),
    stop(1, call(2), 2),
    usage(1, "tool_use"),
    issued(1),
    HitlRequest(request_id="hitl-1", kind="permission", question="may I?", tool_call_id="call-2"),
    ThreadLifecycle(phase=Phase.SUSPENDED),
    HitlResolved(request_id="hitl-1", answer="yes", approved=True),
    ThreadLifecycle(phase=Phase.RESUMED, segment=1),
    result(1),
    issued(2),
    result(2, "timeout"),
    TurnTransition(reason=TransitionReason.TOOL_RESULT_CONTINUATION, step=2),
    stop(2, TextBlock(text="half")),
    Recovery(discarded_from_seq=16, reason="restart", step=2),
    stop(2, TextBlock(text="done")),
    usage(2),
    ThreadLifecycle(phase=Phase.COMPLETED, segment=1, stop_reason="end_turn"),
]


def committed(events: list[Event]) -> list[Event]:
    return [msgspec.structs.replace(event, seq=number) for number, event in enumerate(events, 1)]


def records(events: list[Event]) -> list[tuple[str, bytes]]:
    return [(type_of(event), encode(event)) for event in committed(events)]


def folded(events: list[Event]) -> TurnState:
    return fold("turn-1", records(events))


def test_a_turn_with_tools_a_person_and_a_restart() -> None:
    state = folded(TOOLS)
    assert state.status is TurnStatus.COMPLETED
    assert state.request.direct
    assert (state.segment, state.model_calls, state.seq) == (1, 2, len(TOOLS))
    assert [message.role for message in state.messages] == ["user", "assistant", "user", "assistant"]
    results = state.messages[2].content
    assert all(isinstance(block, ToolResultBlock) for block in results)
    assert [block.tool_use_id for block in results if isinstance(block, ToolResultBlock)] == ["call-1", "call-2"]
    assert state.messages[3].content == (TextBlock(text="done"),)
    assert state.usage.input == 12
    assert state.usage.cache_read == 8


@pytest.mark.parametrize("cut", range(len(TOOLS) + 1))
def test_a_snapshot_anywhere_changes_nothing(cut: int) -> None:
    rows = records(TOOLS)
    kept = encode(fold("turn-1", rows[:cut]))
    assert encode(fold("turn-1", rows[cut:], restore(kept))) == encode(folded(TOOLS))


@pytest.mark.parametrize("cut", range(1, len(TOOLS) + 1))
def test_live_and_restored_states_agree(cut: int) -> None:
    """The loop applies events before they have a number; a restart reads them with one."""
    live = TurnState(turn_id="turn-1")
    for event in TOOLS[:cut]:
        apply(live, event)
    restored = folded(TOOLS[:cut])
    for name in ("seq", "boundary_seq", "step_floor", "first_seq", "said"):
        setattr(live, name, getattr(restored, name))
    assert encode(live) == encode(restored)


def test_results_come_in_call_order_whatever_finished_first() -> None:
    events = [*TOOLS[:6], issued(1), issued(2), result(2), result(1)]
    blocks = folded(events).messages[-1].content
    assert [block.tool_use_id for block in blocks if isinstance(block, ToolResultBlock)] == ["call-1", "call-2"]


def test_no_result_message_before_all_results() -> None:
    state = folded([*TOOLS[:6], issued(1), issued(2), result(2)])
    assert state.messages[-1].role == "assistant"
    assert [waiting.call.id for waiting in state.unresolved] == ["call-1"]


def test_an_answer_counts_for_its_attempt_alone() -> None:
    doubt = HitlRequest(request_id="hitl-9", kind="in_doubt", question="?", tool_call_id="call-1")
    answer = HitlResolved(request_id="hitl-9", answer="again")
    state = folded([*TOOLS[:6], issued(1), doubt, answer])
    assert state.calls["call-1"].answered("in_doubt") is not None
    state = folded([*TOOLS[:6], issued(1), doubt, answer, issued(1, attempt=2)])
    assert state.calls["call-1"].answered("in_doubt") is None


def test_a_cancel_keeps_the_text_and_drops_half_a_call() -> None:
    events = [
        *OPENING,
        stop(1, TextBlock(text="I was say"), 0, partial=True),
        stop(1, call(1), 1),
        ThreadLifecycle(phase=Phase.CANCELLED, stop_reason="cancelled"),
    ]
    state = folded(events)
    assert state.messages[-1].content == (TextBlock(text="I was say"),)


def test_the_usage_of_a_call_that_was_cut_is_money_and_nothing_else() -> None:
    said = stop(1, TextBlock(text="I was say"), 0, partial=True)
    cut = msgspec.structs.replace(usage(1, "cancelled"), estimated=True)
    before, after = folded([*OPENING, said]), folded([*OPENING, said, cut])
    assert after.usage.input_total > before.usage.input_total
    assert (after.model_calls, after.messages, after.step_blocks) == (0, before.messages, [said.block])
    assert after.boundary_seq == before.boundary_seq
    end = ThreadLifecycle(phase=Phase.CANCELLED, stop_reason="cancelled")
    assert folded([*OPENING, said, cut, end]).messages[-1].content == (TextBlock(text="I was say"),)


def test_a_truncated_tool_call_is_taken_back() -> None:
    events = [
        *OPENING,
        stop(1, ToolUseBlock(id="call-1", name="bash", input={}, invalid='{"comm')),
        usage(1, "max_tokens"),
        Recovery(discarded_from_seq=3, reason="max_tokens", step=1),
        TurnTransition(reason=TransitionReason.MAX_TOKENS_RECOVERY, step=1, max_tokens=999),
    ]
    state = folded(events)
    assert [message.role for message in state.messages] == ["user"]
    assert state.calls == {}
    assert state.max_tokens == 999
    assert state.step_floor == 2


def test_deltas_move_nothing() -> None:
    delta = TextDelta(text="half an ans", block_index=0, step=1)
    state = folded([*OPENING, delta, delta])
    assert (state.seq, state.boundary_seq) == (2, 2)


def lifecycle(phase: Literal["started", "completed", "errored", "cancelled"]) -> SubagentLifecycle:
    return SubagentLifecycle(
        child_turn_id="turn-c", child_task_id="c", agent="general", phase=phase, background=True
    )


def test_an_agent_that_ends_while_an_answer_is_streamed_moves_no_boundary() -> None:
    half = [*OPENING, stop(1, call(1))]
    assert folded([*OPENING, lifecycle("started")]).boundary_seq == 3
    for phase in ("completed", "errored", "cancelled"):
        state = folded([*half, lifecycle(phase)])
        assert (state.seq, state.boundary_seq) == (4, 2)


@pytest.mark.parametrize(("purpose", "boundary"), [("step", 2), ("plan", 3), ("verify", 3)])
def test_only_a_cut_off_step_leaves_the_boundary(purpose: Purpose, boundary: int) -> None:
    cut = msgspec.structs.replace(usage(1, "cancelled"), estimated=True, purpose=purpose)
    assert folded([*OPENING, cut]).boundary_seq == boundary


def hook(event: str, *, blocked: bool = False, tool_call_id: str | None = None) -> HookRan:
    return HookRan(
        hook="h",
        hook_event=event,
        outcome="blocked" if blocked else "success",
        blocked=blocked,
        message="not that" if blocked else None,
        tool_call_id=tool_call_id,
    )


def test_what_a_hook_refused_stays_refused() -> None:
    refused = hook("PreToolUse", blocked=True, tool_call_id="call-1")
    passed = hook("PreToolUse", tool_call_id="call-2")
    state = folded([*TOOLS[:6], refused, passed])
    first, second = state.calls.values()
    assert (first.hooked, first.hook_permission, first.hook_refused) == (True, "deny", "not that")
    assert (second.hooked, second.hook_permission, second.hook_refused) == (True, None, None)
    assert state.hook_refused is None
    for event in ("SessionStart", "UserPromptSubmit"):
        assert folded([*OPENING, hook(event, blocked=True)]).hook_refused == "not that"


def test_the_start_of_a_session_does_not_stand_for_its_message() -> None:
    state = folded([*OPENING, hook("SessionStart")])
    assert (state.session_hooked, state.prompted) == (True, False)
    state = folded([*OPENING, hook("SessionStart"), hook("UserPromptSubmit")])
    assert (state.session_hooked, state.prompted, state.hook_refused) == (True, True, None)
    state = folded([*OPENING, hook("Stop", blocked=True), hook("PreCompact", blocked=True)])
    assert (state.session_hooked, state.prompted, state.hook_refused) == (False, False, None)


def test_an_older_snapshot_without_refusals_is_read() -> None:
    call_state = b'{"call":{"id":"c","name":"bash","input":{}},"hooked":true}'
    state = restore(b'{"turn_id":"turn-1","prompted":true,"calls":{"c":' + call_state + b"}}")
    assert (state.prompted, state.hook_refused, state.calls["c"].hook_refused) == (True, None, None)


def test_an_empty_answer_leaves_no_empty_message() -> None:
    assert [message.role for message in folded([*OPENING, usage(1)]).messages] == ["user"]
