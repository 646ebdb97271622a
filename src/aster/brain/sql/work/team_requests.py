"""Requests and plan gates of teams in SQL: looking, and the small changes that deeds are made of.

A gate belongs to a member's task; whoever works for that one is behind the same gate, found by going up the tasks.
"""

from typing import Any, Final

from aster.brain.sql.connection import Connection
from aster.contracts.team_requests import GateStatus, PlanGate, RequestKind, RequestStatus, TeamRequest

_REQUEST: Final = TeamRequest.__struct_fields__
_GATE: Final = PlanGate.__struct_fields__
_DEEP: Final = 16
WANTED: Final = (
    "Hand in a plan with submit_plan before you change anything; until it is approved you can only look."
)


def request(db: Connection, user_id: str, team_id: str, request_id: str) -> TeamRequest | None:
    sql = f"SELECT {', '.join(_REQUEST)} FROM team_requests WHERE user_id = ? AND team_id = ? AND request_id = ?"
    return _request(db.execute(sql, (user_id, team_id, request_id)).fetchone())


def called(db: Connection, user_id: str, call_key: str) -> TeamRequest | None:
    """The request that a tool call has made before, if it has."""
    if not call_key:
        return None
    sql = f"SELECT {', '.join(_REQUEST)} FROM team_requests WHERE user_id = ? AND call_key = ?"
    return _request(db.execute(sql, (user_id, call_key)).fetchone())


def open_request(db: Connection, user_id: str, task_id: str, kind: RequestKind) -> TeamRequest | None:
    """What is under way with the member whose task this is."""
    sql = (
        f"SELECT {', '.join(_REQUEST)} FROM team_requests WHERE user_id = ? AND task_id = ? AND kind = ?"
        " AND status = 'pending'"
    )
    return _request(db.execute(sql, (user_id, task_id, kind)).fetchone())


def requests(
    db: Connection,
    user_id: str,
    team_id: str,
    *,
    limit: int,
    kind: RequestKind | None = None,
    status: RequestStatus | None = None,
    before: str | None = None,
) -> list[TeamRequest]:
    sql = f"SELECT {', '.join(_REQUEST)} FROM team_requests WHERE user_id = ? AND team_id = ?"
    given: list[Any] = [user_id, team_id]
    for column, value in (("kind", kind), ("status", status)):
        if value is not None:
            sql, given = f"{sql} AND {column} = ?", [*given, value]
    if before is not None:
        sql += " AND number < (SELECT number FROM team_requests WHERE user_id = ? AND request_id = ?)"
        given += [user_id, before]
    found = db.execute(f"{sql} ORDER BY number DESC LIMIT ?", [*given, limit])
    return [TeamRequest(**dict(zip(_REQUEST, row, strict=True))) for row in found]


def gate(db: Connection, user_id: str, task_id: str) -> PlanGate | None:
    """The gate of the member whose task this is."""
    sql = f"SELECT {', '.join(_GATE)} FROM team_gates WHERE user_id = ? AND task_id = ?"
    return _gate(db.execute(sql, (user_id, task_id)).fetchone())


def gate_above(db: Connection, user_id: str, task_id: str) -> PlanGate | None:
    """The gate that a task is behind: its own, or that of the member it works for."""
    columns = ", ".join(f"g.{name}" for name in _GATE)
    sql = (
        "WITH RECURSIVE up (task_id, far) AS (SELECT ?, 0 UNION ALL SELECT t.parent_task_id, up.far + 1 FROM threads t"
        f" JOIN up ON t.task_id = up.task_id WHERE t.user_id = ? AND t.parent_task_id <> '' AND up.far < {_DEEP})"
        f" SELECT {columns} FROM up JOIN team_gates g ON g.task_id = up.task_id WHERE g.user_id = ?"
        " ORDER BY up.far LIMIT 1"
    )
    return _gate(db.execute(sql, (task_id, user_id, user_id)).fetchone())


