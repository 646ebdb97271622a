"""JSON Schema in the dialect that Gemini takes for tools: a part of OpenAPI's, with references written out.

One word it does not know makes it refuse every tool of the request, so only words it knows are let through. What
cannot be said in them is widened, never narrowed: the tool checks its input by the whole schema anyway.
"""

from typing import Any, cast

_KEPT = (
    *("title", "description", "nullable", "default", "pattern", "minLength", "maxLength"),
    *("minItems", "maxItems", "minProperties", "maxProperties", "minimum", "maximum"),
)
_FORMATS = {
    "string": ("enum", "date-time"),
    "integer": ("int32", "int64"),
    "number": ("float", "double"),
}
_DEEPEST = 24
_LONGEST = 5000

Node = dict[str, Any]


def parameters(schema: Node) -> Node | None:
    """A tool's input schema; None for a tool that takes nothing, which must not be described at all."""
    said = sanitised(schema)
    return said if said.get("properties") else None


def sanitised(schema: Node) -> Node:
    """The schema in Gemini's words."""
    return _Translation(schema).node(schema, ())


class _Translation:
    """One schema; references point into its root, and what they lead to is written out only so far."""

    def __init__(self, root: Node) -> None:
        self._root = root
        self._left = _LONGEST

    def node(self, schema: Any, within: tuple[str, ...]) -> Node:
        self._left -= 1
        if not isinstance(schema, dict) or len(within) > _DEEPEST or self._left < 0:
            return {"type": "STRING"}
        node, within = self._merged(*self._resolved(cast("Node", schema), within))
        options, nullable = _alternatives(node)
        if options is None:
            return self._plain(node, within)
        said = [self.node(option, (*within, "")) for option in options]
        for option in said:
            if nullable:
                option["nullable"] = True
            if isinstance(node.get("description"), str):
                option.setdefault("description", node["description"])
        return said[0] if len(said) == 1 else {"anyOf": said}

    def _resolved(self, node: Node, within: tuple[str, ...]) -> tuple[Node, tuple[str, ...]]:
        """The node with its reference written out; one that leads back into itself becomes any object."""
        while isinstance(reference := node.get("$ref"), str):
            beside = {key: value for key, value in node.items() if key != "$ref"}
            target = None if reference in within else self._find(reference)
            node = {**({"type": "object"} if target is None else target), **beside}
            within = (*within, reference)
        return node, within

    def _find(self, reference: str) -> Node | None:
        if not reference.startswith("#"):
            return None
        place: Any = self._root
        for name in reference.removeprefix("#").strip("/").split("/"):
            name = name.replace("~1", "/").replace("~0", "~")
            if name:
                place = cast("Node", place).get(name) if isinstance(place, dict) else None
        return cast("Node", place) if isinstance(place, dict) else None

    def _merged(self, node: Node, within: tuple[str, ...]) -> tuple[Node, tuple[str, ...]]:
        """`allOf` folded into the node itself."""
        parts = node.get("allOf")
        if not isinstance(parts, list):
            return node, within
        whole: Node = {key: value for key, value in node.items() if key != "allOf"}
        for part in cast("list[Any]", parts):
            if not isinstance(part, dict):
                continue
            piece, within = self._merged(*self._resolved(cast("Node", part), within))
            properties = {**_named(piece, "properties"), **_named(whole, "properties")}
            required = list(dict.fromkeys([*_names(whole), *_names(piece)]))
            whole = {**piece, **whole}
            if properties:
                whole["properties"] = properties
            if required:
                whole["required"] = required
        return whole, within

    def _plain(self, node: Node, within: tuple[str, ...]) -> Node:
        """A node with one type."""
        kind = _type_of(node)
        said: Node = {"type": kind.upper(), **{key: node[key] for key in _KEPT if key in node}}
        if node.get("format") in _FORMATS.get(kind, ()):
            said["format"] = node["format"]
        _say_bounds(node, kind, said)
        _say_values(node, kind, said)
        match kind:
            case "object":
                self._say_properties(node, said, (*within, ""))
            case "array":
                items = node.get("items")
                if not isinstance(items, dict):
                    items = next(iter(_listed(node, "prefixItems")), {"type": "string"})
                said["items"] = self.node(items, (*within, ""))
            case _:
                pass
        return said

    def _say_properties(self, node: Node, said: Node, within: tuple[str, ...]) -> None:
        properties = _named(node, "properties")
        if properties:
            said["properties"] = {name: self.node(value, within) for name, value in properties.items()}
        required = [name for name in _names(node) if name in properties]
        if required:
            said["required"] = required


def _alternatives(node: Node) -> tuple[list[Any] | None, bool]:
    """The schemas that a node is any one of, `null` left out; None when it is a single one."""
    options: list[Any]
    if "properties" in node:  # alternatives then only say which of the properties go together
        return None, False
    if listed := _listed(node, "anyOf") or _listed(node, "oneOf"):
        inherited = {"type": node["type"]} if isinstance(node.get("type"), str) else {}
        options = [{**inherited, **cast("Node", o)} if isinstance(o, dict) else o for o in listed]
    elif isinstance(kinds := node.get("type"), list):
        options = [{**node, "type": kind} for kind in cast("list[Any]", kinds)]
    else:
        return None, False
    left = [option for option in options if not _is_null(option)]
    return left or [{"type": "string"}], len(left) < len(options)


def _listed(node: Node, key: str) -> list[Any]:
    value = node.get(key)
    return cast("list[Any]", value) if isinstance(value, list) else []


def _named(node: Node, key: str) -> Node:
    value = node.get(key)
    return cast("Node", value) if isinstance(value, dict) else {}


def _names(node: Node) -> list[str]:
    return [name for name in _listed(node, "required") if isinstance(name, str)]


def _is_null(option: Any) -> bool:
    return isinstance(option, dict) and cast("Node", option).get("type") == "null"


def _type_of(node: Node) -> str:
    kind = node.get("type")
    if isinstance(kind, str) and kind != "null":
        return kind.lower()
    if "properties" in node or "required" in node:
        return "object"
    if "items" in node or "prefixItems" in node:
        return "array"
    match next(iter(_listed(node, "enum")), node.get("const")):
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "number"
        case _:
            return "string"


def _say_bounds(node: Node, kind: str, said: Node) -> None:
    """Exclusive bounds as the inclusive ones nearest to them."""
    step = 1 if kind == "integer" else 0
    for name, word, by in (("exclusiveMinimum", "minimum", step), ("exclusiveMaximum", "maximum", -step)):
        bound = node.get(name)
        if isinstance(bound, int | float) and not isinstance(bound, bool):
            said.setdefault(word, bound + by)


def _say_values(node: Node, kind: str, said: Node) -> None:
    """Fixed values: an `enum` holds strings only, so others are told in the description."""
    values = _listed(node, "enum") or ([node["const"]] if "const" in node else [])
    if any(value is None for value in values):
        said["nullable"] = True
    values = [value for value in values if value is not None]
    if not values:
        return
    if kind == "string" and all(isinstance(value, str) for value in values):
        if "" not in values:
            said["enum"] = values
        return
    told = "One of: " + ", ".join(str(value).lower() if isinstance(value, bool) else str(value) for value in values)
    said["description"] = f"{said['description']} {told}." if said.get("description") else f"{told}."
