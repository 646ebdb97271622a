"""The `<tool_call>` tag and its like: what stands inside decides how it is read.

JSON, a list of Python calls, an element, a name with pairs, a tag named like a tool, or an element whose first
character was lost. A tag around none of these is prose, unless it is closed: then it was meant as a call.
"""

import re
from collections.abc import Callable
from typing import Literal, TypeAlias

from aster.herald.text_tools.dialects.base import Block, Context, Gathered, Headed, Opening, Outcome, joined
from aster.herald.text_tools.dialects.elements import ElementBlock
from aster.herald.text_tools.dialects.pairs import PairsBlock
from aster.herald.text_tools.dialects.parameters import attributes_in, parameters_for
from aster.herald.text_tools.dialects.values import CloserBlock, ValueBlock, any_value, plain_calls
from aster.herald.text_tools.items import Broken, Call, Item, Said

LONGEST_LEAD = 1000
LONGEST_PEEK = 260
PROSE_LIMIT = 400

Kind: TypeAlias = Literal["value", "element", "pairs", "tags"]
_Choice: TypeAlias = Callable[[str, int, int], Outcome]
EVERY_KIND: frozenset[Kind] = frozenset({"value", "element", "pairs", "tags"})

_LEAD = re.compile(r"\s*(?:\\n\s*)*")
_ELEMENT = re.compile(r"<(?:function|invoke)(?=[\s=_])", re.IGNORECASE)
_LOST = re.compile(r"function(?:\s*=|\s+name\s*=)", re.IGNORECASE)
_NAME = re.compile(r"[A-Za-z_][\w.\-/]{0,127}(?:\s|\\n)*(?=<|\Z)")
_NAME_SO_FAR = re.compile(r"[A-Za-z_][\w.\-/]{0,127}(?:\s|\\n?)*")
_PAIR_NEXT = re.compile(r"<(?:arg_key|tool_sep|/tool_call)", re.IGNORECASE)
_TAG = re.compile(r"<([A-Za-z_][\w.\-]{0,127})([^<>]{0,200})>")
_TAG_SO_FAR = re.compile(r"<[^<>]{0,250}")


class WrapperBlock(Block):
    """Looks at the first thing inside and hands over. Not `shown`, a broken call is shown without the tag."""

    def __init__(
        self,
        context: Context,
        opener: str,
        kinds: frozenset[Kind] = EVERY_KIND,
        closers: tuple[str, ...] = ("</tool_call>",),
        shown: bool = True,
    ) -> None:
        self._context = context
        self._kinds = kinds
        self._closers = closers
        self._opener = opener if shown else ""
        self._written = opener
        self._held = ""

    def push(self, text: str, pos: int, final: bool) -> Outcome | None:
        text, pos = joined(self._held, text, pos)
        lead = _LEAD.match(text, pos)
        start = lead.end() if lead else pos
        if start - pos > LONGEST_LEAD:
            return self._prose(text, pos, start)
        inside = text[start : start + LONGEST_PEEK]
        choice = self._choose(inside, final or len(text) - start >= LONGEST_PEEK)
        if choice is None:
            self._held = text[pos:]
            return None
        return choice(text, pos, start)

    def _choose(self, inside: str, decide: bool) -> _Choice | None:
        waits = None if not decide else self._prose
        if not inside:
            return self._cut_off if decide else None
        if inside[0] == "<":
            return self._tag(inside, decide)
        if inside in ("`", "``", "\\"):
            return waits
        if inside[0] in "{[" or inside.startswith("```"):
            return self._value if "value" in self._kinds else self._prose
        if "element" in self._kinds:
            if _LOST.match(inside):
                return self._restored
            if any(word.startswith(inside.lower()) for word in ("function=", "function name=")):
                return waits
        if "pairs" in self._kinds:
            name = _NAME.match(inside)
            if name is not None and name.end() < len(inside):
                after = inside[name.end() : name.end() + 12].lower()
                if _PAIR_NEXT.match(after):
                    return self._pairs
                if not decide and any(word.startswith(after) for word in ("<arg_key", "<tool_sep", "</tool_call")):
                    return None
            elif not decide and _NAME_SO_FAR.fullmatch(inside):
                return None
            elif decide and _NAME_SO_FAR.fullmatch(inside):
                return self._pairs
        return self._prose

    def _tag(self, inside: str, decide: bool) -> _Choice | None:
        if "element" in self._kinds and _ELEMENT.match(inside):
            return self._element
        if "pairs" in self._kinds and _PAIR_NEXT.match(inside) and not inside.lower().startswith("</"):
            return self._pairs
        tag = _TAG.match(inside)
        if tag is None:
            if inside.lower().startswith(self._closers) or not _TAG_SO_FAR.fullmatch(inside):
                return self._prose
            return self._cut_off if decide else None
        if tag[1].lower() in ("tool_call", "tool_calls"):
            return self._again
        if "tags" in self._kinds and not self._context.tools.unnamed and self._context.tools.resolve(tag[1]):
            return self._tool_tag
        return self._prose

    def _value(self, text: str, pos: int, start: int) -> Outcome:
        return Outcome(
            [], text, pos, ValueBlock(self._context, self._opener, read=any_value, closers=self._closers)
        )

    def _element(self, text: str, pos: int, start: int) -> Outcome:
        before = self._opener + text[pos:start]
        return Outcome([], text, start + 1, ElementBlock(self._context, "<", before=before))

    def _restored(self, text: str, pos: int, start: int) -> Outcome:
        return Outcome([], text, start, ElementBlock(self._context, "<", before=self._opener + text[pos:start]))

    def _pairs(self, text: str, pos: int, start: int) -> Outcome:
        return Outcome([], text, pos, PairsBlock(self._context, self._opener))

    def _tool_tag(self, text: str, pos: int, start: int) -> Outcome:
        return Outcome([], text, start, ToolTagBlock(self._context, self._opener + text[pos:start]))

    def _again(self, text: str, pos: int, start: int) -> Outcome:
        """The tag was written twice: the inner one counts."""
        return Outcome([], text, start)

    def _cut_off(self, text: str, pos: int, start: int) -> Outcome:
        return Outcome([Broken("truncated", self._opener + text[pos:])], text, len(text))

    def _prose(self, text: str, pos: int, start: int) -> Outcome:
        plain = plain_calls if "value" in self._kinds else None
        block = CloserBlock(self._context, self._opener, self._closers, limit=PROSE_LIMIT, plain=plain)
        return Outcome([], text, pos, block)


