"""Reading teams, and putting mail into somebody's box: numbered for the recipient, told on both threads."""

from collections.abc import Sequence
from typing import Any, Final

from msgspec.structs import replace

from aster.brain.records import ThreadKey
from aster.brain.sql.connection import Connection
from aster.brain.sql.work import graph
from aster.brain.teams import Seat
from aster.contracts.events import Event, TeamMessage
from aster.contracts.model import decode, encode
from aster.contracts.teams import LEAD, Mail, Team, TeamMember, TeamStatus
from aster.infra.ids import new_id

_TEAM: Final = Team.__struct_fields__
_MEMBER: Final = TeamMember.__struct_fields__
_MAIL: Final = Mail.__struct_fields__
_TEAMS: Final = f"SELECT {', '.join(_TEAM)} FROM teams"
_MEMBERS: Final = f"SELECT {', '.join(_MEMBER)} FROM team_members"
_LETTERS: Final = f"SELECT {', '.join(_MAIL)} FROM team_mail"


def team(db: Connection, user_id: str, team_id: str) -> Team | None:
    found = db.execute(f"{_TEAMS} WHERE user_id = ? AND team_id = ?", (user_id, team_id)).fetchone()
    return None if found is None else _team(found)


def teams(
    db: Connection, user_id: str, *, limit: int, before: str | None = None, status: TeamStatus | None = None
) -> list[Team]:
    where, given = "user_id = ?", [user_id]
    if status is not None:
        where, given = f"{where} AND status = ?", [*given, status]
    if before is not None:
        older = "number < (SELECT number FROM teams WHERE user_id = ? AND team_id = ?)"
        where, given = f"{where} AND {older}", [*given, user_id, before]
    rows = db.execute(f"{_TEAMS} WHERE {where} ORDER BY number DESC LIMIT ?", (*given, limit))
    return [_team(row) for row in rows]


def of_lead(db: Connection, key: ThreadKey) -> list[Team]:
    rows = db.execute(f"{_TEAMS} WHERE user_id = ? AND lead_task_id = ? ORDER BY number DESC", key)
    return [_team(row) for row in rows]


def on_board(db: Connection, user_id: str, board: str) -> list[Team]:
    rows = db.execute(f"{_TEAMS} WHERE user_id = ? AND board = ? AND status = 'active'", (user_id, board))
    return [_team(row) for row in rows]


def members(db: Connection, user_id: str, team_id: str) -> list[TeamMember]:
    rows = db.execute(f"{_MEMBERS} WHERE user_id = ? AND team_id = ? ORDER BY number", (user_id, team_id))
    return [_member(row) for row in rows]


def member(db: Connection, user_id: str, team_id: str, name: str) -> TeamMember | None:
    found = db.execute(
        f"{_MEMBERS} WHERE user_id = ? AND team_id = ? AND folded = ?", (user_id, team_id, name.casefold())
    ).fetchone()
    return None if found is None else _member(found)


def member_at(db: Connection, user_id: str, task_id: str) -> TeamMember | None:
    """The member whose task this is."""
    found = db.execute(f"{_MEMBERS} WHERE user_id = ? AND task_id = ?", (user_id, task_id)).fetchone()
    return None if found is None else _member(found)


def seat(db: Connection, key: ThreadKey) -> Seat | None:
    found = member_at(db, *key)
    if found is not None:
        own = team(db, key.user_id, found.team_id)
        return None if own is None else Seat(team=own, name=found.name, task_id=key.task_id, role=found.role)
    led = db.execute(f"{_TEAMS} WHERE user_id = ? AND lead_task_id = ? AND status = 'active'", key).fetchone()
    return None if led is None else Seat(team=_team(led), name=LEAD, task_id=key.task_id)


def threads(db: Connection, user_id: str, team_id: str) -> tuple[ThreadKey, ...]:
    found = team(db, user_id, team_id)
    if found is None:
        return ()
    tasks = (found.lead_task_id, *(one.task_id for one in members(db, user_id, team_id)))
    return tuple(ThreadKey(user_id, task_id) for task_id in tasks)


def unheard(db: Connection, user_id: str, team_id: str, recipient: str) -> list[Mail]:
    rows = db.execute(
        f"{_LETTERS} WHERE user_id = ? AND team_id = ? AND recipient = ? AND acked_at IS NULL ORDER BY seq",
        (user_id, team_id, recipient),
    )
    return [letter(row) for row in rows]


def mail(
    db: Connection, user_id: str, team_id: str, *, limit: int, before: int | None = None, name: str | None = None
) -> list[Mail]:
    where, given = "user_id = ? AND team_id = ?", [user_id, team_id]
    if before is not None:
        where, given = f"{where} AND number < ?", [*given, before]
    if name is not None:
        where, given = f"{where} AND (sender = ? OR recipient = ?)", [*given, name, name]
    rows = db.execute(f"{_LETTERS} WHERE {where} ORDER BY number DESC LIMIT ?", (*given, limit))
    return [letter(row) for row in rows]


def waiting(db: Connection, user_id: str, team_id: str) -> dict[str, int]:
    rows = db.execute(
        "SELECT recipient, count(*) FROM team_mail WHERE user_id = ? AND team_id = ? AND acked_at IS NULL"
        " GROUP BY recipient",
        (user_id, team_id),
    )
    return dict(rows)


