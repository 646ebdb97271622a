"""Words as they are searched, and texts as they are compared."""

import pytest

from aster.brain.memory_words import digest, stem, words


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("dance", "dancing"),
        ("danced", "dances"),
        ("city", "cities"),
        ("stop", "stopped"),
        ("run", "running"),
        ("fall", "falling"),
        ("box", "boxes"),
    ],
)
def test_forms_of_a_word_meet(one: str, other: str) -> None:
    assert stem(one) == stem(other)


def test_words_that_only_look_alike_do_not() -> None:
    assert len({stem(word) for word in ("business", "bus", "busy", "this", "thesis")}) == 5


def test_every_script_has_words() -> None:
    assert words("Straße, ÉCOLE don’t 漢字 x_y 3.5") == ["strass", "école", "dont", "漢", "字", "x", "y", "3", "5"]


def test_texts_that_say_the_same_are_one() -> None:
    assert digest("The dog, Max!") == digest("the  DOG max") == digest("dog MAX.")
    assert digest("the dog is Max") != digest("the dog is not Max")
    assert digest("a", "b") != digest("a b")
    assert digest("!") != digest("?")
