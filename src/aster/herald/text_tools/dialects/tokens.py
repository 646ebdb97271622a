"""Calls between special tokens: a header with the name, then the arguments, as Kimi, DeepSeek and Gemma write them.

Such tokens come from the model's own vocabulary and hardly ever stand in prose, so a block simply runs to its
closing token, or to the next opening one.
"""

import re
from collections.abc import Callable
from typing import Any, TypeAlias, cast

from aster.herald.text_tools.dialects.base import Block, Context, Gathered, Opening
from aster.herald.text_tools.items import Broken, Call, Item
from aster.herald.text_tools.json_calls import named
from aster.herald.text_tools.literals import DEEPEST, NotLiteral
from aster.herald.text_tools.values import NotJson, decode

Reader: TypeAlias = Callable[[str, Context, str], Item]


class TokenBlock(Gathered):
    """From an opening token to the first of `ends` (which is swallowed) or `stops` (which is not)."""

    def __init__(
        self, context: Context, opener: str, read: Reader, ends: tuple[str, ...], stops: tuple[str, ...]
    ) -> None:
        super().__init__(context, opener)
        self._reader = read
        self._ends = ends
        self._end = re.compile("|".join(map(re.escape, sorted((*ends, *stops), key=len, reverse=True))))
        self.lookback = max(map(len, (*ends, *stops))) - 1

    def _seek(self, text: str, pos: int, final: bool) -> int:
        found = self._end.search(text, pos)
        if found is None:
            return -1
        return found.end() if found.group() in self._ends else found.start()

    def _read(self, body: str, whole: bool) -> list[Item]:
        raw = self.opener + body
        for end in self._ends:
            body = body.removesuffix(end)
        item = self._reader(body, self.context, raw)
        if isinstance(item, Broken) and item.reason == "malformed" and not whole:
            return [Broken("truncated", raw, item.name)]
        if isinstance(item, Call) and not whole:
            return [Broken("truncated", raw, item.name, item)]
        return [item]


def token_opening(read: Reader, ends: tuple[str, ...], stops: tuple[str, ...] = ()) -> Opening:
    def begin(context: Context, opener: str) -> Block:
        return TokenBlock(context, opener, read, ends, stops)

    return begin


KIMI_ARGUMENTS = "<|tool_call_argument_begin|>"
_KIMI_ID = re.compile(r"(?:functions?[._(]\s*)?(?P<name>[^\s@()]{1,200}?)\s*\)?(?P<index>[:_]?\d+(?:\.\d+)?)?")
"""`functions.name:0`, and what becomes of it: `functions_name_0`, `functions(name):0`, `functions.name0`."""


def kimi(body: str, context: Context, raw: str) -> Item:
    """`functions.name:0` and JSON arguments; a bare number is the one tool whose parameters fit."""
    written, _, arguments = body.partition(KIMI_ARGUMENTS)
    written = written.strip()
    found = _KIMI_ID.fullmatch(written)
    if found is None and not written.isdecimal():
        return Broken("malformed", raw)
    name = _kimi_name(written, found, context) if found else None
    try:
        given: Any = decode(arguments)
    except NotJson:
        return Broken("malformed", raw, name and context.tools.resolve(name))
    if written.isdecimal() and isinstance(given, dict):
        name = context.tools.fitting(cast("dict[str, Any]", given))
    return named(name, given, context.tools, raw) if name else Broken("unknown_tool", raw)


def _kimi_name(written: str, found: re.Match[str], context: Context) -> str | None:
    """The name in an id; digits without a colon before them belong to it unless only then it is offered."""
    name, index = found["name"], found["index"] or ""
    whole = name + index
    if index.startswith(":") or (context.tools.resolve(whole) is None and context.tools.resolve(name) is not None):
        return name
    return None if written.isdecimal() else whole


DEEPSEEK_SEPARATOR = "<｜tool▁sep｜>"


def deepseek(body: str, context: Context, raw: str) -> Item:
    """`function<sep>name` and JSON in a fence (V3), or `name<sep>` and JSON (V3.1)."""
    left, separator, right = body.partition(DEEPSEEK_SEPARATOR)
    if not separator:
        return Broken("malformed", raw)
    name, arguments = left.strip(), right
    if name in ("function", ""):
        name, _, arguments = right.strip().partition("\n")
    text = arguments.strip().removesuffix("```").strip()
    if text.startswith("```"):
        text = text.removeprefix("```").removeprefix("json").strip()
    return json_arguments(name.strip(), text, context, raw)


