"""Calls as a name and pairs of `<arg_key>` and `<arg_value>`, as the GLM, Hunyuan and Laguna families write them.

The block ends at the closing tag outside of a value. A key without a value is dropped, as their own servers do.
"""

import re
from typing import Any

from aster.herald.text_tools.dialects.base import Context, Gathered
from aster.herald.text_tools.dialects.parameters import parameters_for
from aster.herald.text_tools.items import Broken, Call, Item
from aster.herald.text_tools.values import loose

_S = r"(?::[\w\-]+)?"
_TAG = re.compile(rf"<(/?)(arg_key|arg_value|tool_call){_S}>", re.IGNORECASE)
_GAP = r"(?:\s|\\n)*"
_NAME = re.compile(rf"{_GAP}([^\s<\\]{{1,200}}){_GAP}(?:<tool_sep{_S}>{_GAP})?(?=<arg_key|\Z)", re.IGNORECASE)
_PAIR = re.compile(rf"<arg_key{_S}>([^<]{{0,200}})</arg_key{_S}>(?:\s|\\n)*<arg_value{_S}>", re.IGNORECASE)
_VALUE_END = re.compile(rf"</arg_value{_S}>", re.IGNORECASE)


class PairsBlock(Gathered):
    """`<tool_call>name` … `</tool_call>`; the opener is the tag."""

    lookback = 40

    def __init__(self, context: Context, opener: str) -> None:
        super().__init__(context, opener)
        self._in_value = False
        self._looked = 0

    def _seek(self, text: str, pos: int, final: bool) -> int:
        look = pos + self._looked
        while (tag := _TAG.search(text, look)) is not None:
            look = tag.end()
            closing, name = tag[1] == "/", tag[2].lower()
            if name == "arg_value":
                self._in_value = not closing
            elif name == "tool_call" and closing and not self._in_value:
                return tag.end()
            elif name == "tool_call" and not closing and not self._in_value:
                return tag.start()
        self._looked = max(0, look - max(pos, len(text) - self.lookback))
        return -1

    def _read(self, body: str, whole: bool) -> list[Item]:
        raw = self.opener + body
        inner = re.sub(rf"</tool_call{_S}>\Z", "", body, flags=re.IGNORECASE)
        head = _NAME.match(inner)
        if head is None:
            return [Broken("no_function_tag" if whole else "truncated", raw)]
        name = self.context.tools.resolve(head[1])
        call = Call(name or head[1], self._arguments(inner, head.end(), name or head[1]))
        if name is None:
            return [Broken("unknown_tool", raw, head[1], call)]
        return [call] if whole else [Broken("truncated", raw, name, call)]

    def _arguments(self, inner: str, pos: int, name: str) -> dict[str, Any]:
        parameters = parameters_for(self.context, name, untyped=loose, otherwise=loose)
        given: dict[str, Any] = {}
        while (pair := _PAIR.search(inner, pos)) is not None:
            end = _VALUE_END.search(inner, pair.end())
            text = parameters.trimmed(inner[pair.end() : end.start() if end else len(inner)])
            key = pair[1].strip()
            given[key] = parameters.value(key, text)
            if end is None:
                break
            pos = end.end()
        return given
