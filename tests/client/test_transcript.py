"""The transcript holds what the thread holds: blocks replace deltas, recoveries take back, cards follow calls."""

from typing import Any

from aster.client.transcript import Note, Passage, Said, ToolCard, Transcript
from aster.contracts.blocks import TextBlock, ThinkingBlock, ToolUseBlock
from aster.contracts.errors import ErrorCode
from aster.contracts.events import (
    ContentBlockStart,
    ContentBlockStop,
    ErrorEvent,
    Event,
    HitlRequest,
    HitlResolved,
    Phase,
    PlanStep,
    PlanUpdate,
    Recovery,
    RiskSummary,
    TextDelta,
    ThinkingDelta,
    ThreadLifecycle,
    ToolCallIssued,
    ToolProgress,
    ToolResult,
    Uncertainty,
    Usage,
    UserMessage,
    Verification,
)
from aster.contracts.tools import Effect


class Thread:
    """Writes events with ascending sequence numbers."""

    def __init__(self) -> None:
        self.seq = 0
        self.transcript = Transcript()

    def __call__(self, event: type[Event], turn: str = "t1", **fields: Any) -> int:
        self.seq += 1
        self.transcript.apply(event(task_id="task", turn_id=turn, seq=self.seq, **fields))
        return self.seq

    def text(self, *pieces: str, step: int = 1, index: int = 0, stop: bool = True) -> int:
        first = self(ContentBlockStart, block_index=index, block_type="text", step=step)
        for piece in pieces:
            self(TextDelta, text=piece, block_index=index, step=step)
        if stop:
            block = TextBlock(text="".join(pieces))
            self(ContentBlockStop, block_index=index, block_type="text", step=step, block=block)
        return first

    def call(self, call_id: str = "c1", step: int = 1, index: int = 1) -> None:
        self(
            ContentBlockStart,
            block_index=index,
            block_type="tool_use",
            step=step,
            tool="bash",
            tool_call_id=call_id,
        )
        block = ToolUseBlock(id=call_id, name="bash", input={"command": "ls"})
        self(ContentBlockStop, block_index=index, block_type="tool_use", step=step, block=block)

    def issue(self, call_id: str = "c1", step: int = 1) -> None:
        self(
            ToolCallIssued,
            tool="bash",
            tool_call_id=call_id,
            input={"command": "ls"},
            step=step,
            effect=Effect.PURE,
            idempotency_key="k",
        )


def test_deltas_add_up_and_the_block_replaces_them() -> None:
    thread = Thread()
    thread.text("Hel", "lo", stop=False)
    assert thread.transcript.text() == "Hello"
    thread(ContentBlockStop, block_index=0, block_type="text", step=1, block=TextBlock(text="Hello."))
    assert thread.transcript.text() == "Hello."


def test_a_folded_thread_without_deltas_reads_the_same() -> None:
    thread = Thread()
    thread(ContentBlockStop, block_index=0, block_type="text", step=1, block=TextBlock(text="Hello"))
    assert thread.transcript.text() == "Hello"


def test_recovery_takes_back_the_half_streamed_call() -> None:
    thread = Thread()
    thread.text("kept. ")
    thread(Usage, step=1, message_id="m", model="m", stop_reason="end_turn", input_tokens=3, output_tokens=2)
    first = thread.text("lost", step=2, stop=False)
    thread(Recovery, discarded_from_seq=first, reason="restart", step=2)
    assert thread.transcript.text() == "kept. "
    thread.text("again", step=2)
    assert thread.transcript.text() == "kept. again"
    assert thread.transcript.output_tokens == 2


def test_recovery_takes_back_a_whole_answer_with_a_broken_call() -> None:
    thread = Thread()
    first = thread.text("long answer")
    thread.call()
    thread(Recovery, discarded_from_seq=first, reason="max_tokens", step=1)
    assert thread.transcript.items == []


def test_recovery_leaves_earlier_text_of_the_turn_and_other_turns() -> None:
    thread = Thread()
    thread(UserMessage, turn="t0", message_id="m0", content=(TextBlock(text="hi"),))
    thread(TextDelta, turn="t0", text="old", block_index=0, step=1)
    thread(Recovery, discarded_from_seq=1, reason="transport", step=1)
    assert thread.transcript.text() == "old"
    assert isinstance(thread.transcript.items[0], Said)


def test_a_tool_card_follows_its_call() -> None:
    thread = Thread()
    thread.text("I will look.")
    thread.call()
    (card,) = thread.transcript.cards
    assert (card.tool, card.input, card.status) == ("bash", {"command": "ls"}, "written")
    thread.issue()
    assert card.status == "running"
    thread(ToolProgress, tool="bash", tool_call_id="c1", text="a\n", stream="stdout")
    thread(ToolResult, tool="bash", tool_call_id="c1", step=1, output="a\n", duration_ms=3)
    assert (card.status, card.progress, card.output, card.duration_ms) == ("done", "a\n", "a\n", 3)
    thread.text("One file.", step=2)
    assert thread.transcript.answer("t1") == "One file."
    assert thread.transcript.text() == "I will look.One file."
    assert [type(item) for item in thread.transcript.items] == [Passage, ToolCard, Passage]


