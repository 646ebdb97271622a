"""What a text must contain for an expression to match: words that a fast program can look for first.

It may say too little, never too much: wherever an expression is not understood for certain, it says nothing, and
every file is searched in full.
"""

import re
from dataclasses import dataclass, field

_SHORTEST = 2
_MOST = 20
_GROUP = re.compile(r"\((?:\?:|\?P<\w+>)?(?!\?)")
_LOOK = re.compile(r"\(\?<?[=!]")
_COUNTED = re.compile(r"\{(\d*)(,?)(\d*)\}")
_CLASS = re.compile(r"\[\^?\]?(?:[^\]\\]|\\.)*\]", re.DOTALL)
_SETS = "dDwWsSbBAZ"


class _NotUnderstood(Exception):
    pass


def needles(pattern: str, *, ignore_case: bool) -> tuple[str, ...]:
    """Texts of which at least one is in everything that the expression matches; none if that cannot be told. With
    `ignore_case` they consist of ASCII alone, and are to be looked for in either case."""
    reader = _Reader(pattern, ignore_case)
    try:
        found = reader.alternatives()
    except (_NotUnderstood, RecursionError):
        return ()
    whole = reader.at == len(pattern)
    return tuple(dict.fromkeys(found)) if whole and found is not None and len(found) <= _MOST else ()


@dataclass(slots=True)
class _Branch:
    """One alternative while it is read: the run of letters being collected, and the best demand so far."""

    run: list[str] = field(default_factory=list[str])
    best: list[str] | None = None

    def end_run(self) -> None:
        text = "".join(self.run)
        self.run = []
        if len(text) >= _SHORTEST:
            self.offer([text])

    def offer(self, demand: list[str]) -> None:
        if self.best is None or min(map(len, demand)) > min(map(len, self.best)):
            self.best = demand


class _Reader:
    def __init__(self, pattern: str, ignore_case: bool) -> None:
        self.pattern = pattern
        self.at = 0
        self._ascii = ignore_case

    def alternatives(self) -> list[str] | None:
        """Of a whole expression or a group: one demand of every alternative, or None if one has none."""
        demands: list[str] | None = []
        while True:
            branch = self._branch()
            demands = demands + branch if demands is not None and branch is not None else None
            if self.pattern[self.at : self.at + 1] != "|":
                return demands
            self.at += 1

    def _branch(self) -> list[str] | None:
        branch = _Branch()
        while self.at < len(self.pattern) and self.pattern[self.at] not in "|)":
            letter = self.pattern[self.at]
            if letter == "(":
                self._group(branch)
            elif letter == "[":
                found = _CLASS.match(self.pattern, self.at)
                if found is None:
                    raise _NotUnderstood
                self._skip(branch, found.end())
            elif letter in ".^$":
                self._skip(branch, self.at + 1)
            else:
                self._letter(branch)
        branch.end_run()
        return branch.best

    def _letter(self, branch: _Branch) -> None:
        letter = self.pattern[self.at]
        if letter == "\\":
            letter = self.pattern[self.at + 1 : self.at + 2]
            if not letter or (letter.isalnum() and letter not in _SETS):
                raise _NotUnderstood
            self.at += 1
            if letter in _SETS:
                self._skip(branch, self.at + 1)
                return
        self.at += 1
        if letter in "\r\n\ufffd" or not letter.isprintable() or (self._ascii and not letter.isascii()):
            self._quantified()
            branch.end_run()
            return
        least = self._quantified()
        if least is None:
            branch.run.append(letter)
            return
        if least:
            branch.run.append(letter)
        branch.end_run()

    def _group(self, branch: _Branch) -> None:
        branch.end_run()
        look = _LOOK.match(self.pattern, self.at)
        start = look or _GROUP.match(self.pattern, self.at)
        if start is None:
            raise _NotUnderstood
        self.at = start.end()
        demand = self.alternatives()
        if self.pattern[self.at : self.at + 1] != ")":
            raise _NotUnderstood
        self.at += 1
        least = self._quantified()
        if demand and look is None and least != 0:
            branch.offer(demand)

    def _skip(self, branch: _Branch, to: int) -> None:
        self.at = to
        self._quantified()
        branch.end_run()

    def _quantified(self) -> int | None:
        """Pass over a quantifier: how often at least, or None if there is none."""
        rest = self.pattern[self.at : self.at + 1]
        counted = _COUNTED.match(self.pattern, self.at) if rest == "{" else None
        if rest and rest in "*?+":
            self.at += 1
            least = int(rest == "+")
        elif counted is not None and (counted[1] or counted[2]):
            self.at = counted.end()
            least = min(int(counted[1] or 0), 1)
        else:
            return None
        if self.pattern[self.at : self.at + 1] in ("?", "+"):
            self.at += 1
        return least
