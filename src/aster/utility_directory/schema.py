"""A model's arguments against a tool's JSON Schema, with complaints that a model can act on.

Each complaint names the argument, what was expected and what was given. A schema is compiled once, at
once or for the first call of its tool: the library behind it is slow to load, and a start need not wait for it.
"""

import json
from collections.abc import Callable, Sequence
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from aster.contracts.errors import EngineError, ErrorCode

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator, ValidationError

Validate: TypeAlias = Callable[[dict[str, Any]], list[str]]

_SHOWN = 5
_MOST = 1000
_NAMES: dict[type, str] = {
    dict: "object",
    list: "array",
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
}


def compiled(name: str, schema: dict[str, Any], *, at_once: bool) -> Validate:
    """A function that lists what is wrong with an input; empty when it is valid."""

    @cache
    def validator() -> "Draft202012Validator":
        return _validator(name, schema)

    if at_once:
        validator()

    def validate(given: dict[str, Any]) -> list[str]:
        found = validator().iter_errors(given)  # pyright: ignore[reportUnknownMemberType]
        errors = cast("Sequence[ValidationError]", sorted(islice(found, _MOST), key=_position))
        return list(dict.fromkeys(map(_complaint, errors)))[:_SHOWN]

    return validate


def _validator(name: str, schema: dict[str, Any]) -> "Draft202012Validator":
    from jsonschema import Draft202012Validator, SchemaError

    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        raise EngineError(
            ErrorCode.CONFIGURATION_INVALID,
            f"The input schema of tool {name!r} is not a valid JSON Schema: {error.message}",
        ) from error
    return Draft202012Validator(schema)


def without_nulls(given: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    """Models often send null for an argument they mean to leave out; an optional one is then left out."""
    required = schema.get("required", [])
    return {key: value for key, value in given.items() if value is not None or key in required}


def _position(error: "ValidationError") -> str:
    return error.json_path


def _complaint(error: "ValidationError") -> str:
    where = error.json_path.removeprefix("$").removeprefix(".")
    expected, given = cast("Any", error.validator_value), cast("Any", error.instance)
    match error.validator:
        case "required":
            missing = [name for name in expected if name not in given]
            return f"missing argument: {', '.join(missing)}"
        case "additionalProperties":
            known = cast("dict[str, Any]", error.schema).get("properties", {})
            unknown = [name for name in given if name not in known]
            return f"unknown argument: {', '.join(unknown)}; it takes {', '.join(known)}"
        case "type":
            names = expected if isinstance(expected, str) else " or ".join(expected)
            return f"{where}: expected {names}, got {_shown(given)}"
        case "enum":
            return f"{where}: expected one of {json.dumps(expected)}, got {_shown(given)}"
        case _:
            return f"{where}: {error.message[:300]} (expected {error.validator} {_short(expected)})"


def _shown(value: object) -> str:
    return "null" if value is None else f"{_NAMES.get(type(value), 'value')} {_short(value)}"


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 80 else f"{text[:77]}..."
