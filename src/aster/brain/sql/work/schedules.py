"""Schedules in SQL. What is due is found by its time alone, so what is not due costs nothing; whatever changes a row
compares it with what was seen first, in the same statement or transaction."""

from collections.abc import Collection, Iterable, Sequence
from typing import Any, Final

import msgspec

from aster.brain.schedules import Due, Firing
from aster.brain.sql.connection import Connection
from aster.contracts.events import ScheduleFired
from aster.contracts.model import decode, encode
from aster.contracts.schedules import Occurrence, OccurrenceStatus, Schedule, ScheduleSpec, ScheduleStatus
from aster.infra.clock import iso_ms

_SCHEDULE: Final = (
    *(
        "schedule_id",
        "user_id",
        "spec",
        "status",
        "next_at",
        "created_at",
        "updated_at",
        "number",
        "runs",
        "version",
    ),
    *("held", "holder", "problem"),
)
_SCHEDULES: Final = f"SELECT {', '.join(_SCHEDULE)} FROM schedules"
_OCCURRENCE: Final = tuple(Occurrence.__struct_fields__)
_OCCURRENCES: Final = f"SELECT {', '.join(_OCCURRENCE)} FROM schedule_occurrences"
_OPEN: Final = "status IN ('due', 'deferred', 'delivered')"
_WAITING: Final = "status IN ('due', 'deferred')"
_SETTLED: Final = frozenset(("acknowledged", "missed", "skipped", "failed"))
_UNBOUNDED: Final = 2**62
OVERTAKEN: Final = "The time before it still waits."
LEFT: Final = "It was to end with the engine that it was made on."


def create(db: Connection, schedule: Schedule, most: int) -> bool:
    db.dialect.hold(db, f"schedules {schedule.user_id}")
    if one(db, *_whose(schedule)) is not None:
        return True
    sql = "SELECT count(*) FROM schedules WHERE user_id = ? AND status IN ('active', 'paused')"
    if db.execute(sql, (schedule.user_id,)).fetchone()[0] >= most:
        return False
    db.execute(
        "INSERT INTO schedules (schedule_id, user_id, task_id, spec, status, next_at, runs, version, held, holder,"
        " problem, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, 0, 0, 0, ?, '', ?, ?)",
        (
            *(
                schedule.schedule_id,
                schedule.user_id,
                schedule.spec.task_id,
                encode(schedule.spec),
                schedule.status,
            ),
            *(schedule.next_at, schedule.holder, schedule.created_at, schedule.updated_at),
        ),
    )
    return True


def one(db: Connection, user_id: str, schedule_id: str) -> Schedule | None:
    sql = f"{_SCHEDULES} WHERE user_id = ? AND schedule_id = ?"
    found = db.execute(sql, (user_id, schedule_id)).fetchone()
    return None if found is None else _schedule(found)


def page(
    db: Connection,
    user_id: str,
    *,
    limit: int,
    before: int | None = None,
    status: ScheduleStatus | None = None,
    task_id: str | None = None,
) -> list[Schedule]:
    sql, given = _narrowed(
        f"{_SCHEDULES} WHERE user_id = ?",
        [user_id],
        (("number < ?", before), ("status = ?", status), ("task_id = ?", task_id)),
    )
    rows = db.execute(f"{sql} ORDER BY number DESC LIMIT ?", [*given, limit]).fetchall()
    return [schedule for row in rows if isinstance(schedule := _read(row), Schedule)]


def occurrences(
    db: Connection,
    user_id: str,
    schedule_id: str,
    *,
    limit: int,
    before: int | None = None,
    status: OccurrenceStatus | None = None,
) -> list[Occurrence]:
    sql, given = _narrowed(
        f"{_OCCURRENCES} WHERE user_id = ? AND schedule_id = ?",
        [user_id, schedule_id],
        (("due_at < ?", before), ("status = ?", status)),
    )
    return _all(db.execute(f"{sql} ORDER BY due_at DESC LIMIT ?", [*given, limit]))


