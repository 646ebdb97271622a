"""Calls as elements: `<function=x>`, `<function name="x">`, `<invoke name="x">` and their kin, with or without a
wrapper around them.

An element ends at a closing tag up to which its parameters are all closed; a closing tag quoted inside a value does
not end it. It never reaches over the beginning of another call of an offered tool.
"""

import re
from typing import cast

from aster.herald.text_tools.dialects.base import Block, Context, Outcome, joined
from aster.herald.text_tools.dialects.parameters import NAMESPACE, Arguments, parameters_for
from aster.herald.text_tools.items import Broken, Call, Item, Reason, Said

LONGEST_HEAD = 300
MOST_ATTEMPTS = 8

HEAD = re.compile(
    rf"<{NAMESPACE}(?P<tag>function|invoke)(?:_name)?(?:\s*=\s*|\s+name\s*=\s*)"
    r"(?:\"(?P<a>[^\"<>\n]{0,200})\"|'(?P<b>[^'<>\n]{0,200})'|(?P<c>[^\s<>\"'/]{1,200}))(?P<rest>[^<>]{0,300})>",
    re.IGNORECASE,
)
_HEAD_SO_FAR = re.compile(r"<[^<>]*")
_CALL_SO_FAR = re.compile(rf"<{NAMESPACE}(?:function|invoke)(?:_name|\s)?[^<>]*", re.IGNORECASE)
_BOUNDARY = re.compile(
    rf"<(?:(?P<close>/{NAMESPACE}(?:function|invoke)\s*>)|(?P<next>{NAMESPACE}(?:function|invoke)[\s=_])"
    r"|(?P<cdata>!\[CDATA\[))|\]\]>",
    re.IGNORECASE,
)
_LOOKBACK = 24
_BEGINNING = re.compile(r"[<\]]")
_FRAME_END = re.compile(r"\s*</tool_call>", re.IGNORECASE)
_FRAME = re.compile(r"</?(?:tool_calls?|function_calls?)>\Z", re.IGNORECASE)


def name_in(head: re.Match[str]) -> str:
    return (head["a"] or head["b"] or head["c"] or "").strip()