def costs(db: Connection, user_id: str, team_id: str) -> dict[str, float]:
    rows = db.execute(
        "SELECT name, coalesce(sum(cost_usd), 0) FROM (SELECT m.name, u.cost_usd FROM team_members m JOIN usage u"
        " ON u.user_id = m.user_id AND u.task_id = m.task_id WHERE m.user_id = ? AND m.team_id = ?"
        " UNION ALL SELECT m.name, u.cost_usd FROM team_members m JOIN threads t ON t.user_id = m.user_id"
        " AND t.parent_task_id = m.task_id JOIN usage u ON u.user_id = t.user_id AND u.task_id = t.task_id"
        " WHERE m.user_id = ? AND m.team_id = ?) AS spent GROUP BY name",
        (user_id, team_id, user_id, team_id),
    )
    return dict(rows)


def task_deleted(db: Connection, key: ThreadKey) -> None:
    """The task is deleted, and so are the teams it led."""
    for found in of_lead(db, key):
        for table in ("team_mail", "team_members", "team_requests", "team_gates", "teams"):
            db.execute(f"DELETE FROM {table} WHERE user_id = ? AND team_id = ?", (key.user_id, found.team_id))


def left(db: Connection, before: int) -> list[tuple[str, str]]:
    """Where mail has not been told, a member was to stop and has not, or one is at rest while there is work for it. Who
    begins what is younger than that may still be at it."""
    rows = db.execute(
        "SELECT t.user_id, t.team_id FROM teams t WHERE (t.status = 'active' AND (EXISTS (SELECT 1 FROM team_mail m"
        " WHERE m.team_id = t.team_id AND m.acked_at IS NULL AND m.told_at IS NULL AND m.created_at <= ?)"
        " OR (EXISTS (SELECT 1 FROM team_members w WHERE w.team_id = t.team_id AND w.status = 'idle'"
        " AND w.updated_at <= ?) AND EXISTS (SELECT 1 FROM work_items i WHERE i.user_id = t.user_id"
        f" AND i.board = t.board AND i.updated_at <= ? AND {graph.READY}))))"
        " OR EXISTS (SELECT 1 FROM team_members w WHERE w.team_id = t.team_id AND w.stop = 'hard'"
        " AND w.status <> 'stopped' AND w.updated_at <= ?)",
        (before, before, before, before),
    )
    return [(user_id, team_id) for user_id, team_id in rows]


def post(
    db: Connection,
    found: Team,
    letter_: "tuple[str, str, str, str]",
    places: dict[str, str],
    now: int,
    metadata: dict[str, Any] | None = None,
    call_key: str = "",
) -> tuple[Mail, list[Event]]:
    """Put a message (sender, recipient, type, content) into its recipient's box; the message, and what tells of it on
    the threads of both. `places` are the tasks of those who have one. The team is held."""
    sender, recipient, kind, content = letter_
    known, message_id = metadata or {}, new_id("mail")
    seq = db.execute(
        "SELECT coalesce(max(seq), 0) + 1 FROM team_mail WHERE team_id = ? AND recipient = ?",
        (found.team_id, recipient),
    ).fetchone()[0]
    fields = {
        "team_id": found.team_id,
        "recipient": recipient,
        "seq": seq,
        "user_id": found.user_id,
        "message_id": message_id,
        "sender": sender,
        "type": kind,
        "content": content,
        "metadata": encode(known),
        "call_key": call_key,
        "created_at": now,
        "turn_id": "",
        "told_id": "",
    }
    insert(db, "team_mail", fields)
    row = db.execute(
        f"{_LETTERS} WHERE team_id = ? AND recipient = ? AND seq = ?", (found.team_id, recipient, seq)
    ).fetchone()
    told = TeamMessage(
        message_id=message_id,
        sender=sender,
        recipient=recipient,
        message_type=kind,
        content=content,
        metadata=known or None,
        team_id=found.team_id,
        mail_seq=seq,
    )
    where = dict.fromkeys(places.get(name, found.lead_task_id) for name in (sender, recipient))
    return letter(row), [replace(told, task_id=task_id) for task_id in where]


def places_of(found: Team, everybody: Sequence[TeamMember]) -> dict[str, str]:
    """The tasks of everybody in a team, by name."""
    return {LEAD: found.lead_task_id, **{one.name: one.task_id for one in everybody}}


def insert(db: Connection, table: str, fields: dict[str, Any]) -> None:
    marks = ", ".join("?" * len(fields))
    db.execute(f"INSERT INTO {table} ({', '.join(fields)}) VALUES ({marks})", list(fields.values()))


def letter(row: Sequence[Any]) -> Mail:
    fields: dict[str, Any] = dict(zip(_MAIL, row, strict=True))
    fields["metadata"] = decode(bytes(fields["metadata"]), dict[str, Any])
    return Mail(**fields)


def _team(row: Sequence[Any]) -> Team:
    return Team(**dict(zip(_TEAM, row, strict=True)))


def _member(row: Sequence[Any]) -> TeamMember:
    fields: dict[str, Any] = dict(zip(_MEMBER, row, strict=True))
    fields |= {"require_plan": bool(fields["require_plan"]), "body": bytes(fields["body"]).decode()}
    return TeamMember(**fields)
