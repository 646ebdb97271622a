"""The places that a turn leaves for clients that send their conversation whole."""

from aster.brain.doors import DoorPlace
from aster.brain.records import ThreadKey
from aster.contracts.blocks import TextBlock, ToolUseBlock
from aster.contracts.events import Phase
from aster.contracts.messages import Message
from aster.contracts.turn import TurnRequest, TurnState
from aster.engine_core.door_places import Attempts, Recent, Unheard, answered, asked, following, replied
from aster.engine_core.orders import HitlReply

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


def test_an_answer_to_a_question_leaves_its_places() -> None:
    rows = replied(HitlReply(answer="yes", places=("p", "key k")), "t")
    assert [getattr(row, "fingerprint", "") for row in rows] == ["p", "key k"]
    assert replied(HitlReply(answer="yes"), "t") == []


def test_what_nobody_heard_is_a_users_own_until_it_is_heard() -> None:
    attempts, left = Attempts(capacity=1), Unheard("task", "turn", 0, 7)
    attempts.leave("ada", "p", left)
    assert attempts.unheard("ada", "p") == left
    assert attempts.unheard("bob", "p") is None
    attempts.heard("ada", "p")
    assert attempts.unheard("ada", "p") is None
    attempts.leave("ada", "p", left)
    attempts.leave("ada", "q", left)
    assert attempts.unheard("ada", "p") is None


def test_a_key_is_taken_in_once_at_a_time() -> None:
    attempts = Attempts()
    lock = attempts.one("ada", "k")
    assert attempts.one("ada", "k") is lock
    assert attempts.one("bob", "k") is not lock
