"""When a stream is over, decided on frames alone."""

from aster.brain.records import Frame, frame
from aster.contracts.blocks import TextBlock
from aster.contracts.events import (
    Event,
    Phase,
    TaskLifecycle,
    TextDelta,
    ThreadLifecycle,
    UserMessage,
    grade_of,
    type_of,
)
from aster.contracts.model import encode
from aster.server.sse import MessageEnd, TurnEnd, header_text


def frames(*events: tuple[str | None, Event]) -> list[Frame]:
    return [
        frame(seq, type_of(event), turn_id, grade_of(event), encode(event))
        for seq, (turn_id, event) in enumerate(events, 1)
    ]


def ended(phase: Phase = Phase.COMPLETED) -> ThreadLifecycle:
    return ThreadLifecycle(phase=phase)


def said(message_id: str) -> UserMessage:
    return UserMessage(message_id=message_id, content=(TextBlock(text="hi"),))


DELTA = TextDelta(block_index=0, text="x", step=1)


def test_a_turn_is_over_with_its_own_end() -> None:
    assert TurnEnd("a").cut(frames(("b", ended()), ("a", DELTA), ("a", ended()), ("c", DELTA))) == 3
    assert TurnEnd("a").cut(frames(("b", ended()), ("a", ended(Phase.SUSPENDED)))) is None


def test_a_waiting_message_follows_the_turn_that_takes_it() -> None:
    ending = MessageEnd("m")
    assert ending.cut(frames(("a", DELTA), ("a", said("other")), ("a", ended()))) is None
    assert ending.turn_id is None
    assert ending.cut(frames(("b", said("m")), ("b", DELTA))) is None
    assert ending.turn_id == "b"
    assert ending.cut(frames(("b", DELTA), ("b", ended()), ("c", DELTA))) == 2


def test_a_message_taken_and_answered_at_once() -> None:
    assert MessageEnd("m").cut(frames(("a", ended()), ("b", said("m")), ("b", ended()), ("c", DELTA))) == 3


def test_a_message_that_is_dropped_ends_its_stream() -> None:
    dropped = TaskLifecycle(phase="dequeued", message_id="m")
    other = TaskLifecycle(phase="dequeued", message_id="n")
    assert MessageEnd("m").cut(frames((None, other), (None, dropped), ("a", DELTA))) == 2


def test_any_task_id_fits_a_header() -> None:
    assert header_text("plain id/1") == "plain id/1"
    assert header_text("50% Ü") == "50%25 %C3%9C"