def due(db: Connection, now: int, limit: int) -> Due:
    sql = f"{_SCHEDULES} WHERE status = 'active' AND next_at <= ? ORDER BY next_at LIMIT ?"
    found = [_read(row) for row in db.execute(sql, (now, limit)).fetchall()]
    waiting = f"{_OCCURRENCES} WHERE {_OPEN} AND look_at <= ? ORDER BY look_at LIMIT ?"
    return Due(
        [item for item in found if isinstance(item, Schedule)],
        _all(db.execute(waiting, (now, limit))),
        [item for item in found if not isinstance(item, Schedule)],
    )


def fire(db: Connection, schedule: Schedule, firing: Firing, now: int) -> list[ScheduleFired] | None:
    """What is to be told; None when the schedule is not as it was seen."""
    entered = list(_admitted(db, schedule, firing.occurrences, now))
    runs = sum(item.status == "due" for item in entered)
    most = schedule.spec.max_runs
    ended = firing.ended or (most is not None and schedule.runs + runs >= most)
    found = db.execute(
        "UPDATE schedules SET next_at = ?, status = ?, runs = runs + ?, version = version + 1, held = ?, problem = ?,"
        " updated_at = ? WHERE user_id = ? AND schedule_id = ? AND version = ? AND status = 'active'",
        (
            *(None if ended else firing.next_at, "ended" if ended else "active", runs, int(firing.seen)),
            *(firing.problem, now, *_whose(schedule), schedule.version),
        ),
    )
    return _enter(db, entered) if found.rowcount else None


def postpone(db: Connection, schedule: Schedule, next_at: int) -> Schedule | None:
    found = db.execute(
        "UPDATE schedules SET next_at = ?, version = version + 1 WHERE user_id = ? AND schedule_id = ? AND version = ?"
        " AND status = 'active'",
        (next_at, schedule.user_id, schedule.schedule_id, schedule.version),
    )
    if not found.rowcount:
        return None
    return msgspec.structs.replace(schedule, next_at=next_at, version=schedule.version + 1)


def run_now(db: Connection, schedule: Schedule, now: int) -> tuple[Occurrence, list[ScheduleFired]] | None:
    most = schedule.spec.max_runs or _UNBOUNDED
    found = db.execute(
        "UPDATE schedules SET runs = runs + 1, version = version + 1, updated_at = ?,"
        " status = CASE WHEN runs + 1 >= ? THEN 'ended' ELSE status END,"
        " next_at = CASE WHEN runs + 1 >= ? THEN NULL ELSE next_at END"
        " WHERE user_id = ? AND schedule_id = ? AND status IN ('active', 'paused')",
        (now, most, most, *_whose(schedule)),
    )
    if not found.rowcount:
        return None
    sql = "SELECT max(due_at) FROM schedule_occurrences WHERE user_id = ? AND schedule_id = ? AND due_at >= ?"
    taken = db.execute(sql, (schedule.user_id, schedule.schedule_id, now)).fetchone()[0]
    at = now if taken is None else taken + 1
    at += at == schedule.next_at  # that one is the schedule's own
    made = Occurrence(
        schedule_id=schedule.schedule_id,
        user_id=schedule.user_id,
        due_at=at,
        status="due",
        look_at=now,
        created_at=now,
        task_id=schedule.spec.task_id or "",
        by_hand=True,
    )
    return made, _enter(db, [made])


def change(
    db: Connection,
    schedule: Schedule,
    status: ScheduleStatus,
    next_at: int | None,
    now: int,
    reason: str,
    problem: str,
) -> list[ScheduleFired] | None:
    found = db.execute(
        "UPDATE schedules SET status = ?, next_at = ?, version = version + 1, updated_at = ?, problem = ?, held = 0"
        " WHERE user_id = ? AND schedule_id = ? AND version = ?",
        (status, next_at, now, problem, *_whose(schedule), schedule.version),
    )
    if not found.rowcount:
        return None
    return [] if status == "active" else _skipped(db, schedule, _WAITING, now, reason)


