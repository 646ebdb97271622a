"""Calls written as a value: JSON or Python behind an opening marker, between markers, or after a tool's name.

The value ends where its brackets do, so a closing marker inside a string cannot cut it, and a missing one is not
missed. What stands before the value must be what the dialect allows there; otherwise the block runs to its closing
marker and is no call.
"""

import re
from collections.abc import Callable
from functools import cache
from typing import TypeAlias

from aster.herald.text_tools.bounds import Balanced, short_end
from aster.herald.text_tools.dialects.base import Block, Context, Gathered, Opening, Outcome, joined
from aster.herald.text_tools.items import Broken, Item, Reason, Said
from aster.herald.text_tools.json_calls import NoCall, calls_in, named, whole_calls
from aster.herald.text_tools.literals import NotLiteral, PythonCall, read_calls
from aster.herald.text_tools.toolbox import Toolbox
from aster.herald.text_tools.values import NotJson, decode

LONGEST_LEAD = 300

CALLED = re.compile(r"\s*[\w.\-]*\s*")
FENCE = re.compile(r"\s*(?:```\w*\s*)?")
NAMED = re.compile(r"\s*([\w.\-/:]*?)\s*(?:\[CALL_ID\]\s*[\w\-]*\s*)?(?:\[ARGS\])?\s*")

Reading: TypeAlias = Callable[[str, str, Context, str], list[Item]]
"""From what stood before the value, the value and the whole block to items."""


Plain: TypeAlias = Callable[[str, Context, str], list[Item]]
"""From the rest of a block and the whole block to items."""


def json_value(lead: str, value: str, context: Context, raw: str) -> list[Item]:
    """JSON calls, behind a name or with their own."""
    try:
        read = decode(value)
        name = NAMED.fullmatch(lead)
        if name and name.group(1) and isinstance(read, dict):
            return [named(name.group(1), read, context.tools, raw)]
        return calls_in(read, context.tools, raw)
    except (NotJson, NoCall):
        return [Broken("malformed", raw)]


def python_tag(lead: str, value: str, context: Context, raw: str) -> list[Item]:
    """JSON calls, or one call in Python; `x.call(…)` calls the tool x."""
    if not value.startswith("("):
        return json_value("", value, context, raw)
    try:
        return python_calls(lead.strip().removesuffix(".call") + value, context.tools, raw)
    except NotLiteral:
        return [Broken("malformed", raw)]


def any_value(lead: str, value: str, context: Context, raw: str) -> list[Item]:
    """JSON calls, or calls in Python."""
    if value.startswith("[") and not value[1:].lstrip().startswith("{"):
        try:
            return python_calls(value, context.tools, raw)
        except NotLiteral:
            pass
    return json_value(lead, value, context, raw)


def plain_calls(body: str, context: Context, raw: str) -> list[Item]:
    """Calls in Python one after the other, without brackets around them."""
    try:
        return python_calls(body, context.tools, raw)
    except NotLiteral:
        return [Broken("no_function_tag", raw)]


def python_calls(value: str, tools: Toolbox, raw: str) -> list[Item]:
    """`[f(a=1)]`; arguments without a name are those of the schema, in its order."""
    calls = read_calls(value)
    if not calls:
        raise NotLiteral
    return [named(call.name, _arguments(call, tools), tools, raw) for call in calls]


def _arguments(call: PythonCall, tools: Toolbox) -> dict[str, object]:
    names = [key for key in tools.properties(tools.resolve(call.name) or "") if key not in call.named]
    if len(call.positional) > len(names):
        raise NotLiteral
    return {**dict(zip(names, call.positional, strict=False)), **call.named}


class ValueBlock(Block):
    """One bracketed value behind an opener. `begun` is the part of the value that the opener already holds."""

    def __init__(
        self,
        context: Context,
        opener: str,
        *,
        lead: re.Pattern[str] = FENCE,
        read: Reading = json_value,
        closers: tuple[str, ...] = (),
        begun: str = "",
        quotes: str = '"',
    ) -> None:
        self._context = context
        self._opener = opener
        self._lead_form = lead
        self._read = read
        self._closers = closers
        self._bound = Balanced(quotes)
        self._begun = begun
        self._lead: str | None = None
        self._parts: list[str] = []
        if begun:
            self._lead = ""
            self._bound.seek(begun, 0)

    def push(self, text: str, pos: int, final: bool) -> Outcome | None:
        if self._lead is None:
            text, pos = joined("".join(self._parts), text, pos)
            self._parts = []
            start = self._value_start(text, pos)
            if start < 0:
                if not final and len(text) - pos <= LONGEST_LEAD and self._may_lead(text[pos:]):
                    self._parts = [text[pos:]]
                    return None
                return self._no_value(text, pos, final)
            self._lead, pos = text[pos:start], start
            end = short_end(text, pos)
        else:
            end = -1
        if end < 0:
            end = self._bound.seek(text, pos)
        if end < 0 and not final:
            self._parts.append(text[pos:])
            return None
        value = self._begun + "".join((*self._parts, text[pos : end if end >= 0 else None]))
        raw = f"{self._opener.removesuffix(self._begun)}{self._lead}{value}"
        if end >= 0 and not self._bound.failed:
            items = self._read(self._lead, value, self._context, raw)
            return (
                Outcome([], text, end, FenceTail(lambda _: items))
                if "```" in self._lead
                else Outcome(items, text, self._past_closer(text, end))
            )
        if end < 0:
            return Outcome(self._cut_off(value, raw), text, len(text))
        return self._spoilt(raw, text, end, value)

    def _past_closer(self, text: str, end: int) -> int:
        """Behind the closing marker, if it is there already; framing it is in any case."""
        close = _closing(self._closers).match(text, end) if self._closers else None
        return close.end() if close is not None else end

    def _cut_off(self, value: str, raw: str) -> list[Item]:
        """The reply ended within the value: of a list, the calls that are whole count."""
        broken = Broken("truncated", raw, _hinted_name(value))
        return [*whole_calls(value, self._context.tools, raw), broken]

    def _value_start(self, text: str, pos: int) -> int:
        solid = _SOLID.search(text, pos)
        if solid is None:
            return -1
        if solid.group() in "{[" and solid.start() - pos < LONGEST_LEAD:
            return solid.start()
        brackets = _BRACKETS[self._lead_form] if solid.group() not in "{[" else _BRACKET
        found = brackets.search(text, pos, pos + LONGEST_LEAD)
        if found is None or not self._lead_form.fullmatch(text, pos, found.start()):
            return -1
        return found.start()

    def _may_lead(self, text: str) -> bool:
        """Whether what has come may still be what stands before a value."""
        if any(closer in text for closer in self._closers):
            return False
        return _LEADING.fullmatch(text) is not None

    def _no_value(self, text: str, pos: int, final: bool) -> Outcome:
        if final and len(text) - pos <= LONGEST_LEAD and self._may_lead(text[pos:]):
            return Outcome([Broken("truncated", self._opener + text[pos:])], text, len(text))
        if not self._closers:
            return Outcome([Broken("no_function_tag", self._opener)], text, pos)
        plain = plain_calls if self._read is any_value else None
        return Outcome([], text, pos, CloserBlock(self._context, self._opener, self._closers, plain=plain))

    def _spoilt(self, raw: str, text: str, end: int, value: str) -> Outcome:
        name = _hinted_name(value)
        if not self._closers:
            return Outcome([Broken("malformed", raw, name)], text, end)
        return Outcome([], text, end, CloserBlock(self._context, raw, self._closers, "malformed", name))


