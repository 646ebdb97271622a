"""An event in a few words."""

from typing import Any

import pytest

from aster.cli.summary import summary
from aster.contracts.blocks import TextBlock, ToolUseBlock
from aster.contracts.errors import ErrorCode
from aster.contracts.events import (
    CacheHitRatioAlert,
    CompactionEvent,
    CompactionRequested,
    ContentBlockStart,
    ContentBlockStop,
    ContextManifest,
    ErrorEvent,
    Event,
    Heartbeat,
    HitlRequest,
    HitlResolved,
    Phase,
    PlanStep,
    PlanUpdate,
    Recovery,
    RiskSummary,
    TaskLifecycle,
    TextDelta,
    ThreadLifecycle,
    ToolCallIssued,
    ToolError,
    ToolProgress,
    ToolResult,
    TransitionReason,
    TurnTransition,
    Uncertainty,
    Usage,
    UserMessage,
    Verification,
)
from aster.contracts.tools import Effect, OutcomeClass

CALL: dict[str, Any] = {"tool": "bash", "tool_call_id": "c"}


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (UserMessage(message_id="m", content=(TextBlock(text="hi\nyou"),)), "hi you"),
        (
            Verification(claim="c", verdict="refute", confidence=0.9, action="note", issues=("a", "b")),
            "refute 0.90, note a; b",
        ),
        (TextDelta(text="a\x1b", block_index=0, step=1), "a␛"),
        (ContentBlockStart(block_index=0, block_type="text", step=1), "text"),
        (ContentBlockStop(block_index=0, block_type="text", step=1, block=TextBlock(text="whole")), "whole"),
        (
            ContentBlockStop(
                block_index=0, block_type="tool_use", step=1, block=ToolUseBlock(id="c", name="bash", input={})
            ),
            "bash {}",
        ),
        (ThreadLifecycle(phase=Phase.COMPLETED, stop_reason="end_turn"), "completed end_turn"),
        (TaskLifecycle(phase="forked"), "forked"),
        (TurnTransition(reason=TransitionReason.STEER, step=1), "steer"),
        (Recovery(discarded_from_seq=4, reason="restart", step=1), "from 4 on, restart"),
        (
            Usage(step=1, message_id="m", model="x", stop_reason="end_turn", input_tokens=1, output_tokens=2),
            "x: 1 in, 2 out",
        ),
        (ToolCallIssued(**CALL, input={"a": 1}, step=1, effect=Effect.PURE, idempotency_key="k"), "bash {'a': 1}"),
        (ToolProgress(**CALL, text="line"), "bash: line"),
        (PlanUpdate(goal="A fix", steps=(PlanStep(id="s", text="t"),)), "A fix: 0 of 1 steps done, revision 1"),
        (Uncertainty(item_id="u", item="unknown", text="Which?", impact=4), "unknown 4/5: Which?"),
        (RiskSummary(text="Not\ncertain.", item_ids=("u",)), "Not certain."),
        (
            ContextManifest(step=1, entries=(), total_tokens=7, window=9, moved="soul"),
            "about 7 of 9 tokens, soul has moved",
        ),
        (
            CacheHitRatioAlert(ratio=0, expected=1, moved_block="soul", source="memory", missed_tokens=5),
            "5 tokens were not in the provider's cache: soul (memory) has moved",
        ),
        (
            CompactionEvent(before_tokens=9, after_tokens=4, strategy="micro", strategies=("snip", "micro")),
            "9 to 4 tokens by snip, micro",
        ),
        (
            CompactionEvent(before_tokens=9, after_tokens=9, strategy="summary", ok=False, reason="Too little."),
            "Too little.",
        ),
        (CompactionRequested(by="model", focus="the schema"), "by the model the schema"),
        (ToolResult(**CALL, step=1, output="out"), "bash: ok out"),
        (ToolError(**CALL, failure=OutcomeClass.FATAL, reason="x", message="bad"), "bad"),
        (ErrorEvent(error=ErrorCode.INTERNAL, message="worse"), "worse"),
        (HitlRequest(request_id="h", kind="question", question="Which?"), "Which?"),
        (HitlResolved(request_id="h", answer="no", feedback="never"), "no never"),
        (Heartbeat(), ""),
    ],
)
def test_what_matters_is_said(event: Event, words: str) -> None:
    assert summary(event) == words
