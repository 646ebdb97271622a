"""Cron expressions: five fields, read once into sets of numbers; what is wrong is said with the name of its field.

Day of month and day of week are two ways to name a day: when both are restricted, either is enough. A field that
begins with `*` is not a restriction.
"""

from dataclasses import dataclass
from datetime import date
from typing import Final, NamedTuple

MOST_CHARS: Final = 200
_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS: Final = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_NAMED: Final = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}


class BadCron(ValueError):
    """Not a cron expression; `field` is the part that is wrong, `problem` what is wrong with it."""

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"{field} {problem}" if field else problem)
        self.field = field
        self.problem = problem


class _Field(NamedTuple):
    name: str
    low: int
    high: int
    names: tuple[str, ...] = ()
    first: int = 0


_FIELDS: Final = (
    _Field("minute", 0, 59),
    _Field("hour", 0, 23),
    _Field("day of month", 1, 31),
    _Field("month", 1, 12, _MONTHS, 1),
    _Field("day of week", 0, 7, _DAYS),
)


@dataclass(frozen=True, slots=True)
class Cron:
    minutes: tuple[int, ...]
    hours: tuple[int, ...]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    either_day: bool
    """Both kinds of day are restricted: one of them is enough."""
    every_hour: bool
    """The hour is not restricted: it goes by hours that pass, not by what a clock shows."""

    def has_day(self, day: date) -> bool:
        if day.month not in self.months:
            return False
        by_month, by_week = day.day in self.days, day.isoweekday() % 7 in self.weekdays
        return by_month or by_week if self.either_day else by_month and by_week


def parse(text: str) -> Cron:
    """Read an expression; raises `BadCron`."""
    if len(text) > MOST_CHARS:
        raise BadCron("", f"A cron expression has at most {MOST_CHARS} characters.")
    word = text.strip().lower()
    if word.startswith("@") and word not in _NAMED:
        raise BadCron("", f"There is no {text.strip()!r}: use one of {', '.join(_NAMED)}, or five fields.")
    parts = _NAMED.get(word, word).split()
    if len(parts) != len(_FIELDS):
        names = ", ".join(field.name for field in _FIELDS)
        raise BadCron("", f"A cron expression has five fields ({names}), not {len(parts)}.")
    minutes, hours, days, months, weekdays = (
        _numbers(field, part) for field, part in zip(_FIELDS, parts, strict=True)
    )
    return Cron(
        minutes=tuple(sorted(minutes)),
        hours=tuple(sorted(hours)),
        days=days,
        months=months,
        weekdays=frozenset(day % 7 for day in weekdays),
        either_day=not parts[2].startswith("*") and not parts[4].startswith("*"),
        every_hour=parts[1] == "*",
    )


def _numbers(field: _Field, text: str) -> frozenset[int]:
    found: set[int] = set()
    for item in text.split(","):
        found.update(_item(field, item))
    return frozenset(found)


def _item(field: _Field, item: str) -> range:
    """`*`, `N`, `N-M`, and each of them with `/S`."""
    span, slash, step_text = item.partition("/")
    step = _step(field, step_text) if slash else 1
    if span == "*":
        return range(field.low, (6 if field.high == 7 else field.high) + 1, step)
    first_text, dash, last_text = span.partition("-")
    first = _number(field, first_text, item)
    last = _number(field, last_text, item) if dash else first
    if slash and not dash:
        last = field.high
    if last < first and dash and field.high == 7 and last == 0:
        last = 7
    if last < first:
        raise BadCron(field.name, f"has a range that ends before it begins: {item!r}.")
    return range(first, last + 1, step)


def _number(field: _Field, text: str, item: str) -> int:
    if text in field.names:
        return field.names.index(text) + field.first
    if not (text.isascii() and text.isdigit()) or len(text) > 4:
        also = f" or a name such as {field.names[0]}" if field.names else ""
        raise BadCron(field.name, f"has {item!r}, which is not a number from {field.low} to {field.high}{also}.")
    number = int(text)
    if not field.low <= number <= field.high:
        raise BadCron(field.name, f"has {number}, which is not from {field.low} to {field.high}.")
    return number


def _step(field: _Field, text: str) -> int:
    if not (text.isascii() and text.isdigit()) or len(text) > 4 or int(text) == 0:
        raise BadCron(field.name, f"has the step {text!r}, which is not a number from 1 on.")
    return int(text)
