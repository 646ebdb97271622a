"""Numbers an answer ascribes to its tools, held against the numbers that were really there.

Only what can be proven is disputed: a number that stands nowhere in the conversation, that no rounding, unit or simple
arithmetic makes of one that does, and that the answer gives for something the tools gave another number for, or says
was printed.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import accumulate
from typing import Final, NamedTuple

from aster.engine_core.verifying.evidence import MOST_KNOWN, Case
from aster.engine_core.verifying.words import excerpt, sentences, unsure, vocabulary

MOST_DERIVED: Final = 60
"""Different numbers between which arithmetic is tried; of more, anything could be made."""

TINY: Final = 1e-6

_NUM: Final = r"\d+(?:[,_'\u202f\u00a0]\d{3})*(?:\.\d+)?"
_ANY: Final = re.compile(r"\d+(?:[,_'\u202f\u00a0]\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?")
_LONE: Final = re.compile(r"(?<![\w.,:/#-])\d")
_RUN: Final = re.compile(
    rf"(?<![\w.,:/#-])(?P<n>{_NUM})\s+(?:(?:unit|integration|test|tests|spec|specs|case|cases|check|checks)\s+)?"
    r"(?P<label>passed|passing|failed|failing|skipped)\b",
    re.IGNORECASE,
)
_COUNTED: Final = re.compile(
    rf"(?<![\w.,:/#-])(?P<n>{_NUM})\s+(?P<label>[A-Za-z][A-Za-z_]{{2,}})\b(?=\s*(?:[.,;!)]|$|and\b|in total\b))"
)
_COUNTED_THERE: Final = re.compile(rf"(?<![\w.,:/#-])(?P<n>{_NUM})\s+(?P<label>[A-Za-z][A-Za-z_]{{2,}})\b")
_NAMED: Final = re.compile(
    rf"\b(?P<label>[A-Za-z][A-Za-z_]{{2,}})\**`?\s+(?:is|was|equals|=|:)\s+[*`\"]*(?P<n>{_NUM})(?![\w%]|[.,:/-]\d)"
    rf"|\b(?P<label2>[A-Za-z][A-Za-z_]{{2,}})\**[`\"]?\s*[:=]\s*[*`\"]*(?P<n2>{_NUM})(?![\w%]|[.,:/-]\d)"
)
_LITERAL: Final = re.compile(
    r"(?:\b(?:command|script|program|bash|query|it|run|code)\b[^.\n]{0,40}?"
    r"\b(?:printed|outputs|returned|exited\s+with(?:\s+(?:code|status))?)"
    r"|\boutput\s+(?:is|was|shows)|\bexit\s+(?:code|status)\s+(?:is|was))"
    rf"[\s:*`\"]*(?P<n>{_NUM})[*`\"]*(?=\s*[.!;,)]?\s*$)",
    re.IGNORECASE,
)
_SIGNS: Final = ("print", "output", "return", "exit")
_SAME: Final = {"passing": "passed", "failing": "failed"}
_NO_LABEL: Final = vocabulary(
    "second minute hour day week month year time percent point way thing reason step option part byte kilobyte"
    " megabyte gigabyte kib mib gib char character token degree mile meter metre dollar euro usd eur min sec line the"
    " and for with from that this are has have was were can new main key page item chapter version port level figure"
    " section note phase priority issue example case person people word sentence paragraph idea tip question"
)
_SCALES: Final = (1.0, 1e2, 1e3, 1e6, 1e9, 1024.0, 1024.0**2, 1024.0**3, 60.0, 3600.0, 86400.0, 24.0, 7.0, 8.0)


class _Numbers(NamedTuple):
    """Every number of a conversation; what could be counted in it besides; what the tools gave, by what it is for."""

    written: list[float]
    counted: list[float]
    facts: dict[str, set[float]]


class _Claim(NamedTuple):
    label: str
    written: str
    value: float

    def explained(self, numbers: _Numbers) -> bool:
        return self._rounds(numbers.written)

    def _rounds(self, numbers: Iterable[float], scales: tuple[float, ...] = (1.0,)) -> bool:
        """It is one of these numbers, rounded as it is written."""
        value, slack = self.value, _slack(self.written)
        return any(
            abs(number / scale - value) <= slack or abs(number * scale - value) <= slack
            for number in numbers
            for scale in scales
        )

    def _made_of(self, numbers: list[float]) -> bool:
        """It is the sum, difference, product, quotient, share or mean of these numbers, as far as one can tell."""
        if len(numbers) > MOST_DERIVED:
            return True
        value, slack = self.value, _slack(self.written)
        exact = slack if "." in self.written or slack > 1 else TINY
        total = sum(numbers)
        if any(abs(one - value) <= exact for one in (total, *accumulate(numbers))):
            return True
        for a in numbers:
            for b in numbers:
                if any(abs(abs(one) - value) <= exact for one in (a + b, a - b, a * b)):
                    return True
                if b and any(abs(abs(one) - value) <= slack for one in (a / b, 100 * a / b, 100 * (a - b) / b)):
                    return True
        return abs(total / max(len(numbers), 1) - value) <= slack


class _Run(_Claim):
    """So many tests passed or failed: the runner has counted, nobody else."""


class _Literal(_Claim):
    """It is said to have been printed: in these digits, in another unit at most."""

    def explained(self, numbers: _Numbers) -> bool:
        return self._rounds(numbers.written, _SCALES)


class _Named(_Claim):
    """A value with a name, which can have been worked out from others."""

    def explained(self, numbers: _Numbers) -> bool:
        return self._rounds(numbers.written, _SCALES) or self._made_of(numbers.written)


class _Counted(_Claim):
    """So many of something, which can have been counted, too."""

    def explained(self, numbers: _Numbers) -> bool:
        return self._rounds(numbers.written + numbers.counted, _SCALES) or self._made_of(
            sorted({*numbers.written, *numbers.counted})
        )


_KINDS: Final = ((_Run, _RUN), (_Counted, _COUNTED), (_Named, _NAMED))


def disputes(case: Case) -> Iterator[str]:
    """What is wrong with the numbers of an answer, provably."""
    if _LONE.search(case.prose) is None:
        return
    ran = any(exhibit.run.exit_code is not None for exhibit in case.exhibits)
    said: str | None = None
    numbers: _Numbers | None = None
    for sentence in sentences(case.prose):
        if _LONE.search(sentence) is None or "|" in sentence:
            continue
        claims = [*_claims(sentence), *(_literals(sentence) if ran else ())]
        if claims and said is None:
            said = "\n".join(exhibit.text[:MOST_KNOWN] for exhibit in case.exhibits).casefold()
        claims = [claim for claim in claims if said is not None and claim.label in said]
        if not claims or unsure(sentence):
            continue
        numbers = numbers or _numbers(case)
        if numbers is None:
            return
        yield from (
            f"“{excerpt(sentence)}”: {problem}." for claim in claims if (problem := _problem(claim, numbers))
        )


def _problem(claim: _Claim, numbers: _Numbers) -> str | None:
    """What is wrong with a claim; None when it may be right."""
    if isinstance(claim, _Literal):
        return None if claim.explained(numbers) else f"{claim.written} is in nothing the tools have said"
    given = numbers.facts.get(claim.label, set[float]())
    if len(given) != 1 or claim.explained(numbers):
        return None
    return f"the tools gave {next(iter(given)):g} for “{claim.label}”, and {claim.written} nowhere"


def _numbers(case: Case) -> _Numbers | None:
    if case.known is None:
        return None
    codes = (float(exhibit.run.exit_code or 0) for exhibit in case.exhibits)
    written = sorted({*(_value(match[0]) for match in _ANY.finditer(case.known)), *codes})
    return _Numbers(written, sorted(set(_sizes(case))), _facts(exhibit.text for exhibit in case.exhibits))


def _claims(sentence: str) -> Iterator[_Claim]:
    """The numbers a sentence gives for something it names."""
    seen: set[str] = set()
    for kind, pattern in _KINDS:
        for match in pattern.finditer(sentence):
            label, written = _parts(match)
            claim = kind(_label(label), written, _value(written))
            if claim.label not in _NO_LABEL and claim.value > 1 and written not in seen:
                seen.add(written)
                yield claim


def _literals(sentence: str) -> Iterator[_Claim]:
    """The number a sentence says was printed."""
    match = _LITERAL.search(sentence) if any(sign in sentence for sign in _SIGNS) else None
    if match is not None and (value := _value(match["n"])) > 1:
        yield _Literal("", match["n"], value)


def _facts(texts: Iterable[str]) -> dict[str, set[float]]:
    """Every number the tools gave, by what they gave it for."""
    facts: defaultdict[str, set[float]] = defaultdict(set)
    for text in texts:
        for pattern in (_RUN, _COUNTED_THERE, _NAMED):
            for match in pattern.finditer(text):
                label, written = _parts(match)
                facts[_label(label)].add(_value(written))
    return facts


def _parts(match: re.Match[str]) -> tuple[str, str]:
    groups = match.groupdict("")
    return groups["label"] or groups.get("label2", ""), groups["n"] or groups.get("n2", "")


def _label(word: str) -> str:
    """A name as it is compared: in one case and number."""
    word = word.casefold()
    word = _SAME.get(word, word)
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def _value(written: str) -> float:
    return float(re.sub(r"[^\d.]", "", written)[:300])


def _sizes(case: Case) -> Iterator[float]:
    """What can be counted of the evidence without a number standing there: its lines and entries."""
    for exhibit in case.exhibits:
        lines = exhibit.text.splitlines()
        filled = sum(1 for line in lines if line.strip())
        yield from (float(len(lines)), float(filled), filled - 1.0, float(len(exhibit.text.split())))
        yield from (float(exhibit.text.count(mark) + extra) for mark in (",", "{", ":") for extra in (0, 1))


def _slack(written: str) -> float:
    """Half of the last place that is written; the noughts of a round number are not."""
    digits = re.sub(r"[^\d.]", "", written)
    _, point, decimals = digits.partition(".")
    if point:
        return 0.5 * 10.0 ** -len(decimals) + 1e-9
    noughts = len(digits) - len(digits.rstrip("0"))
    return 0.5 * 10.0**noughts + 1e-9 if noughts > 1 else 0.5