def gates(db: Connection, user_id: str, team_id: str) -> list[PlanGate]:
    sql = f"SELECT {', '.join(_GATE)} FROM team_gates WHERE user_id = ? AND team_id = ? ORDER BY member"
    rows = db.execute(sql, (user_id, team_id))
    return [PlanGate(**dict(zip(_GATE, row, strict=True))) for row in rows]


def owned(db: Connection, user_id: str, owner: str | None) -> PlanGate | None:
    """The gate of the member that has items under this name."""
    if not owner:
        return None
    sql = f"SELECT {', '.join(_GATE)} FROM team_gates WHERE user_id = ? AND owner = ?"
    return _gate(db.execute(sql, (user_id, owner)).fetchone())


def add_request(db: Connection, user_id: str, found: TeamRequest, task_id: str, call_key: str) -> TeamRequest:
    fields = {name: getattr(found, name) for name in _REQUEST}
    fields |= {"user_id": user_id, "task_id": task_id, "call_key": call_key or None}
    marks = ", ".join("?" * len(fields))
    db.execute(f"INSERT INTO team_requests ({', '.join(fields)}) VALUES ({marks})", list(fields.values()))
    return found


def settle(
    db: Connection,
    user_id: str,
    request_id: str,
    status: RequestStatus,
    now: int,
    *,
    by: str | None = None,
    feedback: str | None = None,
) -> bool:
    """End a request that is still open; False when it is not."""
    sql = (
        "UPDATE team_requests SET status = ?, answered_by = ?, feedback = ?, answered_at = ?"
        " WHERE user_id = ? AND request_id = ? AND status = 'pending'"
    )
    return db.execute(sql, (status, by, feedback, now, user_id, request_id)).rowcount == 1


def void(db: Connection, user_id: str, task_id: str, now: int, kind: RequestKind = "plan_approval") -> None:
    """What is under way with a member means nothing any more."""
    db.execute(
        "UPDATE team_requests SET status = 'void', answered_at = ? WHERE user_id = ? AND task_id = ? AND kind = ?"
        " AND status = 'pending'",
        (now, user_id, task_id, kind),
    )


def require(db: Connection, user_id: str, team_id: str, member: str, owner: str, task_id: str, now: int) -> None:
    """A member has to hand in a plan from now on, whatever was approved before."""
    void(db, user_id, task_id, now)
    db.execute(
        "INSERT INTO team_gates (user_id, task_id, team_id, member, owner, status, work_version, updated_at)"
        " VALUES (?, ?, ?, ?, ?, 'required', 1, ?) ON CONFLICT (user_id, task_id) DO UPDATE SET"
        " status = 'required', work_version = team_gates.work_version + 1, item_id = NULL, request_id = NULL,"
        " feedback = NULL, updated_at = excluded.updated_at",
        (user_id, task_id, team_id, member, owner, now),
    )


def stand(db: Connection, user_id: str, task_id: str, status: GateStatus, now: int, **fields: str | None) -> None:
    """A gate stands so from now on."""
    more = "".join(f", {name} = ?" for name in fields)
    db.execute(
        f"UPDATE team_gates SET status = ?, updated_at = ?{more} WHERE user_id = ? AND task_id = ?",
        (status, now, *fields.values(), user_id, task_id),
    )


def moved(db: Connection, user_id: str, owner: str | None, now: int) -> None:
    """Whoever has items under this name has taken or left one: a plan was for the work as it was."""
    found = owned(db, user_id, owner)
    if found is None:
        return
    require(db, user_id, found.team_id, found.member, owner or "", found.task_id, now)


def _request(row: Any) -> TeamRequest | None:
    return None if row is None else TeamRequest(**dict(zip(_REQUEST, row, strict=True)))


def _gate(row: Any) -> PlanGate | None:
    return None if row is None else PlanGate(**dict(zip(_GATE, row, strict=True)))