def json_arguments(name: str, text: str, context: Context, raw: str) -> Item:
    """A call of this name with these arguments in JSON; none at all is an empty object."""
    try:
        given: Any = decode(text) if text.strip() else {}
    except NotJson:
        return Broken("malformed", raw, context.tools.resolve(name))
    return named(name, given, context.tools, raw)


_SOLAR = re.compile(r"[^<]{0,200}<\|tool_call:name\|>([^<]{1,200})<\|tool_call:args\|>")


def solar(body: str, context: Context, raw: str) -> Item:
    """`id<name>name<args>` and JSON."""
    head = _SOLAR.match(body)
    if head is None:
        return Broken("malformed", raw)
    return json_arguments(head[1].strip(), body[head.end() :], context, raw)


_GEMMA = re.compile(r"(?:call:)?([^\s{]{1,200})\s*\{")


def gemma(delimiter: str) -> Reader:
    """`call:name{key:value}` with strings between delimiters of their own."""

    def read(body: str, context: Context, raw: str) -> Item:
        body = body.strip()
        head = _GEMMA.match(body)
        if head is None:
            return Broken("malformed", raw)
        try:
            given, _ = _GemmaReader(body, delimiter).mapping(head.end(), DEEPEST)
        except NotLiteral:
            return Broken("malformed", raw, context.tools.resolve(head[1]))
        return named(head[1], given, context.tools, raw)

    return read


class _GemmaReader:
    """Keys without quotes, strings between delimiters, numbers and words as they are.

    Whatever is still open at the end of the text ends there; whether the call is whole is for the block to say.
    """

    def __init__(self, text: str, delimiter: str) -> None:
        self._text = text
        self._delimiter = delimiter

    def mapping(self, pos: int, depth: int) -> tuple[dict[str, Any], int]:
        found: dict[str, Any] = {}
        text = self._text
        while True:
            pos = self._past(pos)
            if pos >= len(text) or text[pos] == "}":
                return found, pos + 1
            if text.startswith(self._delimiter, pos):
                key, pos = self._string(pos)
                pos = self._past(pos)
                colon = pos if text.startswith(":", pos) else -1
            else:
                colon = text.find(":", pos)
                key = text[pos:colon].strip().strip("\"'")
            if colon < 0:
                return found, len(text)
            found[key], pos = self._value(self._past(colon + 1), depth)

    def _array(self, pos: int, depth: int) -> tuple[list[Any], int]:
        found: list[Any] = []
        while True:
            pos = self._past(pos)
            if pos >= len(self._text) or self._text[pos] == "]":
                return found, pos + 1
            if self._text[pos] == "}":
                return found, pos
            value, pos = self._value(pos, depth)
            found.append(value)

    def _value(self, pos: int, depth: int) -> tuple[Any, int]:
        text = self._text
        if depth == 0:
            raise NotLiteral
        if pos >= len(text):
            return "", pos
        if text.startswith(self._delimiter, pos):
            return self._string(pos)
        if text[pos] == "{":
            return self.mapping(pos + 1, depth - 1)
        if text[pos] == "[":
            return self._array(pos + 1, depth - 1)
        found = _GEMMA_END.search(text, pos)
        end = found.start() if found is not None else len(text)
        return _word(text[pos:end].strip()), end

    def _string(self, pos: int) -> tuple[str, int]:
        start = pos + len(self._delimiter)
        end = self._text.find(self._delimiter, start)
        if end < 0:
            return self._text[start:], len(self._text)
        return self._text[start:end], end + len(self._delimiter)

    def _past(self, pos: int) -> int:
        while pos < len(self._text) and self._text[pos] in " \t\r\n,":
            pos += 1
        return pos


_GEMMA_END = re.compile(r"[,}\]]")


def _word(text: str) -> Any:
    if text.startswith('"') and text.endswith('"') and len(text) > 1:
        return text[1:-1]
    try:
        value = decode(text)
    except NotJson:
        return text
    return value if isinstance(value, bool | int | float | None) else text
