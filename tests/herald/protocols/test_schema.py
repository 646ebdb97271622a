"""Schemas as providers enforce them."""

from typing import Any

from aster.herald.protocols.schema import closed, strict

_NESTED: dict[str, Any] = {
    "type": "object",
    "properties": {
        "items": {"type": "array", "items": {"type": "object", "properties": {"a": {"type": "string"}}}},
        "either": {"anyOf": [{"type": "null"}, {"type": "object", "properties": {}}]},
        "free": {"type": "object", "additionalProperties": True},
    },
    "required": ["items"],
    "$defs": {"d": {"type": "object", "properties": {}}},
}


def test_every_undecided_object_is_closed() -> None:
    shut = closed(_NESTED)
    assert shut["additionalProperties"] is False
    assert shut["properties"]["items"]["items"]["additionalProperties"] is False
    assert shut["properties"]["either"]["anyOf"][1]["additionalProperties"] is False
    assert shut["properties"]["free"]["additionalProperties"] is True
    assert shut["$defs"]["d"]["additionalProperties"] is False
    assert "additionalProperties" not in _NESTED


def test_strict_needs_every_property_required() -> None:
    one: dict[str, Any] = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
    assert not strict(one)
    assert strict(closed(one))
    assert not strict(closed({**one, "required": []}))
    assert not strict(closed({"type": "object", "properties": {"x": _NESTED}, "required": ["x"]}))
