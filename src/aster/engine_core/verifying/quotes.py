"""Words an answer puts into the mouth of a tool, held against what was really said.

A quotation is disputed only when it is long enough to be one, is said to come from a tool's output, and its words
stand together nowhere in the conversation. Left-out words, other spacing, case and punctuation make no difference.
"""

import re
from collections.abc import Iterator
from typing import Final

from aster.engine_core.verifying.evidence import Case
from aster.engine_core.verifying.words import excerpt, plain, sentences, unsure

LEAST_WORDS: Final = 4
LEAST_CHARS: Final = 20
MOST_QUOTES: Final = 20
RUN: Final = 3
ENOUGH: Final = 0.6
"""Share of a quotation that has to stand somewhere, in runs of a few words."""

_SAID: Final = re.compile(
    r"\b(?:says|said|reads|states|stated|printed|prints|shows|showed|reports|reported|returned|contains|contained"
    r"|(?:error|output|message|log|response)(?:\s+message)?(?:\s+(?:is|was))?)\b[\s:,*]*(?:that\s+)?$",
    re.IGNORECASE,
)
_QUOTED: Final = re.compile(r"\"([^\"\n]{20,400})\"|“([^”\n]{20,400})”|«([^»\n]{20,400})»|`([^`\n]{20,400})`")
_LEFT_OUT: Final = re.compile(r"\.{3,}|…|\[[^\]]{0,20}\]|<[^>]{0,40}>")
_MARKS: Final = ('"', "“", "«", "`")


def disputes(case: Case) -> Iterator[str]:
    """Which quotations of an answer nobody has said."""
    if not any(mark in case.prose for mark in _MARKS):
        return
    known: str | None = None
    for count, (sentence, quoted) in enumerate(_quotations(case.prose)):
        if count >= MOST_QUOTES or case.known is None:
            return
        if known is None:
            known = plain(case.known)
        if not all(_said(part, known) for part in _LEFT_OUT.split(quoted)):
            yield f"“{excerpt(sentence)}”: nothing the tools have said contains “{excerpt(quoted)}”."


def _quotations(answer: str) -> Iterator[tuple[str, str]]:
    """What an answer quotes as the words of a tool, each with its sentence."""
    for line in answer.split("\n"):
        for match in _QUOTED.finditer(line):
            before = line[max(0, match.start() - 60) : match.start()]
            quoted = next(filter(None, match.groups()))
            sentence = next(reversed(list(sentences(before))), "")
            if _SAID.search(before) and not unsure(sentence) and len(plain(quoted).split()) >= LEAST_WORDS:
                yield line[max(0, match.start() - 60) : match.end()], quoted


def _said(quoted: str, known: str) -> bool:
    """Whether most of the words stand somewhere, a few in a row at a time, and every number does."""
    words = plain(quoted).split()
    if len(words) < RUN or f" {' '.join(words)} " in known:
        return True
    if any(word.isdigit() and f" {word} " not in known for word in words):
        return False
    covered: set[int] = set()
    for start in range(len(words) - RUN + 1):
        if f" {' '.join(words[start : start + RUN])} " in known:
            covered.update(range(start, start + RUN))
    return len(covered) >= ENOUGH * len(words)
