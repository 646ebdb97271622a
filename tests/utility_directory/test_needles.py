"""Needles: never more than an expression demands."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aster.utility_directory.needles import needles


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        (r"def\s+test_\w+", ("test_",)),
        ("(TODO|FIXME)", ("TODO", "FIXME")),
        ("foo|bar", ("foo", "bar")),
        ("foo|b", ()),
        ("a{2}bc", ("bc",)),
        ("ab+cde", ("cde",)),
        ("abc+d", ("abc",)),
        ("foo{,3}bar", ("bar",)),
        ("a{b", ("a{b",)),
        ("(ab|cd)?efg", ("efg",)),
        ("(?:hello)+", ("hello",)),
        ("(?P<n>hello)*x", ()),
        ("(?=hello)by", ("by",)),
        ("(?<!hello)by", ("by",)),
        (r"foo\.bar\(", ("foo.bar(",)),
        (r"[]\]abc]def", ("def",)),
        (r"\bimport\b", ("import",)),
        (r"(a)bc\1", ()),
        ("(?i)foo", ()),
        ("(?i:foo)", ()),
        ("(?x) f o o", ()),
        (r"\x41bc", ()),
        ("a(", ()),
        ("abc)", ()),
        ("(((((", ()),
        ("(" * 5000 + "ab" + ")" * 5000, ()),
        ("x", ()),
    ],
)
def test_what_is_demanded(pattern: str, expected: tuple[str, ...]) -> None:
    assert needles(pattern, ignore_case=False) == expected


def test_without_case_only_ascii_is_demanded() -> None:
    assert needles("stra\u00dfe", ignore_case=True) == ("stra",)
    assert needles("stra\u00dfe", ignore_case=False) == ("stra\u00dfe",)


PIECES = (
    *(
        "a",
        "b",
        "ab",
        "abc",
        ".",
        "\\w",
        "\\.",
        "[ab]",
        "[^]a]",
        "|",
        "(",
        "(?:",
        "(?=",
        "(?!",
        ")",
        "^",
        "$",
        "\\b",
    ),
    *("*", "+", "?", "*?", "{2}", "{0,1}", "{,2}", "{1,}", "\n", " "),
)


@settings(max_examples=500, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join), st.text("abc. \n", max_size=12), st.booleans())
def test_a_match_always_holds_a_needle(pattern: str, text: str, ignore_case: bool) -> None:
    try:
        expression = re.compile(pattern, re.MULTILINE | (re.IGNORECASE if ignore_case else 0))
    except re.error:
        return
    wanted = needles(pattern, ignore_case=ignore_case)
    if wanted and expression.search(text):
        assert any(needle in text for needle in wanted), (pattern, text, wanted)
