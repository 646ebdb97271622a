"""Orders to remember, and sentences that only look like one."""

import pytest

from aster.memory.explicit import asked_to_remember


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("Remember that I am vegetarian.", "I am vegetarian."),
        ("please remember: the code is on the fridge", "the code is on the fridge"),
        ("Hi Aster!\nCould you please remember that my son is called Theo?", "my son is called Theo"),
        ("I moved. Don't forget that my new street is Elm Row.", "my new street is Elm Row."),
        ("Keep in mind that I work nights", "I work nights"),
        ("Always remember this: no meetings before ten.", "no meetings before ten."),
    ],
)
def test_an_order_is_recognised(text: str, what: str) -> None:
    assert asked_to_remember(text) == what


@pytest.mark.parametrize(
    "text",
    [
        "Do you remember that I am vegetarian?",
        "Remember that restaurant we liked?",
        "I remember that day.",
        "He said to remember that it rains.",
        "What did I ask you to remember?",
        "Remember that.",
        "Write a function that does not forget that zero is even",
        "",
    ],
)
def test_what_is_no_order_is_left(text: str) -> None:
    assert asked_to_remember(text) is None
