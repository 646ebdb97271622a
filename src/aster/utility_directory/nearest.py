"""What a text that is not in a file was probably meant to be: the place most like it, and what the difference is.

Models mostly fail by white space, so that is told apart first and said in words. However large both texts are, the
search is linear; only a few lines are ever compared letter by letter.
"""

import difflib
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence

from aster.sandbox.capture import cut

_SHOWN = 4_000
_LINES_SHOWN = 60
_LINES_COMPARED = 5_000
_WANTED_COMPARED = 200
_PLACES_PER_LINE = 50
_CHARACTERS_COMPARED = 300
_SIMILAR = 0.6
_ALIKE = str.maketrans({"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"', "\u2013": "-", "\u2014": "-"})


def nearest(old: str, text: str) -> str:
    """A sentence, and the text that is there instead; for the model that gave `old`."""
    wanted, lines = old.split("\n"), text.split("\n")
    while len(wanted) > 1 and not wanted[0].strip():
        wanted.pop(0)
    while len(wanted) > 1 and not wanted[-1].strip():
        wanted.pop()
    if not any(line.strip() for line in wanted):
        return " It is nothing but white space; include some of the text around it."
    for difference, normal in _NORMAL_FORMS if not (old + text).isascii() else _NORMAL_FORMS[:-1]:
        start = _sequence(map(normal, wanted), map(normal, lines))
        if start is not None:
            there = lines[start : start + len(wanted)]
            said = difference(wanted, there)
            return f" From line {start + 1} on it differs only in {said}. It is there as:\n{_cut(there)}"
    start = _most_alike(wanted, lines)
    if start is None:
        return " Nothing in it is similar; read the file again."
    there = lines[start : start + len(wanted)]
    changes = list(difflib.ndiff(_short(wanted), _short(there))) if len(wanted) <= _LINES_SHOWN else []
    shown = [line.rstrip("\r\n") for line in changes if line[0] in " -+"]
    if not shown:
        return f" The nearest text, from line {start + 1}, is:\n{_cut(there)}"
    body = cut("\n".join(shown), _SHOWN)
    return f" The nearest text is from line {start + 1} on (- as you gave it, + as it is there):\n{body}"


def _ends(wanted: Sequence[str], there: Sequence[str]) -> str:
    if [line.rstrip("\r") for line in wanted] == [line.rstrip("\r") for line in there]:
        return "its line ends: " + (
            "the file has CRLF there" if any(line.endswith("\r") for line in there) else "the file has LF there"
        )
    return "white space at the ends of lines"


def _indentation(wanted: Sequence[str], there: Sequence[str]) -> str:
    given, real = _margins(wanted), _margins(there)
    return f"its indentation ({real} in the file, {given} in old_text)" if given != real else "its indentation"


def _margins(lines: Sequence[str]) -> str:
    margin = "".join(line[: len(line) - len(line.lstrip())] for line in lines)
    kinds = [name for sign, name in ((" ", "spaces"), ("\t", "tabs")) if sign in margin]
    return " and ".join(kinds) or "none"


def _spacing(wanted: Sequence[str], there: Sequence[str]) -> str:
    del wanted, there
    return "white space within lines"


def _letters(wanted: Sequence[str], there: Sequence[str]) -> str:
    del wanted, there
    return "characters that look alike (quotes, dashes, or accents written another way)"


def _words(line: str) -> str:
    return " ".join(line.split())


def _look(line: str) -> str:
    return _words(unicodedata.normalize("NFKC", line).translate(_ALIKE))


_Difference = Callable[[Sequence[str], Sequence[str]], str]
_NORMAL_FORMS: tuple[tuple[_Difference, Callable[[str], str]], ...] = (
    (_ends, str.rstrip),
    (_indentation, str.strip),
    (_spacing, _words),
    (_letters, _look),
)


def _sequence(wanted: Iterable[str], lines: Iterable[str]) -> int | None:
    """Where these lines follow each other; the first may be the end of a longer one, the last the beginning."""
    text = "\n".join(lines)
    at = text.find("\n".join(wanted))
    return text.count("\n", 0, at) if at >= 0 else None


def _most_alike(wanted: list[str], lines: list[str]) -> int | None:
    """The start of the window that shares most lines with what was wanted, else of the one with a similar line."""
    places: defaultdict[str, list[int]] = defaultdict(list)
    for number, line in enumerate(lines):
        places[line.strip()].append(number)
    votes: Counter[int] = Counter()
    for offset, line in enumerate(wanted[:_WANTED_COMPARED]):
        stripped = line.strip()
        for number in places.get(stripped, ())[:_PLACES_PER_LINE] if stripped else ():
            votes[max(number - offset, 0)] += len(stripped)
    if votes:
        most = max(votes.values())
        return min(start for start, count in votes.items() if count == most)
    if len(lines) > _LINES_COMPARED:
        return None
    offset = max(range(len(wanted[:_WANTED_COMPARED])), key=lambda index: len(wanted[index].strip()))
    heads = [line.strip()[:_CHARACTERS_COMPARED] for line in lines]
    head = wanted[offset].strip()[:_CHARACTERS_COMPARED]
    close = difflib.get_close_matches(head, heads, n=1, cutoff=_SIMILAR)
    return max(heads.index(close[0]) - offset, 0) if close else None


def _short(lines: Sequence[str]) -> list[str]:
    return [line[:_CHARACTERS_COMPARED] for line in lines]


def _cut(lines: Sequence[str]) -> str:
    return cut("\n".join(lines), _SHOWN)