def edit(
    db: Connection, schedule: Schedule, spec: ScheduleSpec, next_at: int | None, now: int, reason: str
) -> list[ScheduleFired] | None:
    found = db.execute(
        "UPDATE schedules SET spec = ?, next_at = ?, version = version + 1, updated_at = ?, problem = '',"
        " held = CASE WHEN ? = '' THEN held ELSE 0 END WHERE user_id = ? AND schedule_id = ? AND version = ?",
        (encode(spec), next_at, now, reason, *_whose(schedule), schedule.version),
    )
    if not found.rowcount:
        return None
    return _skipped(db, schedule, f"{_WAITING} AND by_hand = 0", now, reason) if reason else []


def _skipped(db: Connection, schedule: Schedule, which: str, now: int, reason: str) -> list[ScheduleFired]:
    """Times that wait are not done any more, unless one is just being delivered."""
    gone = db.execute(
        f"UPDATE schedule_occurrences SET status = 'skipped', settled_at = ?, reason = ?"
        f" WHERE user_id = ? AND schedule_id = ? AND {which} AND claimed_until <= ? RETURNING due_at",
        (now, reason, *_whose(schedule), now),
    ).fetchall()
    return [_told(schedule.schedule_id, due_at, "skipped", reason) for (due_at,) in sorted(gone)]


def set_aside(db: Connection, schedule_id: str, problem: str, now: int) -> None:
    db.execute(
        "UPDATE schedules SET status = 'paused', problem = ?, version = version + 1, updated_at = ?"
        " WHERE schedule_id = ? AND status = 'active'",
        (problem, now, schedule_id),
    )


def claim(db: Connection, occurrence: Occurrence, now: int, until: int) -> bool:
    found = db.execute(
        f"UPDATE schedule_occurrences SET claimed_until = ?, look_at = ? WHERE user_id = ? AND schedule_id = ?"
        f" AND due_at = ? AND attempt = ? AND {_WAITING} AND claimed_until <= ?",
        (until, until, *_which(occurrence), occurrence.attempt, now),
    )
    return found.rowcount > 0


def settle(
    db: Connection,
    occurrence: Occurrence,
    status: OccurrenceStatus,
    *,
    now: int,
    look_at: int,
    reason: str = "",
    attempt: int | None = None,
) -> list[ScheduleFired] | None:
    found = db.execute(
        "UPDATE schedule_occurrences SET status = ?, look_at = ?, reason = ?, attempt = ?, claimed_until = 0,"
        " settled_at = ? WHERE user_id = ? AND schedule_id = ? AND due_at = ? AND status = ? AND attempt = ?",
        (
            *(status, look_at, reason, occurrence.attempt if attempt is None else attempt),
            *(now if status in _SETTLED else None, *_which(occurrence), occurrence.status, occurrence.attempt),
        ),
    )
    if not found.rowcount:
        return None
    if status == occurrence.status:
        return []
    return [_told(occurrence.schedule_id, occurrence.due_at, status, reason)]


def last_run(db: Connection, schedule: Schedule) -> Occurrence | None:
    sql = f"{_OCCURRENCES} WHERE user_id = ? AND schedule_id = ? AND turn_id <> '' ORDER BY due_at DESC LIMIT 1"
    return next(iter(_all(db.execute(sql, _whose(schedule)))), None)


def end_sessions(db: Connection, alive: Collection[str], now: int) -> int:
    left = {holder for (holder,) in db.execute("SELECT DISTINCT holder FROM schedules WHERE holder <> ''")}
    count = 0
    for holder in left - set(alive):
        db.execute(
            f"UPDATE schedule_occurrences SET status = 'skipped', settled_at = ?, reason = ? WHERE {_WAITING}"
            " AND schedule_id IN (SELECT schedule_id FROM schedules WHERE holder = ?)",
            (now, LEFT, holder),
        )
        count += db.execute(
            "UPDATE schedules SET status = CASE WHEN status = 'cancelled' THEN status ELSE 'ended' END, next_at = NULL,"
            " holder = '', version = version + 1, updated_at = ?, problem = ? WHERE holder = ?",
            (now, LEFT, holder),
        ).rowcount
    return count


