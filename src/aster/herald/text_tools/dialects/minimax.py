"""MiniMax M3: elements marked by a namespace token, parameters as tags of their own name, nested like the schema.

Text between two tokens is a tag and what follows it. Values take their types from the schema; a closing tag that
does not match makes the whole block no call.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from aster.herald.text_tools.dialects.base import Context, Gathered
from aster.herald.text_tools.items import Broken, Call, Item, Said
from aster.herald.text_tools.values import coerce, properties_of, types_of

TOKEN = "]<]minimax[>["  # noqa: S105 - a marker of the dialect

_END = re.compile(re.escape(TOKEN) + r"\s*</tool_call>")
_INVOKE = re.compile(r"<invoke\s+name\s*=\s*\"?([^\">]{1,200})\"?\s*>")
_TAG = re.compile(r"<(/?)([^<>\s/]{1,200})\s*>")


class MinimaxBlock(Gathered):
    """From `<tool_call>` behind the token to its end; the opener is the token."""

    lookback = 64

    def _seek(self, text: str, pos: int, final: bool) -> int:
        found = _END.search(text, pos)
        return found.end() if found else -1

    def _read(self, body: str, whole: bool) -> list[Item]:
        raw = self.opener + body
        if not body.lstrip().startswith("<tool_call>"):
            return [Said(body)]
        try:
            calls = _Calls(self.context).read(body.partition("<tool_call>")[2])
        except _Mismatch:
            return [Broken("malformed" if whole else "truncated", raw)]
        return calls or [Broken("no_function_tag" if whole else "truncated", raw)]


class _Mismatch(ValueError):
    pass


@dataclass(slots=True)
class _Open:
    tag: str
    schema: Mapping[str, Any]
    value: Any


class _Calls:
    def __init__(self, context: Context) -> None:
        self._tools = context.tools
        self._root: Mapping[str, Any] = {}
        self._stack: list[_Open] = []

    def read(self, text: str) -> list[Item]:
        items: list[Item] = []
        name = ""
        for piece in text.split(TOKEN):
            piece = piece.strip()
            invoke = _INVOKE.match(piece)
            if not piece or piece.startswith("</tool_call>"):
                continue
            if invoke is not None:
                name = invoke[1].strip()
                self._root = self._tools.schema(self._tools.resolve(name) or "")
                self._stack = [_Open("", self._root, {})]
            elif piece.startswith("</invoke>") and self._stack:
                items.append(self._done(name))
            elif self._stack:
                self._step(piece)
        return items

    def _done(self, name: str) -> Item:
        if len(self._stack) != 1:
            raise _Mismatch
        given = self._stack.pop().value
        offered = self._tools.resolve(name)
        call = Call(offered or name, given)
        return call if offered else Broken("unknown_tool", "", name, call)

    def _step(self, piece: str) -> None:
        tag = _TAG.match(piece)
        if tag is None:
            raise _Mismatch
        if tag[1]:
            closed = self._stack.pop()
            if not self._stack or closed.tag != tag[2]:
                raise _Mismatch
            _put(self._stack[-1], closed)
            return
        parent = self._stack[-1]
        schema = self._child(parent.schema, tag[2])
        self._stack.append(_Open(tag[2], schema, self._value(piece[tag.end() :], schema)))

    def _child(self, schema: Mapping[str, Any], tag: str) -> Mapping[str, Any]:
        found: Any = properties_of(schema).get(tag)
        if found is None and tag == "item":
            found = schema.get("items")
        if found is None:
            found = schema.get("additionalProperties")
        return cast("Mapping[str, Any]", found) if isinstance(found, dict) else {}

    def _value(self, text: str, schema: Mapping[str, Any]) -> Any:
        types = types_of(schema, self._root)
        if not text and "null" in types:
            return None
        if not text and "array" in types:
            return []
        if not text and (not types or "object" in types):
            return {}
        value = coerce(text, types)
        return int(value) if isinstance(value, float) and value.is_integer() else value


def _put(parent: _Open, child: _Open) -> None:
    value: Any = parent.value
    if isinstance(value, list):
        cast("list[Any]", value).append(child.value)
        return
    if not isinstance(value, dict):
        raise _Mismatch
    known = cast("dict[str, Any]", value)
    if child.tag not in known:
        known[child.tag] = child.value
    elif isinstance(known[child.tag], list):
        known[child.tag].append(child.value)
    else:
        known[child.tag] = [known[child.tag], child.value]
