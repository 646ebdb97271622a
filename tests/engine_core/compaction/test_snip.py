"""Snip: whole old turns go, the opening and the newest messages stay, nothing is parted."""

import random

import pytest

from aster.contracts.messages import Digest, Message
from aster.engine_core.boundary import Boundary
from aster.engine_core.compaction import digest
from aster.engine_core.compaction.snip import HEAD, TAIL, snipped
from tests.engine_core.compaction.made import model, person, shown, step, whole


def cut(messages: list[Message], upto: int | None = None, stays: int = 0) -> tuple[list[Message], list[Message]]:
    """Every message weighs one; so many may stay, if that is possible."""
    return snipped(messages, len(messages) if upto is None else upto, lambda _: 1, stays)


def talk(turns: int) -> list[Message]:
    return [message for turn in range(turns) for message in (person(f"ask {turn}"), model(f"answer {turn}"))]


def test_up_to_fifty_messages_stay() -> None:
    messages = talk((HEAD + TAIL) // 2)
    assert cut(messages) == (messages, [])


def test_beyond_that_three_and_forty_seven_stay() -> None:
    messages = talk(40)
    stays, goes = cut(messages)
    assert stays[:HEAD] == messages[:HEAD]
    assert TAIL <= len(stays) - HEAD <= TAIL + 1
    assert [*stays[:HEAD], *goes, *stays[HEAD:]] == messages
    assert shown(stays[HEAD]).startswith("ask"), "what stays begins with a turn"


def test_no_more_goes_than_needed() -> None:
    messages = talk(60)
    stays, goes = cut(messages, stays=100)
    assert len(stays) == 99
    assert len(goes) == 21


def test_the_present_turn_stays_whole() -> None:
    messages = [*talk(10), *(item for at in range(40) for item in step(f"c{at}", "x"))]
    stays, goes = cut(messages, 18)
    assert goes == messages[HEAD:18]
    assert stays[HEAD:] == messages[18:]


@pytest.mark.parametrize("seed", range(30))
def test_pairs_are_never_parted(seed: int) -> None:
    dice = random.Random(seed)
    messages: list[Message] = [person("begin")]
    for at in range(dice.randint(20, 60)):
        if dice.random() < 0.6:
            messages += step(f"c{at}", "x" * dice.randint(1, 400))
        else:
            messages += [model("so"), person(f"ask {at}")]
    stays, goes = cut(messages)
    assert whole(stays)
    assert whole(goes)


def test_a_digest_stands_behind_the_opening_and_grows() -> None:
    messages = talk(40)
    _, goes = cut(messages)
    note = digest.message(digest.grown(Digest(lines=9, messages=80), goes), Boundary("0c0de"), "msg-note")
    again = [*messages[:HEAD], note, *talk(40)]
    stays, more = cut(again)
    assert stays[HEAD] is note
    grown = digest.grown(note.digest or Digest(), more)
    assert grown.dropped == len(goes) + len(more)
    assert "ask 2" in shown(note)
