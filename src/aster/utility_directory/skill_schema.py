"""The JSON Schema of a skill's input, written by a model: a plain one, so that no input takes long to check.

Only keywords whose cost is known are taken, and what there is to compare is bounded by the schema and the input
together. It is checked beside the event loop.
"""

import asyncio
from typing import Any, Final, cast

import msgspec

from aster.contracts.errors import EngineError
from aster.utility_directory.schema import compiled

SCHEMA_BYTES: Final = 24_000
SCHEMA_DEPTH: Final = 16
COMPARISONS: Final = 2_000_000
"""The values of an input times the parts of a schema."""

_TYPES: Final = frozenset(("object", "array", "string", "boolean", "integer", "number", "null"))
_KEYWORDS: Final = (
    *("$schema", "$comment", "title", "description", "default", "examples", "deprecated"),
    *("type", "enum", "const", "minLength", "maxLength", "items", "minItems", "maxItems"),
    *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    *("properties", "required", "additionalProperties", "minProperties", "maxProperties"),
)


async def fitting(name: str, schema: dict[str, Any], payload: dict[str, Any]) -> list[str]:
    """What is wrong with an input by a skill's schema, or with the schema."""
    return await asyncio.to_thread(_fitting, name, schema, payload)


def _fitting(name: str, schema: dict[str, Any], payload: dict[str, Any]) -> list[str]:
    problem = _too_much(schema) or _wrong(schema)
    if problem is None and schema.get("type") != "object":
        problem = 'the schema must have "type": "object"'
    if problem is not None:
        return [problem]
    if _parts(schema) * _parts(payload) > COMPARISONS:
        return ["the input has too many values to compare them with this schema"]
    try:
        return compiled(name, schema, at_once=True)(payload)
    except EngineError as error:
        return [error.message]


def _too_much(schema: dict[str, Any]) -> str | None:
    if len(msgspec.json.encode(schema)) > SCHEMA_BYTES:
        return f"the schema is larger than {SCHEMA_BYTES:,} bytes"
    level: list[object] = [schema]
    for _ in range(2 * SCHEMA_DEPTH):
        level = [inner for each in level for inner in _inside(each)]
    return f"the schema is more than {SCHEMA_DEPTH} levels deep" if level else None


def _wrong(schema: object) -> str | None:
    """The first thing in a schema that is not taken; None if there is none."""
    if isinstance(schema, bool):
        return None
    if not isinstance(schema, dict):
        return "every part of the schema must be an object"
    whole = cast("dict[str, object]", schema)
    refused = next((key for key in whole if key not in _KEYWORDS), None)
    if refused is not None:
        return f"the schema may not use {refused[:80]!r}; it may use {', '.join(_KEYWORDS)}"
    kinds = whole.get("type", [])
    if not {*_texts([kinds] if isinstance(kinds, str) else kinds)} <= _TYPES:
        return "`type` must be among " + ", ".join(sorted(_TYPES))
    if None in _texts(whole.get("required", [])):
        return "`required` must be a list of names"
    if not isinstance(whole.get("additionalProperties", True), bool):
        return "`additionalProperties` must be true or false"
    fields = whole.get("properties", {})
    if not isinstance(fields, dict):
        return "`properties` must be an object"
    inner = [*cast("dict[str, object]", fields).values(), whole.get("items", True)]
    return next((problem for each in inner if (problem := _wrong(each)) is not None), None)


def _texts(value: object) -> list[str | None]:
    """The texts of a list, with None in the place of whatever is none."""
    if not isinstance(value, list):
        return [None]
    return [each if isinstance(each, str) else None for each in cast("list[object]", value)]


def _inside(value: object) -> list[object]:
    if isinstance(value, dict):
        return list(cast("dict[str, object]", value).values())
    return cast("list[object]", value) if isinstance(value, list) else []


def _parts(value: object) -> int:
    """How many values there are, with all within."""
    count, level = 0, [value]
    while level:
        count += len(level)
        level = [inner for each in level for inner in _inside(each)]
    return count
