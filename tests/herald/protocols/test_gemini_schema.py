"""Schemas in the words that Gemini knows, and none besides."""

from typing import Any

import pytest
from google.genai import types
from hypothesis import given
from hypothesis import strategies as st

from aster.herald.protocols.gemini_schema import parameters, sanitised

_WORDS = {types.Schema.model_fields[name].alias or name for name in types.Schema.model_fields}


def _words(schema: Any) -> set[str]:
    found = set(schema)
    for inner in schema.get("properties", {}).values():
        found |= _words(inner)
    for inner in (*schema.get("anyOf", ()), *([schema["items"]] if "items" in schema else ())):
        found |= _words(inner)
    return found


def test_what_is_known_stays() -> None:
    schema = {
        "type": "object",
        "title": "Order",
        "description": "What to do.",
        "properties": {
            "name": {"type": "string", "minLength": 1, "maxLength": 9, "pattern": "^a", "default": "a"},
            "mode": {"enum": ["fast", "slow"]},
            "when": {"type": "string", "format": "date-time"},
            "counts": {"type": "array", "items": {"type": "integer", "minimum": 0}, "minItems": 1},
        },
        "required": ["name"],
    }
    assert sanitised(schema) == {
        "type": "OBJECT",
        "title": "Order",
        "description": "What to do.",
        "properties": {
            "name": {"type": "STRING", "minLength": 1, "maxLength": 9, "pattern": "^a", "default": "a"},
            "mode": {"type": "STRING", "enum": ["fast", "slow"]},
            "when": {"type": "STRING", "format": "date-time"},
            "counts": {"type": "ARRAY", "items": {"type": "INTEGER", "minimum": 0}, "minItems": 1},
        },
        "required": ["name"],
    }


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "string", "format": "uri"}, {"type": "STRING"}),
        ({"type": "array"}, {"type": "ARRAY", "items": {"type": "STRING"}}),
        ({"type": "array", "uniqueItems": True, "items": True}, {"type": "ARRAY", "items": {"type": "STRING"}}),
        ({"type": "object", "additionalProperties": {"type": "string"}}, {"type": "OBJECT"}),
        ({"type": "integer", "exclusiveMinimum": 0, "multipleOf": 2}, {"type": "INTEGER", "minimum": 1}),
        ({"type": "number", "exclusiveMaximum": 1}, {"type": "NUMBER", "maximum": 1}),
        ({"const": "yes"}, {"type": "STRING", "enum": ["yes"]}),
        ({"const": 3, "description": "How many."}, {"type": "INTEGER", "description": "How many. One of: 3."}),
        ({"enum": [1, 2.5]}, {"type": "INTEGER", "description": "One of: 1, 2.5."}),
        ({"enum": [True]}, {"type": "BOOLEAN", "description": "One of: true."}),
        ({"enum": ["a", None]}, {"type": "STRING", "nullable": True, "enum": ["a"]}),
        ({"enum": ["", "a"]}, {"type": "STRING"}),
        ({"type": ["string", "null"]}, {"type": "STRING", "nullable": True}),
        ({"type": ["string", "integer"]}, {"anyOf": [{"type": "STRING"}, {"type": "INTEGER"}]}),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, {"type": "INTEGER", "nullable": True}),
        (
            {"description": "d", "oneOf": [{"type": "integer"}, {"type": "string", "description": "e"}]},
            {"anyOf": [{"type": "INTEGER", "description": "d"}, {"type": "STRING", "description": "e"}]},
        ),
        ({"type": "object", "required": ["gone"]}, {"type": "OBJECT"}),
        ({}, {"type": "STRING"}),
        (
            {"allOf": [{"properties": {"a": {"type": "string"}}, "required": ["a"]}, {"required": ["b"]}]},
            {"type": "OBJECT", "properties": {"a": {"type": "STRING"}}, "required": ["a"]},
        ),
        (
            {"type": "object", "properties": {"a": {}}, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
            {"type": "OBJECT", "properties": {"a": {"type": "STRING"}}},
        ),
    ],
)
def test_what_is_not_is_said_otherwise(schema: dict[str, Any], expected: dict[str, Any]) -> None:
    assert sanitised(schema) == expected


def test_references_are_written_out() -> None:
    schema = {
        "type": "object",
        "properties": {"at": {"$ref": "#/$defs/a~1b", "description": "Where."}, "lost": {"$ref": "#/$defs/none"}},
        "$defs": {"a/b": {"$ref": "#/$defs/c"}, "c": {"type": "integer"}},
    }
    assert sanitised(schema)["properties"] == {
        "at": {"type": "INTEGER", "description": "Where."},
        "lost": {"type": "OBJECT"},
    }


def test_a_reference_to_itself_ends() -> None:
    tree = {
        "type": "object",
        "properties": {"next": {"$ref": "#"}, "all": {"type": "array", "items": {"$ref": "#"}}},
    }
    said = sanitised(tree)["properties"]["next"]["properties"]
    assert said == {"next": {"type": "OBJECT"}, "all": {"type": "ARRAY", "items": {"type": "OBJECT"}}}


def test_what_would_grow_without_end_is_cut() -> None:
    twice = {f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 4} for n in range(30)}
    assert len(str(sanitised({"properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": twice}))) < 1_000_000
    loop = {"allOf": [{"$ref": "#"}], "anyOf": [{"$ref": "#"}, {"allOf": [{"$ref": "#"}]}]}
    assert sanitised(loop)


@pytest.mark.parametrize(
    "word", ["properties", "required", "enum", "anyOf", "allOf", "items", "prefixItems", "$ref"]
)
@pytest.mark.parametrize("value", [True, 3, "x", [1], {"a": 1}, None])
def test_nonsense_does_no_harm(word: str, value: Any) -> None:
    types.Schema.model_validate(sanitised({"type": "object", "properties": {"a": {word: value}}, word: value}))


def test_a_tool_that_takes_nothing_is_not_described() -> None:
    assert parameters({"type": "object", "properties": {}}) is None
    assert parameters({"type": "object", "properties": {"a": {}}}) is not None


_ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)
_LEAF = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["string", "integer", "object", "array", "null", ["string", "null"]]),
        "enum": st.lists(st.none() | st.booleans() | st.integers() | st.text(max_size=2), max_size=3),
        "const": _ANY,
        "format": st.sampled_from(["uri", "date-time", "int64"]),
        "$ref": st.sampled_from(["#", "#/properties/a", "#/$defs/x", "https://elsewhere"]),
        "additionalProperties": st.booleans(),
        "exclusiveMinimum": st.integers(),
        "title": st.text(max_size=3),
    },
)
_SCHEMAS = st.recursive(
    _LEAF,
    lambda inner: st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(["object", "array"]),
            "properties": st.dictionaries(st.sampled_from("ab"), inner),
            "required": st.lists(st.sampled_from("abc")),
            "items": inner,
            "anyOf": st.lists(inner, min_size=1, max_size=3),
            "oneOf": st.lists(inner, min_size=1, max_size=2),
            "allOf": st.lists(inner, max_size=2),
            "$ref": st.sampled_from(["#", "#/properties/a"]),
        },
    ),
    max_leaves=8,
)


@given(_SCHEMAS)
def test_any_schema_comes_out_in_known_words(schema: dict[str, Any]) -> None:
    said = sanitised(schema)
    assert _words(said) <= _WORDS
    types.Schema.model_validate(said)
