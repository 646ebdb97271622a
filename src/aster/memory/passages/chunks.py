"""Cutting a text into passages small enough to be judged and shown as one.

A cut is made where a text has a joint: before a line that begins at the margin after a blank one, else at a blank
line, else anywhere, and then the next passage begins a few lines earlier.
"""

from dataclasses import dataclass

CHARS = 1_200
LINES = 40
OVERLAP = 4


@dataclass(frozen=True, slots=True)
class Passage:
    """Lines `first` to `last`, counted from 1, both included."""

    first: int
    last: int
    text: str


def passages(text: str) -> list[Passage]:
    """The passages of a text, in order; none of a text that is blank."""
    numbered = enumerate(text.replace("\r\n", "\n").split("\n"), 1)
    lines = [piece for number, line in numbered for piece in _pieces(number, line)]
    out: list[Passage] = []
    start = 0
    while start < len(lines):
        end = _full(lines, start)
        cut = end if end == len(lines) else _joint(lines, start, end)
        filled = next((place for place in range(start, cut) if lines[place][1].strip()), None)
        if filled is not None:
            body = "\n".join(line for _, line in lines[filled:cut]).strip("\n")
            out.append(Passage(lines[filled][0], lines[cut - 1][0], body))
        start = cut if cut < end or cut == len(lines) else max(cut - OVERLAP, start + 1)
    return out


def _pieces(number: int, line: str) -> list[tuple[int, str]]:
    """A line with its number, in several pieces when it alone would be more than a passage."""
    if len(line) <= CHARS:
        return [(number, line)]
    return [(number, line[at : at + CHARS]) for at in range(0, len(line), CHARS)]


def _full(lines: list[tuple[int, str]], start: int) -> int:
    """Where a passage that begins at `start` would be too large; at least one line fits."""
    size = 0
    for place in range(start, min(start + LINES, len(lines))):
        size += len(lines[place][1]) + 1
        if size > CHARS and place > start:
            return place
    return min(start + LINES, len(lines))


def _joint(lines: list[tuple[int, str]], start: int, end: int) -> int:
    """The last good place to cut in the second half; `end` when there is none."""
    half = start + max((end - start) // 2, 1)
    blanks = [place for place in range(end, half - 1, -1) if not lines[place - 1][1].strip()]
    margins = [place for place in blanks if _at_margin(lines[place][1])]
    return next(iter(margins or blanks), end)


def _at_margin(line: str) -> bool:
    """Whether something begins here, rather than ends."""
    return line[:1].strip() != "" and line[0] not in ")]}"
