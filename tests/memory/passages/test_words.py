"""Words of code and of prose."""

import pytest

from aster.memory.passages.words import asked, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("parseToolCall(x)", ["parsetoolcall", "parse", "tool", "call", "x"]),
        ("parse_tool_call", ["parsetoolcall", "parse", "tool", "call"]),
        ("HTTPServer2", ["httpserver2", "http", "server", "2"]),
        ("MAX_TOKENS = 4096", ["maxtokens", "max", "tokens", "4096"]),
        ("Crème_brûlée", ["crèmebrûlée", "crème", "brûlée"]),
        ("雪が", ["雪", "が"]),
        ("__init__ and -- 'quotes'", ["init", "and", "quotes"]),
        ("", []),
    ],
)
def test_words(text: str, expected: list[str]) -> None:
    assert words(text) == expected


def test_what_is_in_every_text_is_not_asked_for() -> None:
    assert asked("where is the Budget of the budget?") == ["budget"]
    assert asked("what is it") == ["what", "is", "it"]
    assert len(asked(" ".join(map(str, range(1000))))) == 32
