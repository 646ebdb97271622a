"""Sub-agents on the screen: what they ask is shown and answered, the rest of what they do is theirs."""

from aster.client.transcript import Transcript
from aster.contracts.events import HitlRequest, HitlResolved, Phase, TextDelta, ThreadLifecycle


def test_a_question_of_a_sub_agent_waits_until_it_is_answered_or_the_turn_ends() -> None:
    asked = HitlRequest(request_id="h1", kind="question", question="Which?", parent_turn_id="turn-1", depth=1)
    shown = Transcript().extend(
        [
            ThreadLifecycle(phase=Phase.STARTED, turn_id="turn-1", seq=1),
            TextDelta(text="not mine", block_index=0, step=1, depth=1, seq=2),
            asked,
        ]
    )
    assert list(shown.pending) == ["h1"]
    assert shown.text() == ""
    shown.apply(HitlResolved(request_id="h1", answer="this", depth=1))
    assert shown.pending == {}
    shown.apply(asked)
    shown.apply(ThreadLifecycle(phase=Phase.CANCELLED, turn_id="turn-1", seq=9))
    assert shown.pending == {}
