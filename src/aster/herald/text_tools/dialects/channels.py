"""Replies in channels: Harmony (gpt-oss) and the XTML of Kimi K3.

A channel's header says what its text is: an answer, a thought, or a call. Headers are never shown.
"""

import re
from typing import Any

from aster.herald.text_tools.dialects.base import Context, Gathered, Headed, Outcome, joined
from aster.herald.text_tools.dialects.tokens import json_arguments
from aster.herald.text_tools.dialects.values import ValueBlock
from aster.herald.text_tools.items import Broken, Call, Item, Thought
from aster.herald.text_tools.values import NotJson, decode

LONGEST_HEADER = 400

_TO = re.compile(r"\bto=(?:functions\.)?([\w.\-]{1,200})")
_MESSAGE = "<|message|>"


class HarmonyBlock(Headed):
    """`<|channel|>` or `<|start|>` up to `<|message|>`, which decides what follows."""

    def push(self, text: str, pos: int, final: bool) -> Outcome | None:
        text, pos = joined(self._held, text, pos)
        end = text.find(_MESSAGE, pos, pos + LONGEST_HEADER)
        if end < 0:
            short = len(text) - pos < LONGEST_HEADER
            if final or not short:
                return Outcome([], text, len(text) if short else pos)
            self._held = text[pos:]
            return None
        header, after = text[pos:end], end + len(_MESSAGE)
        recipient = _TO.search(header)
        if recipient is not None:
            name = recipient[1]

            def read(_: str, value: str, context: Context, raw: str) -> list[Item]:
                return [json_arguments(name, value, context, raw)]

            return Outcome([], text, after, ValueBlock(self._context, self._opener + text[pos:after], read=read))
        if "analysis" in header:
            return Outcome([], text, after, ThoughtBlock(self._context, ""))
        return Outcome([], text, after)


class ThoughtBlock(Gathered):
    """A thought up to the end of its channel."""

    lookback = 16

    def _seek(self, text: str, pos: int, final: bool) -> int:
        found = re.compile(r"<\|(?:end|start|channel|return|call)\|>").search(text, pos)
        if found is None:
            return -1
        return found.end() if found.group() == "<|end|>" else found.start()

    def _read(self, body: str, whole: bool) -> list[Item]:
        return [Thought(body.removesuffix("<|end|>"))]


_CALL = re.compile(r"<\|open\|>call\s+([^<>]{0,400})<\|sep\|>")
_CALL_END = "<|close|>call<|sep|>"
_ARGUMENT = re.compile(r"<\|open\|>argument\s+([^<>]{0,400})<\|sep\|>")
_ARGUMENT_END = "<|close|>argument<|sep|>"
_ATTRIBUTE = re.compile(r'(\w{1,40})="([^"]*)"')
XTML_OPEN = "<|open|>tools<|sep|>"
XTML_CLOSE = "<|close|>tools<|sep|>"


class XtmlBlock(Gathered):
    """The tools channel; a call that was cut off is not in it."""

    lookback = len(XTML_CLOSE) - 1

    def _seek(self, text: str, pos: int, final: bool) -> int:
        end = text.find(XTML_CLOSE, pos)
        return end + len(XTML_CLOSE) if end >= 0 else -1

    def _read(self, body: str, whole: bool) -> list[Item]:
        items: list[Item] = []
        pos = 0
        raw = self.opener + body
        while (head := _CALL.search(body, pos)) is not None:
            end = body.find(_CALL_END, head.end())
            if end < 0:
                break
            pos = end + len(_CALL_END)
            items.append(self._call(_attributes(head[1]).get("tool", ""), body[head.end() : end], raw))
        if not items or not whole:
            items.append(Broken("truncated" if not whole else "no_function_tag", raw))
        return items

    def _call(self, name: str, body: str, raw: str) -> Item:
        given: dict[str, Any] = {}
        pos = 0
        while (head := _ARGUMENT.search(body, pos)) is not None:
            end = body.find(_ARGUMENT_END, head.end())
            if end < 0:
                break
            attributes = _attributes(head[1])
            text = body[head.end() : end]
            given[attributes.get("key", "")] = text if attributes.get("type", "string") == "string" else _json(text)
            pos = end + len(_ARGUMENT_END)
        offered = self.context.tools.resolve(name)
        call = Call(offered or name, given)
        return call if offered else Broken("unknown_tool", raw, name or None, call)


def _attributes(text: str) -> dict[str, str]:
    return {found[1]: found[2].replace("&quot;", '"').replace("&amp;", "&") for found in _ATTRIBUTE.finditer(text)}


def _json(text: str) -> Any:
    try:
        return decode(text)
    except NotJson:
        return text
