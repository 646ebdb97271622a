"""The form of a JSON schema that providers enforce: every object closed, unless it says otherwise itself."""

from typing import Any, cast

_HOLDS_SCHEMAS = ("properties", "$defs", "definitions")
_HOLDS_MANY = ("anyOf", "allOf", "oneOf", "prefixItems")


def closed(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema with `additionalProperties: false` on every object that does not decide it."""
    shut: dict[str, Any] = {key: _descend(key, value) for key, value in schema.items()}
    if schema.get("type") == "object" or "properties" in schema:
        shut.setdefault("additionalProperties", False)
    return shut


def strict(schema: Any) -> bool:
    """Whether OpenAI's strict mode takes it: closed objects, every property required."""
    if isinstance(schema, list):
        return all(strict(item) for item in cast("list[Any]", schema))
    if not isinstance(schema, dict):
        return True
    node = cast("dict[str, Any]", schema)
    if "properties" in node or node.get("type") == "object":
        required: set[str] = set(node.get("required", ()))
        if node.get("additionalProperties") is not False or required != set(node.get("properties", {})):
            return False
    return all(strict(value) for value in node.values())


def _descend(key: str, value: Any) -> Any:
    if key in _HOLDS_SCHEMAS and isinstance(value, dict):
        return {name: _close(item) for name, item in cast("dict[str, Any]", value).items()}
    if key in _HOLDS_MANY and isinstance(value, list):
        return [_close(item) for item in cast("list[Any]", value)]
    return _close(value) if key in ("items", "not") else value


def _close(value: Any) -> Any:
    return closed(cast("dict[str, Any]", value)) if isinstance(value, dict) else value
