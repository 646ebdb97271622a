"""Times people say ("last Tuesday", "in March", "two weeks ago") as a span of milliseconds, seen from a moment.

Only what is clearly a time is taken: "may" alone is a verb, a year alone needs four digits. Several times in one
question give one span over all of them. English is read here, other languages are put into it first (`tongues`).
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, TypeAlias

from aster.memory.retrieval.tongues import english

_MONTH_NAMES = "january february march april may june july august september october november december"
_DAY_NAMES = "monday tuesday wednesday thursday friday saturday sunday"
_NUMBER_NAMES = "one two three four five six seven eight nine ten eleven twelve"
_MONTHS: Final[dict[str, int]] = {name: place for place, name in enumerate(_MONTH_NAMES.split(), 1)}
_DAYS: Final[dict[str, int]] = {name: place for place, name in enumerate(_DAY_NAMES.split())}
_NUMBERS: Final[dict[str, int]] = {name: place for place, name in enumerate(_NUMBER_NAMES.split(), 1)}
_MONTH = "(" + "|".join(f"{m[:3]}(?:{m[3:]})?" if len(m) > 3 else m for m in _MONTHS) + r")\b\.?"
_DAY = "(" + "|".join(_DAYS) + ")"
_NUMBER = rf"(\d{{1,3}}|an?|couple of|few|{'|'.join(_NUMBERS)})"
_UNIT = "(day|week|month|year)s?"
_YEAR = r"((?:19|20)\d\d)\b"
_SLACK: Final = 7 * 86_400_000

Span: TypeAlias = tuple[datetime, datetime]
_Meaning: TypeAlias = Callable[[re.Match[str], datetime], Span]


@dataclass(frozen=True, slots=True)
class Window:
    """From `start` up to, and without, `end`."""

    start: int
    end: int

    @property
    def late(self) -> int:
        """Until when people still talk about what happened in it."""
        return self.end + _SLACK


def timed(text: str, now: datetime) -> tuple[Window | None, str]:
    """The span of time a question is about, None when it names none; and the rest of it, in lower case."""
    rest = english(text.lower())
    spans: list[Span] = []
    for pattern, meaning in _RULES:
        found = [span for match in pattern.finditer(rest) if (span := _span(meaning, match, now)) is not None]
        if found:
            spans += found
            rest = pattern.sub(" ", rest)
    if not spans:
        return None, rest
    start, end = min(start for start, _ in spans), max(end for _, end in spans)
    return Window(int(start.timestamp() * 1000), int(end.timestamp() * 1000)), rest


def _span(meaning: _Meaning, match: re.Match[str], now: datetime) -> Span | None:
    try:
        return meaning(match, now)
    except (ValueError, OverflowError):
        return None


def _day(now: datetime, back: int = 0) -> Span:
    start = now.replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=back)
    return start, start + timedelta(days=1)


def _months(now: datetime, year: int, month: int, count: int = 1) -> Span:
    """Whole months; `month` may lie outside 1..12."""
    first, last = year * 12 + month - 1, year * 12 + month - 1 + count
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0, day=1)
    return (
        midnight.replace(year=first // 12, month=first % 12 + 1),
        midnight.replace(year=last // 12, month=last % 12 + 1),
    )


def _weeks(now: datetime, back: int) -> Span:
    start = _day(now, now.weekday())[0] - timedelta(weeks=back)
    return start, start + timedelta(weeks=1)


def _period(unit: str, now: datetime, back: int) -> Span:
    match unit:
        case "day":
            return _day(now, back)
        case "week":
            return _weeks(now, back)
        case "weekend":
            start = _weeks(now, back)[0] + timedelta(days=5)
            return start, start + timedelta(days=2)
        case "month":
            return _months(now, now.year, now.month - back)
        case _:
            return _months(now, now.year - back, 1, 12)


def _count(word: str) -> int:
    known = {"a": 1, "an": 1, "couple of": 2, "few": 3}
    return int(word) if word.isdigit() else known.get(word) or _NUMBERS[word]


def _month_number(name: str) -> int:
    return next(place for month, place in _MONTHS.items() if month.startswith(name[:3]))


def _iso(match: re.Match[str], now: datetime) -> Span:
    year, month, day = map(int, match.groups())
    return _day(now.replace(year=year, month=month, day=day))


def _dotted(match: re.Match[str], now: datetime) -> Span:
    day, month, year = map(int, match.groups())
    return _day(now.replace(year=year, month=month, day=day))


def _iso_month(match: re.Match[str], now: datetime) -> Span:
    year, month = map(int, match.groups())
    return _months(now.replace(day=1, month=month), year, month)


def _date(day: str, month: str, year: str | None, now: datetime) -> Span:
    found = now.replace(year=int(year) if year else now.year, month=_month_number(month), day=int(day))
    return _day(found.replace(year=found.year - 1) if not year and found > now else found)


def _of_month(match: re.Match[str], now: datetime) -> Span:
    name, year = match.groups()
    number = _month_number(name)
    return _months(now, int(year) if year else now.year - (number > now.month), number)


def _months_between(match: re.Match[str], now: datetime) -> Span:
    first, last, year = _month_number(match[1]), _month_number(match[2]), int(match[3])
    return _months(now, year - (first > last), first)[0], _months(now, year, last)[1]


def _ago(match: re.Match[str], now: datetime) -> Span:
    """About then: half a unit to either side of a longer one."""
    count, unit = _count(match[1]), match[2]
    if unit == "day":
        return _day(now, count)
    middle = _day(now, count * {"week": 7, "month": 30, "year": 365}[unit])[0]
    wide = timedelta(days={"week": 4, "month": 16, "year": 183}[unit])
    return middle - wide, middle + wide


def _lately(match: re.Match[str], now: datetime) -> Span:
    days = _count(match[1]) * {"day": 1, "week": 7, "month": 31, "year": 366}[match[2]]
    return _day(now, days)[0], _day(now)[1]


def _weekday(match: re.Match[str], now: datetime) -> Span:
    back = (now.weekday() - _DAYS[match[2]]) % 7
    return _day(now, back or (7 if match[1] == "last" else 0))


_RULES: Final[tuple[tuple[re.Pattern[str], _Meaning], ...]] = (
    (re.compile(r"\b(\d{4})-(\d\d)-(\d\d)(?:t\d\d:\d\d[\d:.]*z?)?\b"), _iso),
    (re.compile(r"\b((?:19|20)\d\d)-(\d\d)\b(?!-)"), _iso_month),
    (re.compile(r"\b(\d{1,2})\.(\d{1,2})\.((?:19|20)\d\d)\b"), _dotted),
    (
        re.compile(rf"\b(\d{{1,2}})(?:st|nd|rd|th)?(?: of)? {_MONTH},?(?: {_YEAR})?"),
        lambda m, now: _date(m[1], m[2], m[3], now),
    ),
    (
        re.compile(rf"\b{_MONTH} (\d{{1,2}})(?:st|nd|rd|th)?\b(?:,? {_YEAR})?"),
        lambda m, now: _date(m[2], m[1], m[3], now),
    ),
    (re.compile(rf"\b{_MONTH} (?:and|to|until|through) {_MONTH},? {_YEAR}"), _months_between),
    (re.compile(rf"\b{_MONTH},?(?: of)? {_YEAR}"), _of_month),
    (
        re.compile(rf"\b(?:in|last|since|during|this|early|late|between|and|from|to|until) {_MONTH}()"),
        _of_month,
    ),
    (re.compile(rf"\b(?:in|of|during|since|year) {_YEAR}"), lambda m, now: _months(now, int(m[1]), 1, 12)),
    (re.compile(rf"\b{_NUMBER} {_UNIT} ago\b"), _ago),
    (re.compile(rf"\b(?:last|past|previous) {_NUMBER} {_UNIT}"), _lately),
    (re.compile(r"\b(?:last|previous) (week|weekend|month|year)\b"), lambda m, now: _period(m[1], now, 1)),
    (re.compile(r"\bthis (week|weekend|month|year)\b"), lambda m, now: _period(m[1], now, 0)),
    (re.compile(rf"\b(?:(last|on|this|past) ){_DAY}\b"), _weekday),
    (re.compile(r"\bday before yesterday\b"), lambda _, now: _day(now, 2)),
    (re.compile(r"\b(?:yesterday|last night)\b"), lambda _, now: _day(now, 1)),
    (re.compile(r"\b(?:today|tonight|this (?:morning|afternoon|evening))\b"), lambda _, now: _day(now, 0)),
)
