"""Schemas that models write: what is refused by name, and what no input can make slow."""

import time
from typing import Any

import pytest

from aster.utility_directory.skill_schema import fitting

NESTED: dict[str, Any] = {"type": "object"}
for _ in range(20):
    NESTED = {"type": "object", "properties": {"x": NESTED}}


def of(**field: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"x": {"type": "array", **field}}}


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        (of(uniqueItems=True), "'uniqueItems'"),
        (of(contains={}), "'contains'"),
        (of(unevaluatedItems=False), "'unevaluatedItems'"),
        (of(items={"anyOf": [{}]}), "'anyOf'"),
        (of(items={"pattern": "(a+)+$"}), "'pattern'"),
        (of(additionalProperties={}), "`additionalProperties`"),
        (of(required=[{}] * 7_000), "`required`"),
        (of(items={"type": [[]]}), "`type`"),
        (of(items=[{}]), "object"),
        (of(description="x" * 24_000), "24,000 bytes"),
        (of(minItems="a"), "not a valid JSON Schema"),
        ({"type": "array"}, '"type": "object"'),
        (NESTED, "levels deep"),
    ],
)
async def test_what_is_not_plain_is_named(schema: dict[str, Any], said: str) -> None:
    began = time.monotonic()
    [problem] = await fitting("mine", schema, {"x": []})
    assert said in problem
    assert time.monotonic() - began < 2


async def test_an_input_is_held_against_it() -> None:
    kind = {
        "type": ["integer", "null"],
        "minimum": 1,
        "enum": [1, 2, None],
        "default": 1,
        "examples": [{"$ref": 1}],
    }
    schema = of(items=kind, maxItems=3, description="Numbers.")
    assert await fitting("mine", schema, {"x": [1, None]}) == []
    assert "one of" in (await fitting("mine", schema, {"x": [7]}))[0]
    named = {"type": "object", "properties": {"pattern": {"type": "string"}}, "additionalProperties": False}
    assert await fitting("mine", named, {"pattern": "a"}) == []


@pytest.mark.parametrize(
    ("items", "value"), [({"enum": list(range(5_000))}, -1), ({"required": [f"{n}" for n in range(3_000)]}, {})]
)
async def test_what_would_take_too_long_is_not_begun(items: dict[str, Any], value: object) -> None:
    began = time.monotonic()
    assert "too many values" in (await fitting("mine", of(items=items), {"x": [value] * 30_000}))[0]
    await fitting("mine", of(items=items), {"x": [value] * 300})
    assert time.monotonic() - began < 5
