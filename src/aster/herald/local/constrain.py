"""Replies a small model cannot get wrong: a schema it is held to, and a reader that follows the reply as it comes.

A reply is one JSON object, either an answer or a call of one of the tools. The answer's text streams while it is
written; a call is known by name early and whole at the end. What a tool does not require is not offered.
"""

import re
from collections.abc import Sequence
from typing import Any, Literal, TypeAlias, cast

import msgspec

from aster.contracts.tools import ToolDef

Mode: TypeAlias = Literal["unknown", "text", "answer", "tool", "over"]

_KEPT = ("type", "enum", "const", "required", "minItems", "maxItems")
_DEEPEST = 6
_SIMPLEST = {"edit_file": ("path", "old_text", "new_text")}
"""What to ask for of a tool that can be called in more than one way."""
_HEAD = re.compile(r'\s*\{\s*(?:"about"\s*:\s*"\w*"\s*,\s*)?"(answer|tool)"\s*:\s*"')
_LONGEST_HEAD = 200
_NAME = re.compile(r'[^"\\]*"')
_SPECIAL = re.compile(r'["\\]')
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_HIGH, _LOW, _END = 0xD800, 0xDC00, 0xE000


def reply_schema(tools: Sequence[ToolDef]) -> dict[str, Any]:
    """What a reply may be."""
    calls = [
        _object(about={"const": "work"}, tool={"const": tool.name}, input=required_input(tool)) for tool in tools
    ]
    return {"anyOf": [*calls, _object(about={"enum": ["talk", "result"]}, answer={"type": "string"})]}


def required_input(tool: ToolDef) -> dict[str, Any]:
    """The input of a tool with what it needs and nothing else; with everything, when it needs nothing."""
    schema = tool.input_schema
    properties: dict[str, Any] = schema.get("properties", {})
    needed: Sequence[str] = _SIMPLEST.get(tool.name) or schema.get("required", ())
    required = [name for name in needed if name in properties]
    names = required or list(properties)
    kept = {name: _simple(properties[name], schema, _DEEPEST) for name in names}
    return {"type": "object", "properties": kept, "required": required, "additionalProperties": False}


def _object(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _simple(schema: Any, root: dict[str, Any], deep: int) -> dict[str, Any]:
    """A schema in the words every grammar knows; what cannot be said in them is left open."""
    if not isinstance(schema, dict) or deep == 0:
        return {}
    node = cast("dict[str, Any]", schema)
    if "$ref" in node:
        return _simple(_referred(str(node["$ref"]), root), root, deep - 1)
    simple: dict[str, Any] = {key: node[key] for key in _KEPT if key in node}
    if isinstance(node.get("properties"), dict):
        properties = cast("dict[str, Any]", node["properties"])
        simple["properties"] = {name: _simple(value, root, deep - 1) for name, value in properties.items()}
        simple["additionalProperties"] = False
    if "items" in node:
        simple["items"] = _simple(node["items"], root, deep - 1)
    for choice in ("anyOf", "oneOf"):
        if isinstance(node.get(choice), list):
            simple["anyOf"] = [_simple(item, root, deep - 1) for item in cast("list[Any]", node[choice])]
    return simple


def _referred(pointer: str, root: dict[str, Any]) -> Any:
    found: Any = root
    for part in pointer.removeprefix("#").strip("/").split("/"):
        found = cast("dict[str, Any]", found).get(part) if isinstance(found, dict) else None
    return found


class ReplyReader:
    """Follows one reply. `tool` is the name of the tool it calls, as soon as that is known."""

    def __init__(self) -> None:
        self.tool: str | None = None
        self.mode: Mode = "unknown"
        self._whole: list[str] = []
        self._rest = ""

    def feed(self, piece: str) -> str:
        """Take a piece of the reply; returns the text of the answer that it brought."""
        self._whole.append(piece)
        match self.mode:
            case "unknown":
                return self._begin(piece)
            case "answer":
                return self._string(piece)
            case "tool":
                self._name(piece)
                return ""
            case "text":
                return piece
            case "over":
                return ""

    def end(self) -> str:
        """The reply is over: text that was held back because it could have been the beginning of a call."""
        if self.mode != "unknown":
            return ""
        self.mode, held, self._rest = "text", self._rest, ""
        return held

    def call(self) -> tuple[dict[str, Any], str | None]:
        """The input of the call, or the reply as it came when it is not whole."""
        raw = "".join(self._whole)
        try:
            return msgspec.json.decode(raw, type=_Call).input, None
        except msgspec.DecodeError:
            return {}, raw

    def _begin(self, piece: str) -> str:
        self._rest += piece
        head = _HEAD.match(self._rest)
        if head is None:
            hopeless = len(self._rest) > _LONGEST_HEAD or self._rest.lstrip()[:1] not in ("", "{")
            return self.end() if hopeless else ""
        rest, self._rest = self._rest[head.end() :], ""
        if head[1] == "answer":
            self.mode = "answer"
            return self._string(rest)
        self.mode = "tool"
        self._name(rest)
        return ""

    def _name(self, piece: str) -> None:
        if self.tool is None:
            self._rest += piece
            name = _NAME.match(self._rest)
            if name is not None:
                self.tool, self._rest = name[0][:-1], ""

    def _string(self, piece: str) -> str:
        """Undo the escapes of a JSON string, holding back one that has not come whole."""
        text, out, at = self._rest + piece, list[str](), 0
        self._rest = ""
        while (special := _SPECIAL.search(text, at)) is not None:
            out.append(text[at : special.start()])
            at = special.start()
            if special[0] == '"':
                self.mode = "over"
                return "".join(out)
            letter, width = _escape(text, at)
            if width == 0:
                self._rest = text[at:]
                return "".join(out)
            out.append(letter)
            at += width
        out.append(text[at:])
        return "".join(out)


class _Call(msgspec.Struct):
    tool: str
    input: dict[str, Any]


def _escape(text: str, at: int) -> tuple[str, int]:
    """The character an escape stands for and how long the escape is; 0 when more of it has to come."""
    kind = text[at + 1 : at + 2]
    if kind != "u":
        return _ESCAPES.get(kind, kind), 2 if kind else 0
    first = _unit(text, at)
    if first is None:
        return "", 0
    if not _HIGH <= first < _END:
        return chr(first), 6
    if first >= _LOW:
        return "\ufffd", 6
    following = text[at + 6 : at + 8]
    if following and not "\\u".startswith(following):
        return "\ufffd", 6
    second = _unit(text, at + 6)
    if second is None:
        return "", 0
    if not _LOW <= second < _END:
        return "\ufffd", 6
    return chr(0x10000 + ((first - _HIGH) << 10) + second - _LOW), 12


def _unit(text: str, at: int) -> int | None:
    """The code unit of a `\\uXXXX` that is here whole; the grammar lets nothing but four hex digits through."""
    digits = text[at + 2 : at + 6]
    return int(digits, 16) if len(digits) == 4 else None
