import pytest

from aster.memory.retrieval.parts import followed_up, parts


@pytest.mark.parametrize("text", ["and in winter?", "What about her brother?", "Why?", "when did they do that"])
def test_a_follow_up_gets_what_it_refers_to(text: str) -> None:
    assert followed_up(text, ["hi", "Where does Anna ski?", " "]) == f"{text} Where does Anna ski?"


@pytest.mark.parametrize(
    "text",
    [
        "Which mountains does Anna like best in winter?",
        "I would like to know everything about it that you still remember",
    ],
)
def test_a_question_that_stands_alone_stays_as_it_is(text: str) -> None:
    assert followed_up(text, ["Where does Ben ski?"]) == text


def test_there_must_be_something_before() -> None:
    assert followed_up("Why?", []) == "Why?"
    assert followed_up("Why?", ["Why?"]) == "Why?"


def test_a_long_question_of_two_parts_is_taken_apart() -> None:
    whole = "Where does my sister Anna work and also which car does Ben drive"
    assert parts(whole) == (whole, "Where does my sister Anna work", "which car does Ben drive")


@pytest.mark.parametrize(
    "text",
    [
        "cats and also dogs",
        "Context: where does Anna work | and also which car does Ben drive",
        "where does Anna work and also how",
        "Tell me where my sister Anna has been working since spring",
    ],
)
def test_others_are_not(text: str) -> None:
    assert parts(text) == (text,)


def test_there_are_never_more_than_four() -> None:
    assert len(parts(" and also ".join(f"what about the thing {n}" for n in range(9)))) == 4
