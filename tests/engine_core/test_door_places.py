"""The places that a turn leaves for clients that send their conversation whole."""

from aster.brain.doors import DoorPlace
from aster.brain.records import ThreadKey
from aster.contracts.blocks import TextBlock, ToolUseBlock
from aster.contracts.events import Phase
from aster.contracts.messages import Message
from aster.contracts.turn import TurnRequest, TurnState
from aster.engine_core.door_places import Recent, answered, asked, following

MESSAGES = [
    Message(role="user", content=(TextBlock(text="hi"),)),
    Message(role="assistant", content=(TextBlock(text="one"), ToolUseBlock(id="c", name="f", input={}))),
    Message(role="assistant", content=(TextBlock(text=""), TextBlock(text="two"))),
]


def state(place: str = "p", segment: int = 0) -> TurnState:
    return TurnState(turn_id="t", request=TurnRequest(place=place), segment=segment)


def test_a_turn_is_found_by_its_question_and_by_its_answer() -> None:
    assert [(row.fingerprint, row.kind) for row in asked(state())] == [("p", "asked")]
    row = answered(state(), MESSAGES, Phase.COMPLETED)[0]
    assert (row.fingerprint, row.turn_id, row.kind) == (following("p", "assistant", "one\n\ntwo"), "t", "answered")


def test_only_what_was_said_in_one_go_is_noted() -> None:
    assert answered(state(segment=1), MESSAGES, Phase.COMPLETED) == ()
    assert answered(state(), MESSAGES, Phase.CANCELLED) == ()
    assert asked(state("")) == answered(state(""), MESSAGES, Phase.COMPLETED) == ()


def test_recent_places_are_a_users_own_and_go_with_their_task() -> None:
    recent = Recent(capacity=2)
    places = [
        DoorPlace(name, task, "turn", None, "answered") for name, task in (("a", "t1"), ("b", "t2"), ("c", "t2"))
    ]
    for place in places:
        recent.keep("ada", place)
    assert recent.find("ada", "a") is None
    assert recent.find("ada", "c") == places[2]
    assert recent.find("bob", "c") is None
    recent.forget(ThreadKey("bob", "t2"))
    assert recent.find("ada", "c") == places[2]
    recent.forget(ThreadKey("ada", "t2"))
    assert recent.find("ada", "b") is recent.find("ada", "c") is None
