"""What a server offers, made fit for models: names any provider takes, objects as input, nothing endless.

What cannot be made fit is left out with a reason, never silently renamed into something else's place. Every action has
a pin, a hash of all that the server says about it: an approval is for what was described then.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple, cast

import msgspec

from aster.contracts.assets import ActionDef, ActionKind
from aster.contracts.errors import EngineError, ErrorCode

WIRE_CHARS: Final = 64
MOST_ACTIONS: Final = 2000
DESCRIPTION_CHARS: Final = 2000
SCHEMA_BYTES: Final = 24_000
SCHEMA_DEPTH: Final = 24
_PLAIN: Final = ("type", "enum", "minimum", "maximum", "minLength", "maxLength")
_OUTSIDE: Final = re.compile(r"[^A-Za-z0-9_-]")


class Said(NamedTuple):
    """An action as a server describes it."""

    name: str
    description: str
    schema: object
    kind: ActionKind = "tool"


class Offer(NamedTuple):
    """What of a server can be used, and why the rest cannot."""

    actions: tuple[ActionDef, ...]
    problems: tuple[str, ...] = ()


def offered(server_name: str, said: Iterable[Said]) -> Offer:
    """The first of two actions with the same name stays: no later one takes its place."""
    found: dict[str, ActionDef] = {}
    problems: list[str] = []
    for number, one in enumerate(said):
        if number >= MOST_ACTIONS:
            problems.append(f"only its first {MOST_ACTIONS} actions are used")
            break
        action = _OUTSIDE.sub("_", one.name)
        shown = _shown(one.name)
        if not action or len(f"{server_name}__{action}") > WIRE_CHARS:
            problems.append(f"{shown}: its name is empty or too long")
        elif action in found:
            problems.append(f"{shown}: there is another action of that name ({action})")
        elif (problem := _unfit(one.schema)) is not None:
            problems.append(f"{shown}: {problem}")
        else:
            found[action] = _action(server_name, action, one)
    return Offer(tuple(found.values()), tuple(problems))


def _action(server_name: str, action: str, said: Said) -> ActionDef:
    schema = cast("dict[str, Any]", said.schema)
    whole = [said.name, said.kind, said.description, schema]
    return ActionDef(
        server_name=server_name,
        action=action,
        description=said.description[:DESCRIPTION_CHARS],
        input_schema=schema,
        original=said.name,
        kind=said.kind,
        pin=hashlib.sha256(msgspec.json.encode(whole, order="deterministic")).hexdigest()[:32],
    )


def _unfit(schema: object) -> str | None:
    """Why a schema cannot be given to models; None if it can."""
    if not isinstance(schema, dict):
        return "its input is not an object"
    whole = cast("dict[str, object]", schema)
    if whole.get("type") != "object":
        return "its input is not an object"
    try:
        size = len(msgspec.json.encode(whole))
    except (TypeError, RecursionError, msgspec.MsgspecError):
        return "its schema is not JSON"
    if size > SCHEMA_BYTES:
        return f"its schema is larger than {SCHEMA_BYTES:,} bytes"
    if any(depth > SCHEMA_DEPTH for depth, _, _ in _walk(whole)):
        return "its schema is nested too deeply"
    if any(key in ("$ref", "$dynamicRef") and not str(value).startswith("#") for _, key, value in _walk(whole)):
        return "its schema refers to something outside of it"
    return _wrong(whole)


def _wrong(schema: dict[str, object]) -> str | None:
    """What is no JSON Schema at all would make a provider refuse every prompt with it."""
    from jsonschema import Draft202012Validator, SchemaError

    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        return f"its schema is not a valid JSON Schema ({error.message[:200]})"
    except RecursionError:
        return "its schema is nested too deeply"
    return None


def checkable(schema: dict[str, Any]) -> dict[str, Any]:
    """What of a server's schema an input is held against here: which arguments there are, and of which plain kind.

    The server looks at the rest. A stranger's patterns, references and alternatives are never evaluated: each can be
    made to take for ever.
    """
    properties: dict[str, Any] = {}
    for name, given in cast("dict[str, Any]", schema.get("properties", {})).items():
        field = cast("dict[str, Any]", given) if isinstance(given, dict) else {}
        properties[name] = {key: field[key] for key in _PLAIN if key in field}
    checked = {"type": "object", "properties": properties, "required": schema.get("required", [])}
    closed = schema.get("additionalProperties") is False and "patternProperties" not in schema
    return {**checked, "additionalProperties": False} if closed else checked


def _walk(value: object, depth: int = 0) -> Iterator[tuple[int, str, object]]:
    if depth > SCHEMA_DEPTH + 1:
        return
    if isinstance(value, dict):
        for key, item in cast("dict[str, object]", value).items():
            yield depth, key, item
            yield from _walk(item, depth + 1)
    elif isinstance(value, list):
        for item in cast("list[object]", value):
            yield from _walk(item, depth + 1)


def _shown(name: str) -> str:
    return repr(name if len(name) <= 80 else f"{name[:77]}...")


def unknown(name: str) -> EngineError:
    return EngineError(ErrorCode.MCP_CONNECTION_FAILED, f"The server does not offer {name} any more.")