@cache
def _closing(closers: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(rf"\s*(?:{'|'.join(map(re.escape, closers))})", re.IGNORECASE | re.ASCII)


class FenceTail(Block):
    """The end of the fence behind a value, which belongs to it."""

    def __init__(self, done: Callable[[str], list[Item]]) -> None:
        self._done = done
        self._held = ""

    def push(self, text: str, pos: int, final: bool) -> Outcome | None:
        text, pos = joined(self._held, text, pos)
        fence = _FENCE_END.match(text, pos, pos + LONGEST_LEAD)
        short = len(text) - pos < LONGEST_LEAD
        if fence is None and not final and short and _FENCE_END_SO_FAR.fullmatch(text, pos):
            self._held = text[pos:]
            return None
        end = fence.end() if fence else pos
        return Outcome(self._done(text[pos:end]), text, end)


_FENCE_END = re.compile(r"\s*```")
_FENCE_END_SO_FAR = re.compile(r"\s*`{0,2}")
_SOLID = re.compile(r"\S")
_BRACKET = re.compile(r"[{\[]")
_BRACKETS = {FENCE: _BRACKET, NAMED: re.compile(r"\{"), CALLED: re.compile(r"[{(]")}
"""What a value begins with, behind each kind of lead."""

_LEADING = re.compile(r"[\s`\w.\-/:]*(?:\[[\w\]\-\s]*)*")
_NAME_KEY = re.compile(r'"(?:name|tool_name|function)"\s*:\s*"([\w.\-]{1,128})"')


def _hinted_name(value: str) -> str | None:
    found = _NAME_KEY.search(value, 0, 2000)
    return found.group(1) if found else None


class CloserBlock(Gathered):
    """The rest of a block that is no call, up to its closing marker.

    With a `limit`, an opener without its closing marker within so many characters was prose after all. `plain`
    reads the rest if it may be calls nevertheless.
    """

    def __init__(
        self,
        context: Context,
        opener: str,
        closers: tuple[str, ...],
        reason: Reason = "no_function_tag",
        name: str | None = None,
        limit: int | None = None,
        plain: Plain | None = None,
    ) -> None:
        super().__init__(context, opener)
        self._reason: Reason = reason
        self._name = name
        self._limit = limit
        self._plain = plain
        self._end = re.compile("|".join(map(re.escape, closers)), re.IGNORECASE | re.ASCII)
        self.lookback = max(map(len, closers)) - 1 if limit is None else limit

    def push(self, text: str, pos: int, final: bool) -> Outcome | None:
        if self._limit is None:
            return super().push(text, pos, final)
        text, pos = joined(self._tail, text, pos)
        found = self._end.search(text, pos, pos + self._limit)
        if found is not None:
            return Outcome(self._read(text[pos : found.end()], True), text, found.end())
        if final or len(text) - pos >= self._limit:
            return Outcome([Said(self.opener)], text, pos)
        self._tail = text[pos:]
        return None

    def _seek(self, text: str, pos: int, final: bool) -> int:
        found = self._end.search(text, pos)
        return found.end() if found else -1

    def _read(self, body: str, whole: bool) -> list[Item]:
        raw = self.opener + body
        if self._plain is not None and whole:
            return self._plain(self._end.sub("", body), self.context, raw)
        return [Broken(self._reason if whole else "truncated", raw, self._name)]


def value_opening(
    *,
    lead: re.Pattern[str] = FENCE,
    read: Reading = json_value,
    closers: tuple[str, ...] = (),
    begun: str = "",
    quotes: str = '"',
) -> Opening:
    """The opening of a block that holds one value."""

    def begin(context: Context, opener: str) -> Block:
        return ValueBlock(context, opener, lead=lead, read=read, closers=closers, begun=begun, quotes=quotes)

    return begin
