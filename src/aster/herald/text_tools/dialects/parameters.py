"""The body of a call in markup: parameters as elements, as attributes, as bare tags, as JSON, as plain text.

A value ends at the closing tag that is followed by framing, so a closing tag quoted inside it does not cut it, and
CDATA is taken verbatim. One line break directly inside a parameter's tags is layout; everything else is the value.
"""

import re
from bisect import bisect_left
from dataclasses import dataclass, field
from typing import Any, cast

from aster.herald.text_tools.dialects.base import Context, Trim
from aster.herald.text_tools.toolbox import Toolbox
from aster.herald.text_tools.values import NotJson, Reading, coerce, decode, loose

NAMESPACE = r"(?:｜DSML｜|steptml:|antml:)?"
_TAG = rf"{NAMESPACE}param(?:eter)?"
_OPEN = re.compile(
    rf"<{_TAG}(?:\s*=\s*|\s+name\s*=\s*)(?:\"(?P<a>[^\"<>]{{0,200}})\"|'(?P<b>[^'<>]{{0,200}})'|(?P<c>[^\s<>\"'/]{{1,200}}))"
    r"(?P<rest>[^<>]{0,300})>",
    re.IGNORECASE,
)
_NAMELESS = re.compile(rf"<{_TAG}(?P<rest>[^<>]{{0,300}})>", re.IGNORECASE)
_CLOSE = re.compile(rf"</{_TAG}\s*>", re.IGNORECASE)
_PLAIN = re.compile(
    rf"\s*<{_TAG}(?:=([\w.\-]{{1,200}})|\s+name=\"([\w.\-]{{1,200}})\")>([^<]*)</{_TAG}>", re.IGNORECASE
)
_FRAMING = re.compile(
    rf"\s*(?:\Z|<{_TAG}[\s=>]|</{NAMESPACE}(?:function|invoke|tool_calls?|function_calls?)|<tool_call|<{NAMESPACE}(?:function|invoke)[\s=])",
    re.IGNORECASE,
)
_CDATA = re.compile(r"\s*<!\[CDATA\[")
_CDATA_END = re.compile(rf"\s*(?:</{_TAG}\s*>|\Z)", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"([\w.\-]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
_BARE_TAG = re.compile(r"<([A-Za-z_][\w.\-]*)>")
_DIRECT = re.compile(r"<([A-Za-z_][\w.\-]*)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')\s*/?>")
MOST_TRIES = 64
"""How many closing tags, or bare tags, are looked at for one value: more are noise, and time."""

_KEPT_ATTRIBUTES = {"name", "type", "string", "value", "index"}


@dataclass(slots=True)
class Arguments:
    """What a body gave. `whole` if every parameter was closed; `faults` counts what strict formats refuse."""

    given: dict[str, Any] = field(default_factory=dict[str, Any])
    whole: bool = True
    faults: int = 0
    found: int = 0


class Parameters:
    """Reads the bodies of calls of one tool."""

    def __init__(
        self, tools: Toolbox, name: str, untyped: Reading = str, otherwise: Reading = str, trim: Trim | None = None
    ) -> None:
        self._tools = tools
        self._name = name
        self._properties = tools.properties(name)
        self._untyped = untyped
        self._otherwise = otherwise
        self._trim = trim or laid_out

    def read(self, body: str, attributes: str = "") -> Arguments:
        """The arguments in a body; `attributes` are those of the function's own tag."""
        result = Arguments()
        for key, value in attributes_in(attributes):
            if key not in _KEPT_ATTRIBUTES or (key in self._properties and key != "name"):
                self._put(result, key, value)
        if body.lstrip().startswith("{") and self._from_json(body, result):
            return result
        if not self._plain(body, result):
            self._elements(body, result)
        if not result.found and body.strip() and not result.faults:
            self._no_elements(body, result)
        return result

    def value(self, key: str, text: str) -> Any:
        """The text of one argument as its schema wants it."""
        return coerce(text, self._tools.types(self._name, key), self._untyped, self._otherwise)

    def trimmed(self, text: str) -> str:
        """A value without its layout."""
        return self._trim(text)

    def _put(self, result: Arguments, key: str, value: Any) -> None:
        if key in result.given or (self._properties and key not in self._properties):
            result.faults += 1
        result.given[key] = self.value(key, value) if isinstance(value, str) else value
        result.found += 1

    def _plain(self, body: str, result: Arguments) -> bool:
        """A body of nothing but closed parameters without markup in them, the common case, in one go."""
        pos, found = 0, list[tuple[str, str]]()
        while (one := _PLAIN.match(body, pos)) is not None:
            found.append((one[1] or one[2], one[3]))
            pos = one.end()
        if not found or not (pos == len(body) or body[pos:].isspace()):
            return False
        for key, text in found:
            self._put(result, key, self._trim(text))
        return True

    def _elements(self, body: str, result: Arguments) -> None:
        marks = _Marks(body)
        pos = 0
        while (tag := marks.tag_after(pos)) is not None:
            named = _OPEN.match(body, tag.start())
            if named is None:
                pos = self._unnamed(tag, result)
                continue
            key, rest = _key(named), named["rest"]
            if rest.rstrip().endswith("/"):
                self._put(result, key, dict(attributes_in(rest)).get("value", ""))
                pos = named.end()
                continue
            text, pos, closed = self._text(marks, named.end(), {key, *result.given})
            self._take(result, key, text, rest, closed)

    def _take(self, result: Arguments, key: str, text: str, rest: str, closed: bool) -> None:
        result.whole = result.whole and closed
        declared = dict(attributes_in(rest)).get("string")
        if declared == "false":
            value = loose(text.strip())
            if not closed and isinstance(value, str):
                result.found += 1
                return
            result.given[key] = value
            result.found += 1
        elif declared == "true":
            result.given[key] = text
            result.found += 1
        else:
            self._put(result, key, text)

    def _unnamed(self, tag: re.Match[str], result: Arguments) -> int:
        """`<parameter city="Bern"/>`: the attributes are the arguments."""
        given = list(attributes_in(tag["rest"]))
        if not given:
            result.faults += 1
        for key, value in given:
            self._put(result, key, value)
        return tag.end()

    def _text(self, marks: "_Marks", start: int, taken: set[str]) -> tuple[str, int, bool]:
        """A parameter's text, where to go on, and whether it was closed."""
        cdata = marks.cdata_at(start)
        if cdata is not None:
            return cdata
        body = marks.body
        close = marks.close_after(start)
        following = self._following(marks, start, close.start() if close else len(body), taken)
        if following is not None:
            return self._trim(body[start:following]), following, True
        if close is None:
            return self._trim(body[start:]), len(body), False
        framed = marks.framed_close_after(start)
        close = framed or close
        return self._trim(body[start : close.start()]), close.end(), framed is not None

    def _following(self, marks: "_Marks", start: int, end: int, taken: set[str]) -> int | None:
        """Where the next parameter of this tool begins, if this one was not closed before it."""
        for tag in marks.tags_between(start, end):
            named = _OPEN.match(marks.body, tag.start())
            key = _key(named) if named else ""
            if key and key not in taken and (not self._properties or key in self._properties):
                return tag.start()
        return None

    def _no_elements(self, body: str, result: Arguments) -> None:
        """No parameter element at all: bare tags, direct attributes, or text for a tool that takes one thing."""
        for found in _DIRECT.finditer(body):
            self._put(result, found[1], found[2] if found[2] is not None else found[3])
        pos = 0
        for _ in range(MOST_TRIES):
            tag = _BARE_TAG.search(body, pos)
            if tag is None:
                break
            end = body.find(f"</{tag[1]}>", tag.end())
            if end >= 0 and (not self._properties or tag[1] in self._properties):
                self._put(result, tag[1], self._trim(body[tag.end() : end]))
                pos = end
            else:
                pos = tag.end()
        if not result.found and len(self._properties) == 1 and "<" not in body:
            self._put(result, next(iter(self._properties)), body.strip())
        if not result.found:
            result.faults += 1

    def _from_json(self, body: str, result: Arguments) -> bool:
        try:
            value = decode(body)
        except NotJson:
            return False
        if not isinstance(value, dict):
            return False
        known = cast("dict[str, Any]", value)
        inner = next((known[key] for key in ("arguments", "parameters") if len(known) == 1 and key in known), known)
        result.given |= cast("dict[str, Any]", inner) if isinstance(inner, dict) else known
        result.found += 1
        return True


def parameters_for(context: Context, name: str, untyped: Reading = str, otherwise: Reading = str) -> Parameters:
    """The parameters of a tool, read as the format wants it and else as the dialect does."""
    return Parameters(context.tools, name, context.untyped or untyped, otherwise, context.trim)


class _Marks:
    """The parameter tags of a body, found once, so that a body full of them is still read in one go."""

    def __init__(self, body: str) -> None:
        self.body = body
        self._tags = list(_NAMELESS.finditer(body))
        self._tag_starts = [tag.start() for tag in self._tags]
        self._closes = list(_CLOSE.finditer(body))
        self._close_starts = [close.start() for close in self._closes]
        self._cdata_closed = True

    def tag_after(self, pos: int) -> re.Match[str] | None:
        at = bisect_left(self._tag_starts, pos)
        return self._tags[at] if at < len(self._tags) else None

    def tags_between(self, start: int, end: int) -> list[re.Match[str]]:
        at = bisect_left(self._tag_starts, start)
        return self._tags[at : min(bisect_left(self._tag_starts, end), at + MOST_TRIES)]

    def close_after(self, pos: int) -> re.Match[str] | None:
        at = bisect_left(self._close_starts, pos)
        return self._closes[at] if at < len(self._closes) else None

    def framed_close_after(self, pos: int) -> re.Match[str] | None:
        """The next closing tag that is followed by framing, or by nothing."""
        at = bisect_left(self._close_starts, pos)
        near = self._closes[at : at + MOST_TRIES]
        return next((close for close in near if _FRAMING.match(self.body, close.end())), None)

    def cdata_at(self, pos: int) -> tuple[str, int, bool] | None:
        """A value in CDATA, verbatim; it ends at the `]]>` that the parameter's closing tag follows."""
        opened = _CDATA.match(self.body, pos)
        if opened is None:
            return None
        end = opened.end()
        for _ in range(MOST_TRIES if self._cdata_closed else 0):
            end = self.body.find("]]>", end)
            if end < 0:
                self._cdata_closed = False
                break
            close = _CDATA_END.match(self.body, end + 3)
            if close is not None:
                return self.body[opened.end() : end], close.end(), True
            end += 3
        close = self.framed_close_after(opened.end())
        over = (close.start(), close.end()) if close else (len(self.body), len(self.body))
        return self.body[opened.end() : over[0]], over[1], False


def _key(tag: re.Match[str]) -> str:
    return (tag["a"] or tag["b"] or tag["c"] or "").strip()


def attributes_in(text: str) -> list[tuple[str, str]]:
    if not text:
        return []
    return [(found[1], found[2] if found[2] is not None else found[3]) for found in _ATTRIBUTE.finditer(text)]


def laid_out(text: str) -> str:
    """Without the one line break that layout puts after the opening and before the closing tag."""
    text = text.removeprefix("\r\n") if text.startswith("\r\n") else text.removeprefix("\n")
    return text.removesuffix("\r\n") if text.endswith("\r\n") else text.removesuffix("\n")
