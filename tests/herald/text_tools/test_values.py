"""Values: lenient where models are sloppy, and never altered where they are text."""

from typing import Any

import pytest

from aster.herald.text_tools.literals import NotLiteral, read_calls, read_value
from aster.herald.text_tools.values import NotJson, coerce, decode, loose, types_of


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": [1, 2.5, null, true]}', {"a": [1, 2.5, None, True]}),
        ('{"a": "line\nbreak\tand tab"}', {"a": "line\nbreak\tand tab"}),
        ("{'a': 'it\\'s', \"b\": None, 'c': (1, 2), 'd': True,}", {"a": "it's", "b": None, "c": [1, 2], "d": True}),
        ('{"a"= 1}', {"a": 1}),
        ('"\\u00e9"', "é"),
    ],
)
def test_json_and_what_is_nearly_json(text: str, value: Any) -> None:
    assert decode(text) == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "nope",
        "{1, 2}",
        "NaN",
        '{"a": Infinity}',
        "1e999",
        "[" * 5000,
        '"\\ud800"',
        "9" * 5000,
        "f(x)",
        "{a: 1}",
    ],
)
def test_what_is_no_value(text: str) -> None:
    with pytest.raises(NotJson):
        decode(text)


@pytest.mark.parametrize(
    ("text", "types", "value"),
    [
        (" 42 ", {"string"}, " 42 "),
        ("null", {"string"}, "null"),
        ("null", {"string", "null"}, None),
        ("none", {"string", "null"}, "none"),
        ("null", {"integer"}, None),
        ("42", {"integer"}, 42),
        ("4.2", {"integer"}, "4.2"),
        ("4.2", {"number"}, 4.2),
        ("4", {"number"}, 4),
        ("nan", {"number"}, "nan"),
        ("TRUE", {"boolean"}, True),
        ("maybe", {"boolean"}, "maybe"),
        ("[1]", {"array"}, [1]),
        ("{'a': 1}", {"object"}, {"a": 1}),
        ('[{\\"a\\": 1}]', {"array"}, [{"a": 1}]),
        ("\"{'a': 1}\"", {"object"}, {"a": 1}),
        ('"7"', {"integer"}, 7),
        ('"1.5"', {"number"}, 1.5),
        ('"7"', {"string", "null"}, '"7"'),
        ("C:\\new", {"object"}, "C:\\new"),
        ("not_json", {"object"}, "not_json"),
        ("some text", {"string", "integer"}, "some text"),
        ("7", {"string", "integer"}, 7),
        ("7", set[str](), "7"),
    ],
)
def test_text_becomes_what_the_schema_asks_for(text: str, types: set[str], value: Any) -> None:
    got = coerce(text, types)
    assert (got, type(got)) == (value, type(value))


def test_a_format_may_read_what_has_no_type_or_not_its_own() -> None:
    assert coerce("[1]", set(), loose) == [1]
    assert coerce("1.5", {"integer"}, str, loose) == 1.5
    assert coerce("1.5", {"integer", "string"}, str, loose) == "1.5"
    assert coerce("1.5", {"integer"}) == "1.5"


@pytest.mark.parametrize(
    ("schema", "types"),
    [
        ({"type": "string"}, {"string"}),
        ({"type": ["integer", "null"]}, {"integer", "null"}),
        ({"anyOf": [{"type": "array"}, {"type": "null"}]}, {"array", "null"}),
        ({"$ref": "#/$defs/size"}, {"number"}),
        ({"$ref": "#/$defs/missing"}, set[str]()),
        ({"$ref": "#/$defs/loop"}, set[str]()),
        ({"enum": ["a", 1]}, {"string", "integer"}),
        ({"const": True}, {"boolean"}),
        (None, set[str]()),
        ({}, set[str]()),
    ],
)
def test_the_types_of_a_schema(schema: Any, types: set[str]) -> None:
    assert types_of(schema, {"$defs": {"size": {"type": "number"}, "loop": {"$ref": "#/$defs/loop"}}}) == types


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ("[f()]", [("f", [], {})]),
        (
            "[f(a=1, b='x'), g.h(c=[1, {'d': None}])]",
            [("f", [], {"a": 1, "b": "x"}), ("g.h", [], {"c": [1, {"d": None}]})],
        ),
        ("f(from=1)\ng(2, a=True)", [("f", [], {"from": 1}), ("g", [2], {"a": True})]),
        (
            '[f(a="two\nlines", b=07, c=r"\\d", d="\\x41\\q")]',
            [("f", [], {"a": "two\nlines", "b": 7, "c": "\\d", "d": "A\\q"})],
        ),
        ('[f(a="""x"y""")]', [("f", [], {"a": 'x"y'})]),
        ("[f(a=-1, b=+2.5e3, c=1_000)]", [("f", [], {"a": -1, "b": 2500.0, "c": 1000})]),
    ],
)
def test_calls_in_python(text: str, calls: list[Any]) -> None:
    assert [tuple(call) for call in read_calls(text)] == calls


@pytest.mark.parametrize(
    "text", ["[f(]", "[f(a=)]", "[f(a=x)]", "[f(a=g())]", "[1]", "[f()", "[f() g()]", "f", "[f(a=1 b=2)]"]
)
def test_what_is_no_call_in_python(text: str) -> None:
    with pytest.raises(NotLiteral):
        read_calls(text)


def test_values_are_not_nested_without_end() -> None:
    with pytest.raises(NotLiteral):
        read_value("(" * 1000)
