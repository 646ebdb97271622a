"""Where a bracketed value ends, found as the text arrives, every character looked at once.

It knows strings and brackets and nothing else; whether what it bounded is a value is for the decoder to say. One
mistake it does notice at once: a brace that opens an object and is followed by neither a key nor its end.
"""

import json
import re

DEEPEST = 200
SHORT = 2 * DEEPEST
"""No value of at most so many characters is nested deeper than that."""

_DECODER = json.JSONDecoder(strict=False)

_DOUBLE = r"\"[^\"\\]*+(?:\\.[^\"\\]*+)*+\""
_SINGLE = r"'[^'\\]*+(?:\\.[^'\\]*+)*+'"
_PLAIN = {
    '"': re.compile(rf"(?:[^\"{{}}\[\]]++|{_DOUBLE})*+", re.DOTALL),
    "\"'": re.compile(rf"(?:[^\"'{{}}\[\]()]++|{_DOUBLE}|{_SINGLE})*+", re.DOTALL),
}
"""What is passed over, whole strings too. It stops at what counts: brackets, and a quote whose string goes on."""

_IN_STRING = {'"': re.compile(r'["\\]'), "'": re.compile(r"['\\]")}
_SOLID = re.compile(r"\S")
_KEY = ('"', "'", "}")
_PAIRS = {"}": "{", "]": "[", ")": "("}


def short_end(text: str, pos: int) -> int:
    """Where a short value ends that is JSON and all there; -1 says nothing."""
    if text.find("}", pos, pos + SHORT) < 0:
        return -1
    try:
        _, end = _DECODER.raw_decode(text[pos : pos + SHORT])
    except (ValueError, RecursionError):
        return -1
    return pos + end


class Balanced:
    """Give it the text from the first bracket on; `seek` gives the end of the value, or -1 for «go on».

    `quotes` are the characters that begin a string. After `failed`, the end is where the text stops making sense.
    """

    def __init__(self, quotes: str = '"') -> None:
        self.failed = False
        self._plain = _PLAIN[quotes]
        self._open: list[str] = []
        self._quote = ""
        self._escaped = False
        self._key_due = False

    def seek(self, text: str, pos: int) -> int:
        while True:
            if self._quote:
                pos = self._through_string(text, pos)
                if pos < 0:
                    return -1
            if self._key_due:
                solid = _SOLID.search(text, pos)
                if solid is None:
                    return -1
                if solid.group() not in "\"'}":
                    self.failed = True
                    return solid.start()
                self._key_due = False
            passed = self._plain.match(text, pos)
            pos = passed.end() + 1 if passed is not None else pos + 1
            if pos > len(text):
                return -1
            char = text[pos - 1]
            if char in "\"'":
                self._quote = char
            elif char in "{[(":
                self._open.append(char)
                self._key_due = char == "{" and text[pos : pos + 1] not in _KEY
                if len(self._open) > DEEPEST:
                    self.failed = True
                    return pos
            else:
                if not self._open or self._open.pop() != _PAIRS[char]:
                    self.failed = True
                    return pos - 1
                if not self._open:
                    return pos

    def _through_string(self, text: str, pos: int) -> int:
        if self._escaped:
            if pos >= len(text):
                return -1
            self._escaped = False
            pos += 1
        ends = _IN_STRING[self._quote]
        while (found := ends.search(text, pos)) is not None:
            if found.group() != "\\":
                self._quote = ""
                return found.end()
            pos = found.end() + 1
            if pos > len(text):
                self._escaped = True
                return -1
        return -1
