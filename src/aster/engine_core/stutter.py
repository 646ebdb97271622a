"""A model that has begun to say the same thing over and over, noticed while it is still talking.

What streams in is read once, passage by passage: a passage ends with a line or a sentence, so the same words give
the same passages wherever they stand. Passages that were said before add up, new ones make up for them; what has
hardly any words in it (rules, drawings, columns of numbers) counts for nothing either way.
"""

import re
import sys
from collections.abc import Iterator

THOUGHT_CHARACTERS = 1500
ANSWER_CHARACTERS = 6000
"""How much of nothing new is too much: less in a thought than in an answer, where a refrain may be meant."""

STEERS = 1
"""How often a model is told and asked again before its turn ends; a step with tool calls gives it another chance."""

_PASSAGE = 60
_LETTERS = 12
"""So many different characters any sentence has; an answer made of fewer is a filling, not a thought."""
_LONGEST = 360
_SAID_BEFORE = 2
_MADE_UP = 2
_END = re.compile(r"\n|(?<![.!?。！？])[.!?。！？]")


class Stutter:
    """Reads one block as it streams. In an answer short lines are never held against it: they are lists, tables
    and code."""

    def __init__(self, *, thought: bool) -> None:
        self._thought = thought
        self._limit = THOUGHT_CHARACTERS if thought else ANSWER_CHARACTERS
        self._held = ""
        self._said: dict[int, int] = {}
        self._stale = 0

    def feed(self, text: str) -> str | None:
        """Read on; the passage that is being repeated, once that has gone too far."""
        if len(self._held) + len(text) <= _LONGEST and not _END.search(text):
            self._held += text
            return None
        return next((passage.strip() for passage in self._passages(text) if self._too_much(passage)), None)

    def let_be(self) -> None:
        """What is repeated is meant: nothing is noticed any more."""
        self._limit = sys.maxsize

    def _passages(self, text: str) -> Iterator[str]:
        held, start = self._held + text, 0
        for found in (*_END.finditer(held, len(self._held)), None):
            end = len(held) if found is None else found.end()
            while end - start > _LONGEST:
                yield held[start : start + _LONGEST]
                start += _LONGEST
            if found is None:
                break
            if end - start >= _PASSAGE:
                yield held[start:end]
                start = end
            elif found[0] == "\n" and not self._thought:
                start = end
        self._held = held[start:]

    def _too_much(self, passage: str) -> bool:
        if len(passage) < _LONGEST and 2 * sum(map(str.isalpha, passage)) < len(passage):
            return False
        if not self._thought and len(set(passage)) < _LETTERS:
            return False
        key = hash(passage.strip())
        count = self._said[key] = self._said.get(key, 0) + 1
        if count > _SAID_BEFORE:
            self._stale += len(passage)
        else:
            self._stale = max(0, self._stale - _MADE_UP * len(passage))
        return self._stale >= self._limit
