"""A question as it is searched: its telling words, whom it names, when it is about, and what is left to compare by
meaning.

Names say whose memory is meant, and nothing about what it is: they become a preference for what those people said,
and leave the text that is compared by meaning, where they would pull in every greeting. The words keep them.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from aster.brain.memory_words import words
from aster.memory.retrieval.times import Window, timed

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_MOST_TERMS = 32
_COMMON = """
a about above after again against all also am an and any are as at be because been before being below between both but
by can could did do does doing done down during each either else ever few for from further get gets getting go goes
going got had has have having he her here hers herself him himself his how i if in into is it its itself just like may
me might mine more most much must my myself no nor not now of off on once one only or other our ours ourselves out over
own please remember same shall she should so some such tell than that the their theirs them themselves then there these
they this those through to too under until up upon us very was we were what when where which while who whom whose why
will with would yes yet you your yours yourself dont doesnt didnt isnt arent wasnt werent hasnt havent hadnt cant
couldnt wont wouldnt shouldnt im ive id ill youre youve hes shes theyre theyve thats whats wheres whos
"""
_ABOUT_TALKING = (
    "talk talked talking discuss discussed say said speak spoke spoken chat chatted mention mentioned happen"
)
_TALKING: Final = frozenset(
    f"{_ABOUT_TALKING} happened conversation conversations anything everything things".split()
)
_ROLES: Final = frozenset(("user", "assistant", "system", "agent", "human"))
"""Speakers may be called so; it is nobody's name."""
COMMON: Final = frozenset(_COMMON.split())
"""Words that are in every conversation and in no answer."""


@dataclass(frozen=True, slots=True)
class Query:
    """A question, taken apart. `terms` are stems; `meaning` is what is embedded. `anything`: it asks for whatever was
    in its window ("what did we talk about yesterday?")."""

    text: str
    terms: tuple[str, ...]
    meaning: str
    people: frozenset[str] = frozenset()
    window: Window | None = None
    anything: bool = False


def analysed(text: str, names: Iterable[str], now: datetime) -> Query:
    """What a question asks, as far as its words tell."""
    people, meaning = _people(text, names)
    window, rest = timed(meaning, now)
    anything = window is not None and not {word.lower() for word in _rare(rest)} - _TALKING
    return Query(text, telling(text), meaning, people, window, anything)


def telling(text: str) -> tuple[str, ...]:
    """The different stems of a text without common words, unless there are no others."""
    said = _rare(text) or _WORD.findall(text)
    return tuple(dict.fromkeys(stem for word in said for stem in words(word)))[:_MOST_TERMS]


def _rare(text: str) -> list[str]:
    return [word for word in _WORD.findall(text) if word.lower().replace("'", "").replace("’", "") not in COMMON]


def _people(text: str, names: Iterable[str]) -> tuple[frozenset[str], str]:
    """Who is named, and the text without them. A name that is a common word needs its capital."""
    found: set[str] = set()
    meaning = text
    known = {name for name in names if name.strip() and name.lower() not in _ROLES}
    for name in sorted(known, key=lambda name: (-len(name), name)):
        exact = name.lower() in COMMON
        pattern = re.compile(rf"(?<!\w){re.escape(name)}(?:['’]s)?(?!\w)", 0 if exact else re.IGNORECASE)
        meaning, count = pattern.subn(" ", meaning)
        if count:
            found.add(name)
    meaning = " ".join(meaning.split())
    return frozenset(found), meaning if _WORD.search(meaning) else text