class ElementBlock(Block):
    """One call element. The opener is the beginning of its tag; `before` is framing that is already behind it."""

    def __init__(self, context: Context, opener: str, before: str = "") -> None:
        self._context = context
        self._before = before
        self._tag = opener
        self._head: re.Match[str] | None = None
        self._body: list[str] = []
        self._tail = ""
        self._attempts = 0
        self._fallback: tuple[int, int] | None = None
        self._length = 0
        self._in_cdata = False

    def push(self, text: str, pos: int, final: bool) -> Outcome | None:
        if self._head is None:
            text, pos = joined(self._tag, text, pos)
            head = HEAD.match(text, pos, pos + LONGEST_HEAD)
            if head is None:
                if not final and len(text) - pos < LONGEST_HEAD and _HEAD_SO_FAR.fullmatch(text, pos):
                    self._tag = text[pos:]
                    return None
                return self._no_head(text, pos, final)
            self._head, pos = head, head.end()
            if head["rest"].rstrip().endswith("/"):
                return Outcome(self._read("", ""), text, pos)
        if self._tail:
            text, pos, self._tail = self._tail + text[pos:], 0, ""
        elif pos == 0 and not final and _BEGINNING.search(text) is None:
            self._body.append(text)
            self._length += len(text)
            return None
        return self._to_end(text, pos, final)

    def _no_head(self, text: str, pos: int, final: bool) -> Outcome:
        if final and _CALL_SO_FAR.fullmatch(text, pos):
            return Outcome([Broken("truncated", self._before + text[pos:])], text, len(text))
        first = text[pos : pos + 1]
        if self._before:
            return Outcome([Broken("no_function_tag", self._before + first)], text, pos + 1)
        return Outcome([Said(first)], text, pos + 1)

    def _to_end(self, text: str, pos: int, final: bool) -> Outcome | None:
        look = pos
        while (found := _BOUNDARY.search(text, look)) is not None:
            look = found.end()
            if found.lastgroup in (None, "cdata"):
                self._in_cdata = found.lastgroup is not None
            elif found.lastgroup == "next":
                if not final and _HEAD_SO_FAR.fullmatch(text, found.start(), found.start() + LONGEST_HEAD):
                    break
                if not self._in_cdata and self._another(text, found.start()):
                    return self._stop(text, pos, found.start())
            else:
                self._attempts += 1
                items = self._try("".join((*self._body, text[pos : found.start()])), found.group())
                if items:
                    return Outcome(items, text, self._past_frame(text, found.end()))
                if self._fallback is None:
                    self._fallback = (self._length + found.start() - pos, self._length + found.end() - pos)
        if final:
            return self._stop(text, pos, len(text), cut_off=True)
        cut = found.start() if found is not None else _unfinished(text, max(look, len(text) - _LOOKBACK))
        self._body.append(text[pos:cut])
        self._length += cut - pos
        self._tail = text[cut:]
        return None

    def _past_frame(self, text: str, end: int) -> int:
        """Behind the closing tag of the wrapper, if the element stands in one and the tag is there already."""
        close = _FRAME_END.match(text, end) if self._before else None
        return close.end() if close is not None else end

    def _another(self, text: str, start: int) -> bool:
        """Whether a call of an offered tool begins here."""
        head = HEAD.match(text, start, start + LONGEST_HEAD)
        return head is not None and self._context.tools.resolve(name_in(head)) is not None

    def _stop(self, text: str, pos: int, end: int, cut_off: bool = False) -> Outcome:
        """No closing tag was the end: it is the first one after all, or the next call, or the end of the reply."""
        body = "".join((*self._body, text[pos:end]))
        inner = body[: self._fallback[0]] if self._fallback is not None else _unframed(body)
        over = self._fallback[1] if self._fallback is not None else len(inner)
        items = self._read(inner, body[:over], cut_off=cut_off and inner == body)
        back = len(body) - over
        if back <= end - pos:
            return Outcome(items, text, end - back)
        return Outcome(items, body[over:] + text[end:], 0)

    def _try(self, body: str, close: str) -> list[Item]:
        """The call, if the element is over here; the last attempt takes what there is."""
        return self._read(body, body, close, must_be_whole=self._attempts < MOST_ATTEMPTS)

    def _read(
        self, body: str, written: str, close: str = "", *, must_be_whole: bool = False, cut_off: bool = False
    ) -> list[Item]:
        """What a body comes to; `written` and `close` are what stands behind the head."""
        assert self._head is not None
        name = name_in(self._head)
        offered = self._context.tools.resolve(name)
        arguments = parameters_for(self._context, offered or name).read(body, self._head["rest"])
        if must_be_whole and not arguments.whole:
            return []
        call = Call(offered or name, arguments.given)
        reason: Reason | None = None
        if offered is None:
            reason = "unknown_tool"
        elif cut_off:
            reason = "truncated"
        elif self._refused(call, arguments):
            reason = "malformed"
        if reason is None:
            return [call]
        return [Broken(reason, self._before + self._head.group() + written + close, offered or name, call)]

    def _refused(self, call: Call, arguments: Arguments) -> bool:
        if not self._context.strict:
            return bool(arguments.faults) and not arguments.found
        return bool(arguments.faults) or self._lacking(call)

    def _lacking(self, call: Call) -> bool:
        required = self._context.tools.schema(call.name).get("required")
        return isinstance(required, list) and not call.arguments.keys() >= set(cast("list[str]", required))


def _unfinished(text: str, start: int) -> int:
    """Where the last thing begins that may yet become a boundary."""
    found = _BEGINNING.search(text, start)
    return found.start() if found is not None else len(text)


def _unframed(body: str) -> str:
    """Without the framing at the end of a body that was not closed itself: tags of its wrapper, or of the next."""
    while True:
        bare = body.rstrip()
        tag = _FRAME.search(bare, max(0, len(bare) - LONGEST_HEAD))
        if tag is None:
            return body
        body = bare[: tag.start()]
