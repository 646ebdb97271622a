"""What follows when an answer does not hold: it is written again, once, or it gets a note that everybody sees.

Each consequence is one commit, so that a crash leaves either all of it or nothing. What was found is partly the words
of tools and models: it reaches the model between marks, and the person as plain lines.
"""

from collections.abc import Sequence
from typing import Final

from aster.contracts.blocks import TextBlock
from aster.contracts.events import (
    ContentBlockStart,
    ContentBlockStop,
    Event,
    TextDelta,
    TransitionReason,
    TurnTransition,
    Verification,
)
from aster.contracts.events.judgement import VerificationAction
from aster.contracts.turn import Judgement
from aster.engine_core.ask import discarded
from aster.engine_core.boundary import Boundary, defused
from aster.engine_core.telling import told
from aster.engine_core.turn import Turn
from aster.engine_core.verifying.evidence import Case
from aster.engine_core.verifying.finding import Finding
from aster.engine_core.verifying.words import excerpt
from aster.infra.ids import new_id

CLAIM_CHARS: Final = 500
DRAFT_CHARS: Final = 2000
NOTE: Final = "**Verifier note:**"

REPAIR: Final = """\
Your answer was held against what the tools really returned, and does not hold. It was taken back: the person does not \
have it. The answer, and what is wrong with it:
{found}
Answer the person again, completely, and say only what the tools have shown; say plainly what failed and what you do \
not know. What your tools have changed stays changed: do not do it again. Do not mention this check."""

CORRECT: Final = """\
After it was sent, an earlier answer of yours in this conversation was held against what the tools had returned, and \
does not hold. The answer, and what is wrong with it:
{found}
Begin your next answer with a correction in a sentence or two, then go on with what the person says now."""


def event(
    case: Case, finding: Finding, action: VerificationAction, step: int, message_id: str | None = None
) -> Verification:
    """What is written down of a check."""
    return Verification(
        claim=excerpt(case.answer, CLAIM_CHARS),
        verdict=finding.verdict,
        confidence=finding.confidence,
        evidence=tuple(exhibit.call_id for exhibit in case.newest),
        action=action,
        issues=finding.issues,
        source=finding.source,
        step=step,
        message_id=message_id,
    )


async def repair(turn: Turn, case: Case, finding: Finding, boundary: Boundary) -> None:
    """Take the answer back and have it written again."""
    step, message_id = turn.state.step, new_id("msg")
    found = objection(boundary, case.answer[:DRAFT_CHARS], finding.issues)
    recovery = await discarded(turn, step, "verification")
    turn.write(
        event(case, finding, "repair", step, message_id),
        recovery,
        TurnTransition(
            reason=TransitionReason.VERIFICATION_REPAIR,
            step=step + 1,
            limit=1,
            message=excerpt("; ".join(finding.issues), CLAIM_CHARS),
        ),
        told(REPAIR.format(found=found), message_id),
    )


def note(turn: Turn, case: Case, finding: Finding) -> None:
    """Put a note under the answer, as a block of it."""
    state = turn.state
    said = _block(state.step, len(state.messages[-1].content), noted(finding.issues))
    turn.write(*said, event(case, finding, "note", state.step))


def restore(turn: Turn, judged: Judgement, draft: str) -> None:
    """Bring back an answer that could not be written again, with a note, as a step of its own."""
    step = turn.state.step + 1
    found = Verification(
        claim=excerpt(draft, CLAIM_CHARS),
        verdict=judged.verdict,
        confidence=judged.confidence,
        action="note",
        issues=judged.issues,
        step=step,
    )
    turn.write(*_block(step, 0, draft + noted(judged.issues)), found)


def _block(step: int, index: int, text: str) -> list[Event]:
    """A text of the engine's as a block of a step."""
    return [
        ContentBlockStart(block_index=index, block_type="text", step=step),
        TextDelta(text=text, block_index=index, step=step),
        ContentBlockStop(block_index=index, block_type="text", step=step, block=TextBlock(text=text)),
    ]


def noted(issues: Sequence[str]) -> str:
    """The note as a person reads it."""
    lines = [defused(issue) for issue in issues]
    listed = f" {lines[0]}" if len(lines) == 1 else "\n" + "\n".join(f"- {line}" for line in lines)
    return f"\n\n---\n{NOTE}{listed}"


def objection(boundary: Boundary, answer: str, issues: Sequence[str]) -> str:
    """An answer and what is wrong with it, as data."""
    wrong = "\n".join(f"- {issue}" for issue in issues)
    return boundary.quote(f"{answer}\n\nWhat is wrong:\n{wrong}")
