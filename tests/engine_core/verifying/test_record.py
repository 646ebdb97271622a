"""What the fold keeps for the verifier, from events alone."""

from typing import Any

import pytest

from aster.contracts.blocks import TextBlock, ToolUseBlock, text_of
from aster.contracts.events import (
    ContentBlockStop,
    Event,
    Recovery,
    ToolCallIssued,
    ToolResult,
    TransitionReason,
    TurnTransition,
    Usage,
    UserMessage,
    Verification,
)
from aster.contracts.tools import Effect, ToolCall
from aster.contracts.turn import TurnState
from aster.engine_core.fold import apply
from aster.engine_core.verifying.evidence import exhibits
from aster.engine_core.verifying.record import done_before, owed

SEND = {"command": "git push"}


def used(step: int) -> Usage:
    return Usage(
        step=step, message_id=f"a{step}", model="m", stop_reason="end_turn", input_tokens=1, output_tokens=1
    )


def called(step: int, call_id: str, effect: Effect, **result: Any) -> list[Event]:
    block = ToolUseBlock(id=call_id, name="bash", input=SEND)
    about: dict[str, Any] = {"tool": "bash", "tool_call_id": call_id, "step": step}
    return [
        ContentBlockStop(block_index=0, block_type="tool_use", step=step, block=block),
        used(step),
        ToolCallIssued(input=SEND, effect=effect, idempotency_key=call_id, **about),
        ToolResult(**about, **result),
    ]


def answered(step: int, text: str) -> list[Event]:
    stop = ContentBlockStop(block_index=0, block_type="text", step=step, block=TextBlock(text=text))
    return [stop, used(step)]


def state_of(*parts: list[Event]) -> TurnState:
    state = TurnState(turn_id="t1")
    apply(state, UserMessage(message_id="u1", content=(TextBlock(text="Push it."),)))
    for part in parts:
        for event in part:
            apply(state, event)
    return state


def judged(action: Any, step: int = 2, **more: Any) -> Verification:
    return Verification(claim="c", verdict="refute", confidence=0.9, action=action, step=step, **more)


REPAIR: list[Event] = [
    judged("repair", message_id="e1"),
    Recovery(discarded_from_seq=5, reason="verification", step=2),
    TurnTransition(reason=TransitionReason.VERIFICATION_REPAIR, step=3),
    UserMessage(message_id="e1", content=(TextBlock(text="Again."),), origin="engine"),
]


def test_a_call_is_kept_with_how_it_ended() -> None:
    state = state_of(
        called(1, "c1", Effect.IRREVERSIBLE, output="x", error="exit_status", data={"exit_code": 3}),
        called(2, "c2", Effect.PURE, output="y", data={"exit_code": 0}),
    )
    assert [(run.error, run.exit_code, run.lasting) for run in state.runs] == [
        ("exit_status", 3, True),
        (None, 0, False),
    ]
    assert [(one.text, one.input) for one in exhibits(state)] == [("x", SEND), ("y", SEND)]


@pytest.mark.parametrize("error", ["permission_denied", "hook_blocked", "cancelled"])
def test_what_was_refused_is_no_evidence(error: str) -> None:
    assert exhibits(state_of(called(1, "c1", Effect.PURE, output="no", error=error))) == ()


def test_a_note_becomes_part_of_the_answer() -> None:
    note = ContentBlockStop(block_index=1, block_type="text", step=2, block=TextBlock(text=" (wrong)"))
    state = state_of(called(1, "c1", Effect.PURE, output="x"), answered(2, "Done."), [note, judged("note")])
    assert text_of(state.messages[-1].content) == "Done. (wrong)"
    assert (state.step_blocks, state.messages[-1].id) == ([], "a2")


def test_a_refuted_draft_is_gone_and_its_repair_is_known_by_its_message() -> None:
    state = state_of(called(1, "c1", Effect.IRREVERSIBLE, output="x"), answered(2, "Done."), REPAIR)
    assert [text_of(message.content) for message in state.messages if message.role == "assistant"] == [""]
    assert state.settled
    again = state_of(
        called(1, "c1", Effect.IRREVERSIBLE, output="x"),
        answered(2, "Done."),
        REPAIR,
        answered(3, "Pushed."),
        [judged("none", 3)],
    )
    assert again.judged is not None
    assert (again.judged.message_id, again.judged.step) == ("e1", 3)


def test_what_is_found_about_another_turn_is_not_about_this_one() -> None:
    state = state_of(answered(1, "Hello."), [judged("correct", 1, about_turn_id="t0")])
    assert state.judged is None


@pytest.mark.parametrize(
    ("effect", "error", "refused"),
    [
        (Effect.IRREVERSIBLE, None, True),
        (Effect.IRREVERSIBLE, "exit_status", False),
        (Effect.IDEMPOTENT, None, False),
        (Effect.PURE, None, False),
    ],
)
def test_a_repair_does_not_repeat_what_lasts(effect: Effect, error: str | None, refused: bool) -> None:
    state = state_of(called(1, "c1", effect, output="x", error=error), answered(2, "Done."))
    push = ToolCall(id="c2", name="bash", input=SEND)
    assert done_before(state, push) is None
    apply(state, TurnTransition(reason=TransitionReason.VERIFICATION_REPAIR, step=3))
    assert (done_before(state, push) is not None) == refused
    assert done_before(state, ToolCall(id="c3", name="bash", input={"command": "git pull"})) is None


@pytest.mark.parametrize(
    ("effect", "error", "refused"),
    [(Effect.IRREVERSIBLE, None, False), (Effect.IRREVERSIBLE, "exit_status", True), (Effect.PURE, None, True)],
)
def test_what_lasts_may_be_due_again_once_a_call_has_changed_the_world(
    effect: Effect, error: str | None, refused: bool
) -> None:
    state = state_of(called(1, "c1", Effect.IRREVERSIBLE, output="x"), answered(2, "Done."), REPAIR)
    push = ToolCall(id="c3", name="bash", input=SEND)
    assert done_before(state, push) is not None
    for event in called(3, "c2", effect, output="y", error=error):
        apply(state, event)
    assert (done_before(state, push) is not None) == refused


def test_what_lasts_may_be_due_again_once_a_person_has_spoken() -> None:
    state = state_of(called(1, "c1", Effect.IRREVERSIBLE, output="x"), answered(2, "Done."), REPAIR)
    apply(state, UserMessage(message_id="u2", content=(TextBlock(text="Once more."),), origin="steer"))
    assert done_before(state, ToolCall(id="c2", name="bash", input=SEND)) is None


def test_a_draft_is_owed_until_an_answer_stands_in_its_place() -> None:
    state = state_of(called(1, "c1", Effect.PURE, output="x"), answered(2, "Done."), REPAIR)
    assert owed(state) == "Done."
    for event in called(3, "c2", Effect.PURE, output="y"):
        apply(state, event)
    assert owed(state) == "Done."
    for event in answered(4, "Not done."):
        apply(state, event)
    assert owed(state) is None
    apply(state, Recovery(discarded_from_seq=9, reason="max_tokens", step=4))
    assert owed(state) == "Done."
