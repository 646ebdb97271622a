"""Values as Python or JSON writes them, and calls as Python writes them, read by one small descent.

It takes what both languages allow and what models write although neither does: raw line breaks in strings, `null`
beside `None`, keywords as argument names, zeros before a number. It reads every character once and never executes
anything.
"""

import re
from typing import Any, NamedTuple

DEEPEST = 64

_SPACE = re.compile(r"\s*")
_NAME = re.compile(r"[A-Za-z_][\w\-]*(?:\.[A-Za-z_][\w\-]*)*")
_NUMBER = re.compile(r"[+-]?(?:\d[\d_]*)?(?:\.\d+|\.)?(?:[eE][+-]?\d+)?")
_PREFIX = re.compile(r"[rbuf]{0,2}(?=[\"'])", re.IGNORECASE)
_WORDS = {"true": True, "false": False, "null": None, "none": None}
_ESCAPES = {
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "b": "\b",
    "f": "\f",
    "a": "\a",
    "v": "\v",
    "0": "\0",
    "\\": "\\",
    "'": "'",
    '"': '"',
    "/": "/",
    "\n": "",
}
_CODES = {"x": 2, "u": 4, "U": 8}
_LONGEST_NUMBER = 400


class NotLiteral(ValueError):
    """The text is no value (or no call) of this kind."""


class PythonCall(NamedTuple):
    name: str
    positional: list[Any]
    named: dict[str, Any]


def read_value(text: str) -> Any:
    """The one value the text consists of."""
    value, end = _Reader(text).value(_skip(text, 0), DEEPEST)
    if _skip(text, end) != len(text):
        raise NotLiteral
    return value


def read_calls(text: str) -> list[PythonCall]:
    """`[f(a=1), g()]`, or the same without brackets, separated by commas, semicolons or line breaks."""
    return _Reader(text).calls()


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text

    def calls(self) -> list[PythonCall]:
        text, pos = self._text, _skip(self._text, 0)
        bracketed = text.startswith("[", pos)
        pos = _skip(text, pos + bracketed)
        found: list[PythonCall] = []
        while pos < len(text) and not (bracketed and text[pos] == "]"):
            call, pos = self._call(pos)
            found.append(call)
            pos = _skip(text, pos)
            if pos < len(text) and text[pos] in ",;":
                pos = _skip(text, pos + 1)
            elif bracketed and not text.startswith("]", pos):
                raise NotLiteral
        if bracketed and (not text.startswith("]", pos) or _skip(text, pos + 1) != len(text)):
            raise NotLiteral
        return found

    def _call(self, pos: int) -> tuple[PythonCall, int]:
        text = self._text
        name = _NAME.match(text, pos)
        if name is None or not text.startswith("(", name.end()):
            raise NotLiteral
        call = PythonCall(name.group(), [], {})
        pos = _skip(text, name.end() + 1)
        while not text.startswith(")", pos):
            key = _NAME.match(text, pos)
            equals = _skip(text, key.end()) if key else pos
            if key and text.startswith("=", equals):
                call.named[key.group()], pos = self.value(_skip(text, equals + 1), DEEPEST)
            else:
                value, pos = self.value(pos, DEEPEST)
                call.positional.append(value)
            pos = self._next(pos, ")")
        return call, pos + 1

    def value(self, pos: int, depth: int) -> tuple[Any, int]:
        text = self._text
        if depth == 0 or pos >= len(text):
            raise NotLiteral
        char = text[pos]
        if char == "{":
            return self._object(pos + 1, depth - 1)
        if char in "[(":
            return self._array(pos + 1, "]" if char == "[" else ")", depth - 1)
        prefix = _PREFIX.match(text, pos)
        if prefix is not None:
            return self._string(prefix.end(), raw="r" in prefix.group().lower())
        word = _NAME.match(text, pos)
        if word is not None:
            if word.group().lower() not in _WORDS:
                raise NotLiteral
            return _WORDS[word.group().lower()], word.end()
        return self._number(pos)

    def _object(self, pos: int, depth: int) -> tuple[dict[str, Any], int]:
        text, found = self._text, dict[str, Any]()
        pos = _skip(text, pos)
        while not text.startswith("}", pos):
            key, pos = self.value(pos, depth)
            pos = _skip(text, pos)
            if not isinstance(key, str | int | float | None) or not text.startswith((":", "="), pos):
                raise NotLiteral
            found[str(key)], pos = self.value(_skip(text, pos + 1), depth)
            pos = self._next(pos, "}")
        return found, pos + 1

    def _array(self, pos: int, end: str, depth: int) -> tuple[list[Any], int]:
        text, found = self._text, list[Any]()
        pos = _skip(text, pos)
        while not text.startswith(end, pos):
            value, pos = self.value(pos, depth)
            found.append(value)
            pos = self._next(pos, end)
        return found, pos + 1

    def _next(self, pos: int, end: str) -> int:
        """Past a comma, or to the end of what is open."""
        pos = _skip(self._text, pos)
        if self._text.startswith(",", pos):
            return _skip(self._text, pos + 1)
        if not self._text.startswith(end, pos):
            raise NotLiteral
        return pos

    def _string(self, pos: int, raw: bool) -> tuple[str, int]:
        text = self._text
        quote = text[pos] * 3 if text.startswith(text[pos] * 3, pos) else text[pos]
        pos += len(quote)
        parts: list[str] = []
        stop = re.compile(rf"\\|{quote}")
        while True:
            found = stop.search(text, pos)
            if found is None:
                raise NotLiteral
            parts.append(text[pos : found.start()])
            pos = found.end()
            if found.group() == quote:
                return "".join(parts), pos
            piece, pos = ("\\" + text[pos : pos + 1], pos + 1) if raw else self._escape(pos)
            parts.append(piece)

    def _escape(self, pos: int) -> tuple[str, int]:
        char = self._text[pos : pos + 1]
        if char in _CODES:
            digits = self._text[pos + 1 : pos + 1 + _CODES[char]]
            try:
                code = int(digits, 16) if len(digits) == _CODES[char] else -1
                if 0 <= code < 0x110000 and not 0xD800 <= code < 0xE000:
                    return chr(code), pos + 1 + _CODES[char]
            except ValueError:
                pass
        return _ESCAPES.get(char, "\\" + char), pos + 1

    def _number(self, pos: int) -> tuple[int | float, int]:
        found = _NUMBER.match(self._text, pos)
        digits = found.group() if found else ""
        if found is None or not any(char.isdigit() for char in digits) or len(digits) > _LONGEST_NUMBER:
            raise NotLiteral
        plain = digits.replace("_", "")
        number = float(plain) if any(char in plain for char in ".eE") else int(plain)
        if number in (float("inf"), float("-inf")):
            raise NotLiteral
        return number, found.end()


def _skip(text: str, pos: int) -> int:
    found = _SPACE.match(text, pos)
    return found.end() if found else pos
