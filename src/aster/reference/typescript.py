"""Events, and the bodies and answers of the JSON routes, as TypeScript types for the client in `web/`: from the same
document as the HTTP page."""

import json
from typing import Any, Final, TypeAlias, cast

from aster.reference import http

HEAD: Final = """\
// Written by `python -m aster.reference --write`; do not edit. Events, and what the routes take and answer.
"""
_PRIMITIVES: Final = {
    "string": "string",
    "integer": "number",
    "number": "number",
    "boolean": "boolean",
    "null": "null",
}
Schema: TypeAlias = dict[str, Any]


def render() -> str:
    schemas: dict[str, Schema] = json.loads(http.render_document())["components"]["schemas"]
    return "\n".join([HEAD, *(_named(name, schema) for name, schema in sorted(schemas.items()))])


def _named(name: str, schema: Schema) -> str:
    about = " ".join(str(schema.get("description", "")).split()).replace("*/", "* /")
    comment = f"/** {about} */\n" if about else ""
    if "properties" not in schema:
        return f"{comment}export type {_plain(name)} = {_type(schema)};\n"
    return f"{comment}export interface {_plain(name)} {_object(schema)}\n"


def _object(schema: Schema) -> str:
    required = set(schema.get("required", ()))
    lines = [
        f"  {json.dumps(name) if not name.isidentifier() else name}{'' if name in required else '?'}: {_type(part)};"
        for name, part in cast("dict[str, Schema]", schema["properties"]).items()
    ]
    return "{\n" + "\n".join(lines) + "\n}"


def _type(schema: Schema) -> str:
    if "$ref" in schema:
        return _plain(str(schema["$ref"]).rsplit("/", 1)[-1])
    if "const" in schema:
        return json.dumps(schema["const"])
    if "enum" in schema:
        return " | ".join(json.dumps(value) for value in schema["enum"])
    for union in ("anyOf", "oneOf"):
        if union in schema:
            return " | ".join(dict.fromkeys(_type(option) for option in schema[union]))
    if schema.get("type") == "array":
        if "prefixItems" in schema:
            return "[" + ", ".join(_type(item) for item in schema["prefixItems"]) + "]"
        return f"Array<{_type(schema.get('items', {}))}>"
    if schema.get("type") == "object":
        return _map(schema)
    return _PRIMITIVES.get(str(schema.get("type")), "unknown")


def _map(schema: Schema) -> str:
    if "properties" in schema:
        return _object(schema)
    values = schema.get("additionalProperties")
    return f"{{ [key: string]: {_type(cast('Schema', values)) if isinstance(values, dict) else 'unknown'} }}"


def _plain(name: str) -> str:
    """A schema's name as an identifier."""
    return "".join(letter if letter.isalnum() else "_" for letter in name)
