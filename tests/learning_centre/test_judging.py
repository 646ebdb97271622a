"""What can be counted of an answer is counted before anybody is asked."""

from typing import Any

import pytest

from aster.contracts.replay import ReplayArm
from aster.learning_centre.judging import checks, expected, score
from aster.learning_centre.sampling import Sample, fits

SAMPLE = Sample("task", "turn", "Where does it run?")


def arm(answer: str = "It runs here.", status: str = "completed", **given: Any) -> ReplayArm:
    return ReplayArm(task_id="task", turn_id="turn", status=status, answer=answer, **given)


def scored(one: ReplayArm, sample: Sample = SAMPLE, recorded: ReplayArm | None = None, **given: Any) -> float:
    return score(checks(one, recorded or arm(steps=2, calls=1), sample, disputed=given.get("disputed", False)))


def test_a_flawless_turn_scores_one() -> None:
    assert scored(arm(steps=2, calls=1)) == 1.0


@pytest.mark.parametrize(
    "worse",
    [
        arm("", steps=2, calls=1),
        arm(status="errored", steps=2, calls=1),
        arm(steps=2, calls=2, tool_errors=1),
        arm(steps=2, calls=2, tool_errors=1, unrecorded=1),
        arm(steps=9, calls=1),
        arm(steps=1),
    ],
)
def test_whatever_goes_wrong_costs(worse: ReplayArm) -> None:
    assert scored(worse) < 1.0


def test_a_call_that_is_not_on_record_is_no_error_of_its_tool() -> None:
    found = checks(
        arm(steps=2, calls=2, tool_errors=1, unrecorded=1), arm(steps=2, calls=1), SAMPLE, disputed=False
    )
    assert (found["tools"], found["recorded"]) == (1.0, 0.5)


def test_an_answer_that_its_own_tools_dispute_costs() -> None:
    assert scored(arm(steps=2, calls=1), disputed=True) < 1.0


def test_a_correction_is_what_is_expected() -> None:
    asked = SAMPLE._replace(correction="It runs on port 8081, not 8080")
    was = arm("It runs on port 8080.")
    right, wrong = arm("It runs on port 8081, not on 8080."), arm("It runs on port 8080.")
    assert scored(right, asked, was) == 1.0
    assert scored(wrong, asked, was) <= 0.75
    assert expected("port 8081, not 8080", "port 8080", "8081") == 1.0
    assert expected("port 8080 or 8081", "port 8080", "8081, not 8080") == 0.5
    assert expected("It is red", "It is blue", "Not blue") == 1.0
    assert expected("It is blue", "It is blue", "Not blue") == 0.0


def test_an_answer_that_was_liked_is_to_be_kept() -> None:
    liked = SAMPLE._replace(rating=1.0)
    was = arm("The train to Porto leaves at nine.")
    assert scored(was, liked, was) == 1.0
    assert scored(arm("banana"), liked, was) < 0.85
    assert "liked" not in checks(was, was, SAMPLE._replace(rating=-1.0), disputed=False)


def test_an_item_fits_a_message_with_its_words() -> None:
    terms = frozenset({"install", "packag"})
    assert fits(terms, "How do I install the packages here?")
    assert not fits(terms, "How do I install a door?")
    assert fits(frozenset({"train"}), "Which trains go there?")
    assert not fits(frozenset(), "Anything")
