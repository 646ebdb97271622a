"""What a schedule being due comes to: which times were, which of them are done now, and when it is due next.

Every time between the last look and now is accounted for: done, or missed. When there were very many, the oldest of
them share a row that says how many they were.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from hashlib import sha256
from itertools import islice
from typing import Final, NamedTuple

from aster.brain.schedules import Firing
from aster.contracts.schedules import (
    CronTrigger,
    IntervalTrigger,
    Occurrence,
    OnceTrigger,
    Schedule,
    Trigger,
    WatchTrigger,
)
from aster.work.schedules.calendar import due_after, parsed, zone

KEPT: Final = 100
"""Times of one look that have a row each."""
GRACE_MS: Final = 60_000
"""How late a time may be without being one that nobody was there for."""
_SHARE: Final = 0.1
_MOST_JITTER_MS: Final = 900_000
NOBODY: Final = "Nobody was there at that time."
OLDER: Final = "A later time is done in its place."


class _Times(NamedTuple):
    newest: Sequence[int]
    older: int = 0
    last_older: int = 0


def after(trigger: Trigger, moment: int, since: int) -> Iterator[int]:
    """The times after a moment, in order; `since` is when the schedule was made."""
    match trigger:
        case CronTrigger():
            due = due_after(parsed(trigger.cron), zone(trigger.time_zone), moment // 1000)
            return (second * 1000 for second in due)
        case IntervalTrigger() | WatchTrigger():
            return _steps(trigger.seconds * 1000, moment, since)
        case OnceTrigger():
            return iter((trigger.at,) if trigger.at > moment else ())


def _steps(period: int, moment: int, since: int) -> Iterator[int]:
    at = since + max(0, (moment - since) // period) * period
    while True:
        at += period
        yield at


def next_time(schedule: Schedule, moment: int) -> int | None:
    """When it is due next; None when it is not due any more."""
    found = next(after(schedule.spec.trigger, moment, schedule.created_at), None)
    expires = schedule.spec.expires_at
    return None if found is None or (expires is not None and found > expires) else found


def coming(schedule: Schedule, moment: int, count: int) -> list[int]:
    """The next times, for people."""
    spec, first = schedule.spec, schedule.next_at
    if schedule.status != "active" or first is None or isinstance(spec.trigger, WatchTrigger):
        return []
    later = after(spec.trigger, max(first, moment), schedule.created_at)
    found = ([first] if first > moment else []) + list(islice(later, count))
    return [at for at in found if spec.expires_at is None or at <= spec.expires_at][:count]


def fired(schedule: Schedule, now: int) -> Firing:
    """What has become due of a schedule that is not a watch."""
    spec = schedule.spec
    times = _until(schedule, now)
    patience = GRACE_MS if spec.catch_up == "none" else max(spec.catch_up_seconds * 1000, GRACE_MS)
    fresh = [at for at in times.newest if now - at <= patience]
    done = set(fresh[-_most(schedule) :] if spec.catch_up == "all" else fresh[-1:])
    found = [_occurrence(schedule, at, now, at in done, bool(done)) for at in times.newest]
    if times.older:
        first = _occurrence(
            schedule, schedule.next_at or now, now, False, bool(done), times.older, times.last_older
        )
        found.insert(0, first)
    following = next_time(schedule, now)
    return Firing(found, following, ended=following is None)


def came_true(schedule: Schedule, now: int) -> Firing:
    """A watch has seen what it waits for."""
    return Firing([_occurrence(schedule, now, now, True, True)], schedule.next_at, seen=True)


def delay(schedule: Schedule) -> int:
    """By how many milliseconds its times are put off: always the same for one schedule, different between them."""
    trigger = schedule.spec.trigger
    if not schedule.spec.jitter or not isinstance(trigger, CronTrigger | IntervalTrigger):
        return 0
    two = list(islice(after(trigger, schedule.created_at, schedule.created_at), 2))
    period = two[-1] - two[0]
    share = int.from_bytes(sha256(schedule.schedule_id.encode()).digest()[:4]) / 2**32
    return int(min(period * _SHARE, _MOST_JITTER_MS) * share)


def _most(schedule: Schedule) -> int:
    most = schedule.spec.max_runs
    return KEPT if most is None else max(1, min(KEPT, most - schedule.runs))


def _until(schedule: Schedule, now: int) -> _Times:
    """All times from when it was due next until now."""
    trigger, first = schedule.spec.trigger, schedule.next_at
    last = now if schedule.spec.expires_at is None else min(now, schedule.spec.expires_at)
    if first is None or first > last:
        return _Times(())
    if isinstance(trigger, IntervalTrigger):
        times = range(first, last + 1, trigger.seconds * 1000)
        older = times[:-KEPT]
        return _Times(times[-KEPT:], len(older), older[-1] if older else 0)
    newest, count, last_older = deque((first,), KEPT), 1, 0
    for at in after(trigger, first, schedule.created_at):
        if at > last:
            break
        if len(newest) == KEPT:
            last_older = newest[0]
        newest.append(at)
        count += 1
    return _Times(tuple(newest), count - len(newest), last_older)


def _occurrence(
    schedule: Schedule, at: int, now: int, done: bool, later: bool, count: int = 1, until: int | None = None
) -> Occurrence:
    return Occurrence(
        schedule_id=schedule.schedule_id,
        user_id=schedule.user_id,
        due_at=at,
        status="due" if done else "missed",
        look_at=at + delay(schedule) if done else at,
        created_at=now,
        task_id=schedule.spec.task_id or "",
        count=count,
        until_at=until,
        settled_at=None if done else now,
        reason="" if done else (OLDER if later else NOBODY),
    )
