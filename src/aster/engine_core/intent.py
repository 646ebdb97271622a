"""What kind of message this is, judged by its words.

Whole words and neighbouring words count, never parts of words: "prescript" is no script, "queryable" no query. The
judgement only tunes a call (sampling, how long to think); nothing is allowed or refused by it.
"""

import re
from dataclasses import dataclass
from functools import cached_property, lru_cache

_WORD = re.compile(r"[a-z0-9_]+(?:[.+#'-][a-z0-9_]+)*")
_EXTENSION = re.compile(r"[\w/-]+\.(?:py|js|html|css|ts|tsx|jsx|sh)")
_ARITHMETIC = re.compile(r"[\d\s.,+*/^()=?%-]+")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


CODE_NOUNS = _words("python bash sh script code def import html css js javascript typescript react web frontend")
CODE_VERBS = _words(
    "write run execute debug fix create generate count calculate analyze scrape plot graph build develop"
)
DATABASE = _words("sql postgres postgresql psql database pg_stat query cte rdbms dba schema vacuum mvcc")
META = _words("title rename summary summarize caption describe")
ACTIONS = _words(
    "search find download run read check test delete remove create write draw play train open list show fetch send"
    " install update upload move copy edit build compare calculate schedule remember fix debug execute"
)
FACTUAL = _words("who what where when which whose born age address capital population year")
CREATIVE = _words("design architect brainstorm creative alternative refactor naming generate invent")
PRECISE = _words("sql query select schema exact security auth encrypt regex")
EXTENDED = _words(
    "debug debugging traceback error optimize optimization tune tuning algorithm complexity proof prove refactor"
    " architecture architect explain why analyze analysis sql query vacuum cte deadlock concurrency"
)
EXTENDED_PAIRS = frozenset({("explain", "analyze"), ("race", "condition")})


@lru_cache(maxsize=64)
def intent_of(text: str) -> "Intent":
    """The judgement of a message; each step of a turn asks for the same one again."""
    return Intent(text)


@dataclass(frozen=True)
class Intent:
    """Answers about one message of a person."""

    text: str

    @cached_property
    def ordered(self) -> tuple[str, ...]:
        return tuple(_WORD.findall(self.text.lower()))

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset(self.ordered)

    @cached_property
    def coding(self) -> bool:
        if not self.ordered or _ARITHMETIC.fullmatch(self.text):
            return False
        if self.words & DATABASE or "script" in self.words or ("explain", "analyze") in self.pairs:
            return True
        if any(_EXTENSION.fullmatch(word) for word in self.ordered):
            return True
        return bool(self.words & CODE_NOUNS and self.words & CODE_VERBS)

    @cached_property
    def pairs(self) -> frozenset[tuple[str, str]]:
        return frozenset(zip(self.ordered, self.ordered[1:], strict=False))

    @cached_property
    def meta(self) -> bool:
        return bool(self.words & META) or ("name", "this") in self.pairs

    @cached_property
    def conversational(self) -> bool:
        return not self.coding and not self.meta and not self.words & ACTIONS

    @cached_property
    def factual(self) -> bool:
        return self.conversational and bool(self.words & FACTUAL)

    @cached_property
    def extended_hits(self) -> int:
        return len(self.words & EXTENDED) + len(self.pairs & EXTENDED_PAIRS)

    @cached_property
    def deserves_thought(self) -> bool:
        """Whether it is worth thinking about for longer than a few sentences."""
        if self.meta or not self.ordered:
            return False
        return self.extended_hits >= 2 or (self.coding and self.extended_hits >= 1)
