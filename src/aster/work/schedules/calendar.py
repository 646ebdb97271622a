"""When a cron expression is due in a time zone: every time once, whatever the clocks there do.

When clocks are put forward, a time that is left out is due at the moment they are; several such are one. When they are
put back, a time that comes twice is due the first time. An expression for every hour goes by the hours that pass: what
is left out has not passed, and what comes twice has passed twice.
"""

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from aster.work.schedules.cron import BadCron, Cron, parse

_YEARS: Final = 9
"""The 29th of February may be eight years away."""
_EARLY: Final = timedelta(days=1)
_LAST: Final = date.max - timedelta(days=2)
parsed = lru_cache(maxsize=256)(parse)


@lru_cache(maxsize=256)
def zone(name: str) -> ZoneInfo:
    """A time zone of the IANA database; raises `BadCron` when there is no such."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise BadCron("time_zone", f"{name[:64]!r} is not a time zone, such as Europe/Berlin") from None


def due_after(cron: Cron, where: ZoneInfo, after: int) -> Iterator[int]:
    """The times after this one, in order: seconds since the epoch; they end when there is none for years."""
    day, last = (datetime.fromtimestamp(after, where) - _EARLY).date(), after
    until = day.year + _YEARS
    while day.year <= until and day < _LAST:
        if cron.has_day(day):
            for moment in _of_day(cron, where, day):
                if moment > last:
                    last, until = moment, day.year + _YEARS
                    yield moment
        day += timedelta(days=1)


def _of_day(cron: Cron, where: ZoneInfo, day: date) -> Iterator[int]:
    midnight = datetime(day.year, day.month, day.day, tzinfo=where)
    offset = midnight.utcoffset()
    following = (midnight + timedelta(days=1)).replace(fold=1).utcoffset()
    if offset is not None and offset == midnight.replace(fold=1).utcoffset() == following:
        start = int(midnight.replace(tzinfo=UTC).timestamp() - offset.total_seconds())
        return (start + hour * 3600 + minute * 60 for hour in cron.hours for minute in cron.minutes)
    return iter(_of_a_day_of_change(cron, midnight))


def _of_a_day_of_change(cron: Cron, midnight: datetime) -> list[int]:
    found: set[int] = set()
    for hour in cron.hours:
        for minute in cron.minutes:
            first = midnight.replace(hour=hour, minute=minute)
            second = first.replace(fold=1)
            early, late = int(first.timestamp()), int(second.timestamp())
            if early <= late:
                found |= {early, late} if cron.every_hour else {early}
            elif not cron.every_hour:
                found.add(_change(midnight, late, early))
    return sorted(found)


def _change(midnight: datetime, before: int, after: int) -> int:
    """The moment between these two at which clocks are put forward."""
    where = midnight.tzinfo
    old = datetime.fromtimestamp(before, where).utcoffset()
    while after - before > 1:
        middle = (before + after) // 2
        if datetime.fromtimestamp(middle, where).utcoffset() == old:
            before = middle
        else:
            after = middle
    return after