def test_a_failed_call_says_why() -> None:
    thread = Thread()
    thread.call()
    thread(ToolResult, tool="bash", tool_call_id="c1", step=1, output="no", error="permission_denied")
    (card,) = thread.transcript.cards
    assert (card.status, card.error) == ("failed", "permission_denied")


def test_questions_wait_until_they_are_answered() -> None:
    thread = Thread()
    thread(ThreadLifecycle, phase=Phase.STARTED)
    thread.call()
    thread(HitlRequest, request_id="h1", kind="permission", question="May it?", tool_call_id="c1")
    assert list(thread.transcript.pending) == ["h1"]
    assert thread.transcript.cards[0].status == "waiting"
    thread(ThreadLifecycle, phase=Phase.SUSPENDED)
    assert thread.transcript.running
    thread(HitlResolved, request_id="h1", answer="yes", approved=True)
    assert not thread.transcript.pending
    assert thread.transcript.cards[0].status == "written"


def test_the_end_of_a_turn_clears_its_questions() -> None:
    thread = Thread()
    thread(HitlRequest, request_id="h1", kind="question", question="Which?")
    thread.text("partial", stop=False)
    thread(ErrorEvent, error=ErrorCode.LLM_TIMEOUT, message="slow")
    thread(ThreadLifecycle, phase=Phase.CANCELLED, stop_reason="cancelled")
    transcript = thread.transcript
    assert not transcript.pending
    assert not transcript.running
    assert transcript.stop_reason == "cancelled"
    assert transcript.error is not None
    assert all(item.done for item in transcript.items if isinstance(item, Passage))


def test_thinking_is_kept_apart_from_the_answer() -> None:
    thread = Thread()
    thread(ThinkingDelta, text="hm", block_index=0, step=1)
    thread(ContentBlockStop, block_index=0, block_type="thinking", step=1, block=ThinkingBlock(text="hmm"))
    thread.text("Yes.", index=1)
    assert thread.transcript.text() == "Yes."
    assert [item.text for item in thread.transcript.items if isinstance(item, Passage)] == ["hmm", "Yes."]


def test_what_the_engine_and_sub_agents_say_is_left_out() -> None:
    thread = Thread()
    thread(UserMessage, message_id="m1", content=(TextBlock(text="go on"),), origin="engine")
    thread(TextDelta, text="child", block_index=0, step=1, depth=1, parent_turn_id="t1")
    assert thread.transcript.items == []


def test_a_refuted_answer_is_gone_and_what_was_wrong_with_it_stays() -> None:
    thread = Thread()
    first = thread.text("It is 7.")
    found = {"claim": "It is 7.", "verdict": "refute", "confidence": 0.9, "issues": ("It is 8.",)}
    thread(Verification, action="repair", **found)
    thread(Recovery, discarded_from_seq=first, reason="verification", step=1)
    thread.text("It is 8.", step=2)
    thread(Verification, claim="It is 8.", verdict="confirm", confidence=0.9)
    assert thread.transcript.text() == "It is 8."
    notes = [item.text for item in thread.transcript.items if isinstance(item, Note)]
    assert notes == ["The answer did not hold and is written again:\n- It is 8."]
    thread(Verification, turn="t2", action="correct", about_turn_id="t1", **found)
    assert thread.transcript.items[-1] == Note(
        "t2", thread.seq, "verification", "An earlier answer was wrong:\n- It is 8."
    )


def test_plans_and_doubts_stand_beside_the_answer() -> None:
    thread = Thread()
    steps = (PlanStep(id="s1", text="Read"), PlanStep(id="s2", text="Write", status="skipped"))
    thread(PlanUpdate, goal="A fix", steps=steps)
    moved = (PlanStep(id="s1", text="Read", status="completed"), steps[1])
    thread(PlanUpdate, goal="A fix", steps=moved)
    thread(Uncertainty, item_id="u1", item="unknown", text="Which?", impact=4)
    thread.text("Done.")
    thread(Uncertainty, item_id="u1", item="unknown", text="Which?", impact=4, resolved=True)
    thread(RiskSummary, text="Not certain: which.", item_ids=("u1",))
    transcript = thread.transcript
    assert transcript.plan is not None
    assert transcript.plan.steps == moved
    assert [(note.about, note.text) for note in transcript.items if isinstance(note, Note)] == [
        ("plan", "Plan: A fix\n- s1: Read"),
        ("risk", "Not certain: which."),
    ]
    assert (transcript.text(), transcript.answer()) == ("Done.", "Done.")
    assert [doubt.resolved for doubt in transcript.doubts.values()] == [True]
    thread(PlanUpdate, goal="A fix", steps=steps, revision=2)
    assert sum(isinstance(item, Note) for item in transcript.items) == 3