def forget(db: Connection, before: int, limit: int) -> int:
    gone = db.execute(
        "DELETE FROM schedule_occurrences WHERE (schedule_id, due_at) IN (SELECT schedule_id, due_at"
        " FROM schedule_occurrences WHERE settled_at IS NOT NULL AND settled_at < ? ORDER BY settled_at LIMIT ?)",
        (before, limit),
    ).rowcount
    over = db.execute(
        "DELETE FROM schedules WHERE number IN (SELECT s.number FROM schedules s"
        " WHERE s.status IN ('ended', 'cancelled') AND s.updated_at < ? AND NOT EXISTS (SELECT 1"
        " FROM schedule_occurrences o WHERE o.schedule_id = s.schedule_id) ORDER BY s.updated_at LIMIT ?)",
        (before, limit),
    )
    return gone + over.rowcount


def task_deleted(db: Connection, user_id: str, task_id: str) -> None:
    """A task goes: nothing is said to it any more, and nothing is kept of what was to be."""
    gone = "SELECT schedule_id FROM schedules WHERE user_id = ? AND task_id = ?"
    db.execute(f"DELETE FROM schedule_occurrences WHERE schedule_id IN ({gone})", (user_id, task_id))
    db.execute("DELETE FROM schedules WHERE user_id = ? AND task_id = ?", (user_id, task_id))


def _admitted(db: Connection, schedule: Schedule, found: Sequence[Occurrence], now: int) -> Iterable[Occurrence]:
    """Times that wait one after the other, if so many are wanted; else only one at a time."""
    sql = f"SELECT 1 FROM schedule_occurrences WHERE user_id = ? AND schedule_id = ? AND {_WAITING} LIMIT 1"
    if schedule.spec.catch_up == "all" or db.execute(sql, _whose(schedule)).fetchone() is None:
        return found
    return [
        msgspec.structs.replace(item, status="skipped", settled_at=now, reason=OVERTAKEN)
        if item.status == "due"
        else item
        for item in found
    ]


def _enter(db: Connection, found: Iterable[Occurrence]) -> list[ScheduleFired]:
    told: list[ScheduleFired] = []
    names, marks = ", ".join(_OCCURRENCE), ", ".join("?" * len(_OCCURRENCE))
    sql = (
        f"INSERT INTO schedule_occurrences ({names}) VALUES ({marks}) ON CONFLICT (schedule_id, due_at) DO NOTHING"
    )
    for item in found:
        values = [getattr(item, name) for name in _OCCURRENCE]
        values[_OCCURRENCE.index("by_hand")] = int(item.by_hand)
        if db.execute(sql, values).rowcount:
            told.append(_told(item.schedule_id, item.due_at, item.status, item.reason, item.count))
    return told


def _told(
    schedule_id: str, due_at: int, status: OccurrenceStatus, reason: str = "", count: int = 1
) -> ScheduleFired:
    return ScheduleFired(
        schedule_id=schedule_id, occurrence=iso_ms(due_at), status=status, reason=reason or None, count=count
    )


def _narrowed(sql: str, given: list[Any], clauses: Iterable[tuple[str, object]]) -> tuple[str, list[Any]]:
    for clause, value in clauses:
        if value is not None:
            sql, given = f"{sql} AND {clause}", [*given, value]
    return sql, given


def _whose(schedule: Schedule) -> tuple[str, str]:
    return schedule.user_id, schedule.schedule_id


def _which(occurrence: Occurrence) -> tuple[str, str, int]:
    return occurrence.user_id, occurrence.schedule_id, occurrence.due_at


def _schedule(row: tuple[Any, ...]) -> Schedule:
    fields = dict(zip(_SCHEDULE, row, strict=True))
    fields["spec"] = decode(bytes(fields["spec"]), ScheduleSpec)
    fields["held"] = bool(fields["held"])
    return Schedule(**fields)


def _read(row: tuple[Any, ...]) -> Schedule | tuple[str, str]:
    """A schedule, or the id of one that cannot be read and why: one bad record keeps no other from being done."""
    try:
        return _schedule(row)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        return str(row[0]), f"It cannot be read: {error}"


def _all(rows: Iterable[Any]) -> list[Occurrence]:
    found: list[Occurrence] = []
    for row in rows:
        fields: dict[str, Any] = dict(zip(_OCCURRENCE, row, strict=True))
        fields["by_hand"] = bool(fields["by_hand"])
        found.append(Occurrence(**fields))
    return found
