"""Calls without framing: a JSON object or array, a list of Python calls, alone or in a fenced block.

Nothing but its content says that such text is a call. So it is held back only while it still can be one: its first
key must be a call's, and where the format asks for it, the name must be that of an offered tool.
"""

import re

from aster.herald.text_tools.bounds import Balanced
from aster.herald.text_tools.dialects.base import Block, Context, Headed, Opening, Outcome, joined
from aster.herald.text_tools.dialects.values import FenceTail, python_calls
from aster.herald.text_tools.items import Broken, Item, Reason, Said
from aster.herald.text_tools.json_calls import KEYS, NAMES, NoCall, calls_in, whole_calls
from aster.herald.text_tools.literals import NotLiteral
from aster.herald.text_tools.values import NotJson, decode

LONGEST_HEAD = 300

_OBJECT = re.compile(r"\[?\s*\{\s*")
_KEY = re.compile(r"\"([^\"\\\n]{0,64})\"\s*:\s*")
_TEXT = re.compile(r'"([^"\\\n]{0,128})"')
_PYTHON = re.compile(r"\[\s*([A-Za-z_][\w.\-]{0,128})\s*\(")
_PYTHON_SO_FAR = re.compile(r"\[\s*(?:[A-Za-z_][\w.\-]{0,128}\s*)?")
_NAME = re.compile(r'"(?:name|tool_name|function)"\s*:\s*"([^"\\\n]{1,128})"')
_FENCE_HEAD = re.compile(r"[\w\-]{0,20}[ \t]*\r?\n\s*(?=[{\[])")
_FENCE_SO_FAR = re.compile(r"[\w\-]{0,20}[ \t]*(?:\r?\n\s*|\r)?")
_FENCED = ("", "json", "tool_call", "tool_calls", "tool_code", "tool", "function_call", "tool-call")


class BareBlock(Block):
    """One object, array or list of calls. `before` is the fence it stands in, if it does."""

    def __init__(self, context: Context, opener: str, *, json: bool, python: bool, before: str = "") -> None:
        self._context = context
        self._json = json
        self._python = python
        self._before = before
        self._head: str | None = opener
        self._bound = Balanced("\"'" if python else '"')
        self._parts: list[str] = []

    def push(self, text: str, pos: int, final: bool) -> Outcome | None:
        if self._head is not None:
            text, pos = joined(self._head, text, pos)
            near = text[pos : pos + LONGEST_HEAD]
            verdict = self._call_so_far(near, final or len(text) - pos > LONGEST_HEAD)
            if verdict is None:
                self._head = near
                return None
            if not verdict:
                return self._no_call(text, pos, near)
            self._head = None
        end = self._bound.seek(text, pos)
        if end < 0 and not final:
            self._parts.append(text[pos:])
            return None
        raw = "".join((*self._parts, text[pos : end if end >= 0 else None]))
        if end < 0:
            whole = whole_calls(raw, self._context.tools, raw)
            return Outcome([*whole, *self._cut_short("truncated", raw)], text, len(text))
        if self._bound.failed:
            return Outcome(self._cut_short("malformed", raw), text, end)
        if self._before:
            return Outcome([], text, end, FenceTail(lambda behind: self.read(raw, behind)))
        return Outcome(self.read(raw, ""), text, end)

    def _no_call(self, text: str, pos: int, near: str) -> Outcome:
        if self._context.bare_names or not self._python or not _PYTHON_SO_FAR.fullmatch(near):
            return Outcome([Said(self._before + near[:1])], text, pos + 1)
        return Outcome([Broken("truncated", near)], text, pos + len(near))

    def _call_so_far(self, text: str, decide: bool) -> bool | None:
        """Whether this is the beginning of a call; None while that cannot be told."""
        if self._python and text.startswith("["):
            python = _PYTHON.match(text)
            if python is not None:
                return self._offered(python.group(1))
            if _PYTHON_SO_FAR.fullmatch(text):
                return False if decide else None
        if not self._json:
            return False
        opening = _OBJECT.match(text)
        if opening is None or opening.end() == len(text):
            undecided = not text.strip("[{ \t\r\n") and _OBJECT_SO_FAR.fullmatch(text) is not None
            return None if undecided and not decide else False
        if not self._context.bare_names:
            return text[opening.end()] in "\"'"
        return self._named_so_far(text, opening.end(), decide)

    def _named_so_far(self, text: str, pos: int, decide: bool) -> bool | None:
        key = _KEY.match(text, pos)
        if key is None:
            return None if not decide and _KEY_SO_FAR.fullmatch(text, pos) else False
        if key.group(1) not in NAMES:
            return key.group(1) in KEYS or key.group(1) in self._context.tools.names
        if key.end() == len(text):
            return None if not decide else False
        if text[key.end()] == "{":
            return key.group(1) == "function"
        value = _TEXT.match(text, key.end())
        if value is None:
            return None if not decide and _TEXT_SO_FAR.fullmatch(text, key.end()) else False
        return self._offered(value.group(1))

    def _offered(self, name: str) -> bool:
        return not self._context.bare_names or self._context.tools.resolve(name) is not None

    def read(self, value: str, behind: str) -> list[Item]:
        """What the whole value means; `behind` is the end of its fence."""
        raw = self._before + value + behind
        try:
            if self._python:
                try:
                    return self._judged(python_calls(value, self._context.tools, raw), raw)
                except NotLiteral:
                    if not self._json:
                        raise
            return self._judged(calls_in(decode(value), self._context.tools, raw, bare=True), raw)
        except (NotLiteral, NoCall):
            return [Said(raw)]
        except NotJson:
            return self._cut_short("malformed", value)

    def _judged(self, items: list[Item], raw: str) -> list[Item]:
        """Without framing, only offered tools are calls: an unknown name makes it all prose."""
        if self._context.bare_names and any(isinstance(item, Broken) for item in items):
            return [Said(raw)]
        return items

    def _cut_short(self, reason: Reason, raw: str) -> list[Item]:
        name = _NAME.search(raw, 0, 2000) or _PYTHON.match(raw)
        offered = self._context.tools.resolve(name.group(1)) if name else None
        whole = self._before + raw
        if offered is None and self._context.bare_names:
            return [Said(whole)]
        return [Broken(reason, whole, offered)]


_OBJECT_SO_FAR = re.compile(r"\[?\s*\{?\s*")
_KEY_SO_FAR = re.compile(r"(?:\"[^\"\\\n]{0,64}(?:\"\s*)?)?")
_TEXT_SO_FAR = re.compile(r'"[^"\\\n]{0,128}')


class FenceBlock(Headed):
    """A fenced block while it is not yet known whether a call stands in it."""

    def push(self, text: str, pos: int, final: bool) -> Outcome | None:
        text, pos = joined(self._held, text, pos)
        head = _FENCE_HEAD.match(text, pos, pos + LONGEST_HEAD)
        if head is not None and head.group().split("\n")[0].strip().lower() in _FENCED:
            at = head.end()
            before = self._opener + head.group()
            block = BareBlock(self._context, text[at], json=True, python=True, before=before)
            return Outcome([], text, at + 1, block)
        short = len(text) - pos < LONGEST_HEAD
        if head is None and not final and short and _FENCE_SO_FAR.fullmatch(text, pos):
            self._held = text[pos:]
            return None
        return Outcome([Said(self._opener)], text, pos)


def bare_opening(*, json: bool = True, python: bool = False) -> Opening:
    def begin(context: Context, opener: str) -> Block:
        return BareBlock(context, opener, json=json, python=python)

    return begin