class ToolTagBlock(Gathered):
    """`<tool>…</tool>`, where the tag is the name of an offered tool."""

    lookback = 140

    def __init__(self, context: Context, before: str) -> None:
        super().__init__(context, before)
        self._close = ""

    def _seek(self, text: str, pos: int, final: bool) -> int:
        if not self._close:
            tag = _TAG.match(text, pos)
            if tag is None:
                return len(text) if final else -1
            self._close = f"</{tag[1]}>"
        end = text.find(self._close, pos)
        return end + len(self._close) if end >= 0 else -1

    def _read(self, body: str, whole: bool) -> list[Item]:
        tag = _TAG.match(body)
        name = self.context.tools.resolve(tag[1]) if tag else None
        if tag is None or name is None:
            return [Said(self.opener + body)]
        inner = body[tag.end() :].removesuffix(self._close)
        arguments = parameters_for(self.context, name).read(inner, tag[2])
        call = Call(name, arguments.given)
        if not whole:
            return [Broken("truncated", self.opener + body, name, call)]
        if arguments.faults and not arguments.found:
            return [Broken("malformed", self.opener + body, name)]
        return [call]


class NamedWrapperBlock(Headed):
    """`<tool_call name="x">` and `<tool name="x">`: the wrapper is the element."""

    def push(self, text: str, pos: int, final: bool) -> Outcome | None:
        text, pos = joined(self._held, text, pos)
        tag = _REST_OF_TAG.match(text, pos)
        if tag is None:
            if final or not _REST_SO_FAR.fullmatch(text, pos):
                return Outcome([Said(self._opener)], text, pos)
            self._held = text[pos:]
            return None
        opener, attributes = self._opener + tag.group(), tag.group()[:-1]
        name = dict(attributes_in(attributes)).get("name", "")
        if not name or self._context.tools.resolve(name) is None:
            return Outcome([], text, tag.end(), WrapperBlock(self._context, opener))
        return Outcome([], text, tag.end(), _NamedBody(self._context, opener, name, attributes))


class _NamedBody(Gathered):
    lookback = 16

    def __init__(self, context: Context, opener: str, name: str, attributes: str) -> None:
        super().__init__(context, opener)
        self._name = name
        self._attributes = attributes

    def _seek(self, text: str, pos: int, final: bool) -> int:
        found = _NAMED_END.search(text, pos)
        return found.start() if found else -1

    def _read(self, body: str, whole: bool) -> list[Item]:
        name = self.context.tools.resolve(self._name) or self._name
        arguments = parameters_for(self.context, name).read(body, self._attributes)
        call = Call(name, arguments.given)
        if not whole:
            return [Broken("truncated", self.opener + body, name, call)]
        return [call]


_REST_OF_TAG = re.compile(r"[^<>]{0,250}>")
_REST_SO_FAR = re.compile(r"[^<>]{0,250}")
_NAMED_END = re.compile(r"</tool(?:_call)?>", re.IGNORECASE)


def wrapper_opening(
    kinds: frozenset[Kind] = EVERY_KIND, closers: tuple[str, ...] = ("</tool_call>",), shown: bool = True
) -> Opening:
    def begin(context: Context, opener: str) -> Block:
        return WrapperBlock(context, opener, kinds, closers, shown)

    return begin
