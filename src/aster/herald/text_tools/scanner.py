"""The incremental scanner: text in as it arrives, items out as soon as they are certain.

In prose it looks for opening markers and holds back only what may still become one; within a block it leaves the
text to the block. What comes out does not depend on how the text was cut, and every character is looked at a
bounded number of times.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

from aster.herald.text_tools.dialects.base import Block, Context, Opening
from aster.herald.text_tools.items import Item, Said, Thought

MOST_BLOCKS = 5
LONGEST_SPACE = 256
NEAR = 2
"""How many characters behind the first of a marker are looked at before it is compared."""


@dataclass(frozen=True, slots=True)
class Markers:
    """What a scanner looks for in prose: openers of blocks, and noise, which belongs to framing and is dropped.

    `at_line_start` are openers that count only as the first thing on a line; `separators` may stand between blocks.
    """

    openers: Mapping[str, Opening]
    noise: frozenset[str] = frozenset()
    at_line_start: frozenset[str] = frozenset()
    separators: str = ""


class MarkerIndex:
    """Markers prepared for search. Markers differ in case only by ASCII letters, and case does not count."""

    def __init__(self, markers: Markers) -> None:
        self.markers = markers
        words = sorted({word.lower() for word in (*markers.openers, *markers.noise)})
        self.longest = max(map(len, words), default=0)
        self.first = re.compile("|".join(_firsts(words)) or r"(?!)")
        self.word = re.compile(_longest_of(words) or r"(?!)", re.IGNORECASE | re.ASCII)
        self.beginnings = {word[:size] for word in words for size in range(1, len(word))}

    def unfinished(self, text: str, pos: int) -> int:
        """Where the text ends in something that may become a marker; its length if it does not."""
        size = len(text)
        start = max(pos, size - self.longest + 1)
        while (found := self.first.search(text, start)) is not None:
            start = found.start()
            if text[start:].lower() in self.beginnings:
                return start
            start += 1
        return size


def _longest_of(words: list[str]) -> str:
    """An expression for the longest of these words, which are sorted: what they share is compared once."""
    shared = ""
    for first, last in zip(words[0], words[-1], strict=False) if words else ():
        if first != last:
            break
        shared += first
    rests = [word[len(shared) :] for word in words]
    branches = [_longest_of(list(group)) for _, group in groupby(filter(None, rests), itemgetter(0))]
    if not branches:
        return re.escape(shared)
    return f"{re.escape(shared)}(?:{'|'.join(branches)}){'?' if '' in rests else ''}"


def _firsts(words: list[str]) -> list[str]:
    """What every marker begins with: its first character, if the two behind it fit or are still to come."""
    found: list[str] = []
    for first, rests in _by_first(words).items():
        behind = "" if "" in rests else f"(?={_next(rests, NEAR)})"
        found += [re.escape(char) + behind for char in sorted({first, first.upper()})]
    return found


def _next(words: list[str], depth: int) -> str:
    branches = [r"\Z"]
    for first, rests in _by_first(words).items():
        either = f"[{first}{first.upper()}]" if first.isalpha() else re.escape(first)
        branches.append(either if depth == 1 or "" in rests else f"{either}(?:{_next(rests, depth - 1)})")
    return "|".join(branches)


def _by_first(words: list[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for word in words:
        found.setdefault(word[0], []).append(word[1:])
    return found


class Scanner:
    """`feed` it the pieces of one reply, then `finish`; both give the items that are certain by now."""

    def __init__(self, index: MarkerIndex, context: Context, most: int = MOST_BLOCKS) -> None:
        self._index = index
        self._context = context
        self._left = most
        self._held = ""
        self._block: Block | None = None
        self._items: list[Item] = []
        self._last = "\n"
        self._line_clear = True
        self._after_block = False
        self._space = ""
        self._ended = ("", 0)

    def passes(self, text: str) -> bool:
        """Whether a piece is prose, all of it, at once; it needs no `feed` then."""
        if self._block is not None or self._held or self._after_block or self._index.first.search(text) is not None:
            return False
        self._note(text)
        return True

    def feed(self, text: str) -> list[Item]:
        if self.passes(text):
            return [Said(text)] if text else []
        self._run(text, final=False)
        return self._taken()

    def finish(self) -> list[Item]:
        self._run("", final=True)
        self._space = ""
        return self._taken()

    def _taken(self) -> list[Item]:
        items, self._items = self._items, []
        return _merged(items) if len(items) > 1 else items

    def _run(self, text: str, final: bool) -> None:
        pos = 0
        if self._held:
            text, self._held = self._held + text, ""
        while True:
            if self._block is None:
                pos = self._prose(text, pos, final)
                if self._block is None:
                    return
            outcome = self._block.push(text, pos, final)
            if outcome is None:
                return
            self._block = outcome.block
            text, pos = outcome.text, outcome.pos
            if outcome.items:
                self._came_to(outcome.items)

    def _came_to(self, items: list[Item]) -> None:
        asked, spare = False, self._left > 0
        for item in items:
            if isinstance(item, Said):
                self._said(item.text)
            elif isinstance(item, Thought):
                self._items.append(item)
            else:
                asked = True
                if spare:
                    self._items.append(item)
        if asked:
            self._left -= spare
            self._framing()

    def _framing(self) -> None:
        """A block or a piece of framing is over: the space that follows belongs to it."""
        self._after_block, self._space = True, ""
        self._last, self._line_clear = "", True

    def _prose(self, text: str, pos: int, final: bool) -> int:
        """Go through prose up to the next block, which is then open, or to the end."""
        index = self._index
        open_end = len(text) if final else self._open_end(text, pos)
        look = pos
        while (found := index.first.search(text, look, open_end)) is not None:
            start = found.start()
            word = index.word.match(text, start)
            if word is None:
                look = start + 1
                continue
            if start > pos:
                self._said(text[pos:start])
            pos = look = self._marker(word.group(), start)
            if self._block is not None:
                return pos
            if pos > open_end:
                open_end = len(text) if final else self._open_end(text, pos)
        if open_end > pos:
            self._said(text[pos:open_end])
        self._held = text[open_end:]
        return len(text)

    def _open_end(self, text: str, pos: int) -> int:
        """Where the text ends in something that may become a marker; found once for each text."""
        known, end = self._ended
        if known is not text or end < pos:
            end = self._index.unfinished(text, pos)
            self._ended = (text, end)
        return end

    def _marker(self, word: str, start: int) -> int:
        markers, key = self._index.markers, word.lower()
        end = start + len(word)
        if self._last == "`" or (key in markers.at_line_start and not self._line_clear):
            self._said(word)
        elif key in markers.openers:
            self._block = markers.openers[key](self._context, word)
        else:
            self._framing()
        return end

    def _said(self, text: str) -> None:
        """Prose; space between a block and the next, or the end, is dropped."""
        if self._after_block:
            self._space += text
            separators = self._index.markers.separators
            if len(self._space) <= LONGEST_SPACE and not self._space.strip().strip(separators):
                return
            text, self._space, self._after_block = self._space, "", False
        if not text:
            return
        self._note(text)
        self._items.append(Said(text))

    def _note(self, text: str) -> None:
        """Remember how the prose ends: with which character, and whether its last line is blank so far."""
        if not text:
            return
        self._last = text[-1]
        newline = text.rfind("\n")
        if newline >= 0 or self._line_clear:
            self._line_clear = not text[newline + 1 :].strip()


def _merged(items: list[Item]) -> list[Item]:
    """Neighbouring pieces of prose, or of thought, as one."""
    merged: list[Item] = []
    for kind, run in groupby(items, type):
        if kind is Said or kind is Thought:
            merged.append(kind("".join(item.text for item in run if isinstance(item, Said | Thought))))
        else:
            merged.extend(run)
    return merged
