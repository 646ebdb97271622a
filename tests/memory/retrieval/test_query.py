from datetime import UTC, datetime

import pytest

from aster.memory.retrieval.query import Query, analysed, telling

NOW = datetime(2026, 3, 18, tzinfo=UTC)


def asked(text: str, *names: str) -> Query:
    return analysed(text, names, NOW)


def test_names_become_people_and_leave_the_meaning_but_not_the_words() -> None:
    query = asked("What is Anna Maria's dog's name, Ben?", "Anna Maria", "Anna", "Ben", "Zoe")
    assert query.people == {"Anna Maria", "Ben"}
    assert query.meaning == "What is dog's name, ?"
    assert {"anna", "ben"} <= set(query.terms)


def test_a_name_inside_a_word_is_not_a_name() -> None:
    assert asked("What is a benchmark?", "Ben").people == frozenset()


@pytest.mark.parametrize(("text", "named"), [("what will be", False), ("what did Will do", True)])
def test_a_name_that_is_a_common_word_needs_its_capital(text: str, named: bool) -> None:
    assert bool(asked(text, "Will").people) is named


def test_what_a_speaker_is_in_a_chat_is_nobodys_name() -> None:
    query = asked("How do I add a user?", "User", "assistant")
    assert query.people == frozenset()
    assert query.meaning == "How do I add a user?"


def test_a_question_that_is_only_a_name_keeps_it() -> None:
    assert asked("Anna?", "Anna").meaning == "Anna?"


def test_common_words_are_dropped_unless_there_are_no_others() -> None:
    assert telling("What did you paint for the kids?") == telling("paint kids")
    assert telling("who are you") != ()
    assert telling("") == ()


def test_the_order_of_names_does_not_matter() -> None:
    names = ("Anna", "Anna Maria", "Ben")
    assert asked("Did Anna Maria meet Ben?", *names) == asked("Did Anna Maria meet Ben?", *reversed(names))


@pytest.mark.parametrize(
    ("text", "anything"),
    [
        ("What did we talk about yesterday?", True),
        ("what happened last week", True),
        ("What did we say about the budget yesterday?", False),
        ("What did we talk about?", False),
    ],
)
def test_a_question_about_a_time_alone_wants_anything_from_it(text: str, anything: bool) -> None:
    assert asked(text).anything is anything
