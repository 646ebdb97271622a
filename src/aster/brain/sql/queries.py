"""Every reading query, as a function of a connection. Each filters by user, without exception."""

from collections.abc import Iterable
from typing import Any, TypeVar

from aster.brain.records import (
    ConversationRow,
    Frame,
    HitlRecord,
    InboxRow,
    KeyRow,
    ObservabilityRow,
    Place,
    QuotaRow,
    SnapshotRow,
    ThreadKey,
    ThreadRecord,
    TrajectoryRow,
    TurnRecord,
    frame,
)
from aster.brain.sql.connection import Connection
from aster.contracts.model import Contract

R = TypeVar("R", bound=Contract)

_THREAD = (
    "task_id, user_id, title, status, created_at, updated_at, active_turn_id, tip_turn_id, from_task_id, from_seq,"
    " parent_task_id, home_task_id, owner, epoch, asked_to_stop"
)
_TURN = (
    "t.turn_id, h.task_id, t.user_id, t.status, t.segment, t.first_seq, t.started_at, t.last_seq, t.ended_at,"
    " t.stop_reason, t.error, t.model_calls, t.input_tokens, t.output_tokens, t.cache_read_tokens,"
    " t.cache_write_tokens, t.cost_usd, t.agent, t.crashes, h.owner, h.epoch"
)
_HITL = (
    "r.request_id, h.task_id, r.user_id, r.turn_id, r.kind, r.question, r.status, r.created_at, r.tool,"
    " r.tool_call_id, r.input, r.options, r.reason, r.answer, r.resolved_at, r.offer"
)
_THIS = "thread_id = (SELECT thread_id FROM threads WHERE user_id = ? AND task_id = ?)"


def _rows(kind: type[R], found: Iterable[tuple[Any, ...]]) -> list[R]:
    names = kind.__struct_fields__
    return [kind(**dict(zip(names, row, strict=True))) for row in found]


def _one(kind: type[R], found: tuple[Any, ...] | None) -> R | None:
    return None if found is None else _rows(kind, [found])[0]


def _columns(kind: type[Contract]) -> str:
    return ", ".join(kind.__struct_fields__)


def thread(db: Connection, key: ThreadKey) -> ThreadRecord | None:
    sql = f"SELECT {_THREAD} FROM threads WHERE user_id = ? AND task_id = ?"
    return _one(ThreadRecord, db.execute(sql, key).fetchone())


def threads(
    db: Connection,
    user_id: str,
    *,
    limit: int,
    before: Place | None = None,
    status: str | None = None,
    search: str | None = None,
    parent: str | None = None,
) -> list[ThreadRecord]:
    """Newest change first; `before` is the place of the last one seen. Those of sub-agents are listed by `parent`."""
    sql = f"SELECT {_THREAD} FROM threads WHERE user_id = ?"
    params: list[Any] = [user_id]
    if parent is None:
        sql += " AND parent_task_id IS NULL"
    else:
        sql, params = sql + " AND parent_task_id = ?", [*params, parent]
    if before is not None:
        sql, params = sql + " AND (updated_at, task_id) < (?, ?)", [*params, *before]
    if status is not None:
        sql, params = sql + " AND status = ?", [*params, status]
    if search:
        pattern = "%" + search.lower().replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
        sql += " AND (lower(title) LIKE ? ESCAPE '\\' OR lower(task_id) LIKE ? ESCAPE '\\')"
        params += [pattern, pattern]
    sql += " ORDER BY updated_at DESC, task_id DESC LIMIT ?"
    return _rows(ThreadRecord, db.execute(sql, [*params, limit]))


def frames(db: Connection, key: ThreadKey, after_seq: int, limit: int, turn_id: str | None = None) -> list[Frame]:
    """Events of a thread after a seq, in order."""
    sql = f"SELECT seq, type, turn_id, grade, data FROM thread_events WHERE {_THIS} AND seq > ?"
    params: list[Any] = [*key, after_seq]
    if turn_id is not None:
        sql, params = sql + " AND turn_id = ?", [*params, turn_id]
    sql += " ORDER BY seq LIMIT ?"
    return [frame(*row) for row in db.execute(sql, [*params, limit])]


def records(db: Connection, key: ThreadKey, turn_id: str, after_seq: int) -> list[tuple[str, bytes]]:
    """Type and JSON of a turn's records after a seq, for the fold."""
    first = db.execute("SELECT first_seq FROM turns WHERE turn_id = ?", (turn_id,)).fetchone()
    # A turn's message and its `started` are written together, the message second; nothing of it is before.
    floor = max(after_seq, first[0] - 1 if first else 0)
    sql = (
        f"SELECT type, data FROM thread_events WHERE {_THIS} AND seq > ? AND turn_id = ? AND grade != 'delta'"
        " ORDER BY seq"
    )
    return db.execute(sql, (*key, floor, turn_id)).fetchall()


def seq_at(db: Connection, key: ThreadKey, after_ms: int) -> int:
    """The last seq of a thread written at or before a point in time."""
    sql = f"SELECT max(seq) FROM thread_events WHERE {_THIS} AND ts <= ?"
    return db.execute(sql, (*key, after_ms)).fetchone()[0] or 0


def head(db: Connection, key: ThreadKey) -> int:
    sql = f"SELECT max(seq) FROM thread_events WHERE {_THIS}"
    return db.execute(sql, key).fetchone()[0] or 0


def turn(db: Connection, user_id: str, turn_id: str) -> TurnRecord | None:
    sql = f"SELECT {_TURN} FROM turns t JOIN threads h USING (thread_id) WHERE t.user_id = ? AND t.turn_id = ?"
    return _one(TurnRecord, db.execute(sql, (user_id, turn_id)).fetchone())


def turns(db: Connection, key: ThreadKey) -> list[TurnRecord]:
    sql = (
        f"SELECT {_TURN} FROM turns t JOIN threads h USING (thread_id)"
        " WHERE h.user_id = ? AND h.task_id = ? ORDER BY t.first_seq"
    )
    return _rows(TurnRecord, db.execute(sql, key))


def running_turns(db: Connection, owner: str | None = None) -> list[TurnRecord]:
    """Turns of every user that run: all, or those of one replica."""
    sql = f"SELECT {_TURN} FROM turns t JOIN threads h USING (thread_id) WHERE t.status = 'running'"
    owned = ("", ()) if owner is None else (" AND h.owner = ?", (owner,))
    return _rows(TurnRecord, db.execute(f"{sql}{owned[0]} ORDER BY t.started_at", owned[1]))


def answered_turns(db: Connection) -> list[TurnRecord]:
    """Suspended turns of every user with nothing open any more; asked once, at boot."""
    sql = (
        f"SELECT {_TURN} FROM turns t JOIN threads h USING (thread_id) WHERE t.status = 'suspended' AND NOT EXISTS"
        " (SELECT 1 FROM hitl_requests r WHERE r.turn_id = t.turn_id AND r.status = 'pending') AND NOT EXISTS"
        " (SELECT 1 FROM subagents s WHERE s.turn_id = t.turn_id AND s.status = 'running' AND s.background = 0)"
    )
    return _rows(TurnRecord, db.execute(sql))


def waiting_threads(db: Connection) -> list[ThreadKey]:
    """Idle threads of every user that still have messages in their inbox; asked once, at boot."""
    sql = (
        "SELECT DISTINCT h.user_id, h.task_id FROM inbox i JOIN threads h USING (thread_id) WHERE h.status = 'idle'"
    )
    return [ThreadKey(*row) for row in db.execute(sql)]


def conversations(db: Connection, key: ThreadKey) -> list[ConversationRow]:
    sql = f"SELECT {_columns(ConversationRow)} FROM conversations WHERE {_THIS} ORDER BY created_at"
    return _rows(ConversationRow, db.execute(sql, key))


def snapshot(db: Connection, user_id: str, turn_id: str, now: int) -> SnapshotRow | None:
    sql = (
        f"SELECT {_columns(SnapshotRow)} FROM channel_state_snapshots"
        " WHERE user_id = ? AND turn_id = ? AND expires_at > ?"
    )
    return _one(SnapshotRow, db.execute(sql, (user_id, turn_id, now)).fetchone())


def trajectory(db: Connection, user_id: str, turn_id: str) -> TrajectoryRow | None:
    sql = f"SELECT {_columns(TrajectoryRow)} FROM trajectories WHERE user_id = ? AND turn_id = ?"
    return _one(TrajectoryRow, db.execute(sql, (user_id, turn_id)).fetchone())


def inbox(db: Connection, key: ThreadKey) -> list[InboxRow]:
    sql = f"SELECT {_columns(InboxRow)} FROM inbox WHERE {_THIS} ORDER BY created_at, rowid"
    return _rows(InboxRow, db.execute(sql, key))


def pending_requests(db: Connection, user_id: str, task_id: str | None = None) -> list[HitlRecord]:
    """What waits for a person: anywhere, or in a task and in what its sub-agents do."""
    sql = (
        f"SELECT {_HITL} FROM hitl_requests r JOIN threads h USING (thread_id)"
        " WHERE r.user_id = ? AND r.status = 'pending'"
    )
    params: list[Any] = [user_id]
    if task_id is not None:
        sql += (
            " AND h.task_id IN (WITH RECURSIVE tree (task_id) AS (SELECT ? UNION SELECT t.task_id FROM threads t"
            " JOIN tree ON t.parent_task_id = tree.task_id WHERE t.user_id = ?) SELECT task_id FROM tree)"
        )
        params += [task_id, user_id]
    return _rows(HitlRecord, db.execute(sql + " ORDER BY r.created_at, r.rowid", params))


def request(db: Connection, user_id: str, request_id: str) -> HitlRecord | None:
    sql = (
        f"SELECT {_HITL} FROM hitl_requests r JOIN threads h USING (thread_id)"
        " WHERE r.user_id = ? AND r.request_id = ?"
    )
    return _one(HitlRecord, db.execute(sql, (user_id, request_id)).fetchone())


def budget_requests(db: Connection) -> list[HitlRecord]:
    """Open requests of every user about a budget; asked once, at boot."""
    sql = (
        f"SELECT {_HITL} FROM hitl_requests r JOIN threads h USING (thread_id)"
        " WHERE r.status = 'pending' AND r.kind = 'budget' ORDER BY r.created_at, r.rowid"
    )
    return _rows(HitlRecord, db.execute(sql))


def keys(db: Connection) -> list[KeyRow]:
    return _rows(KeyRow, db.execute(f"SELECT {_columns(KeyRow)} FROM api_keys ORDER BY created_at"))


def observations(db: Connection, user_id: str, *, limit: int, kind: str | None = None) -> list[ObservabilityRow]:
    sql = f"SELECT {_columns(ObservabilityRow)} FROM observability_events WHERE user_id = ?"
    params: list[Any] = [user_id]
    if kind is not None:
        sql, params = sql + " AND kind = ?", [*params, kind]
    return _rows(ObservabilityRow, db.execute(sql + " ORDER BY created_at DESC LIMIT ?", [*params, limit]))


def quota_windows(db: Connection, now: int) -> list[QuotaRow]:
    """The limits of model providers that still mean something."""
    sql = f"SELECT {_columns(QuotaRow)} FROM quota_windows WHERE resets_at > ?"
    return _rows(QuotaRow, db.execute(sql, (now,)))


def counts(db: Connection) -> dict[str, int]:
    """How much there is, for health and metrics."""
    asked = {
        "suspended": "SELECT count(*) FROM turns WHERE status = 'suspended'",
        "pending": "SELECT count(*) FROM hitl_requests WHERE status = 'pending'",
        "waiting": "SELECT count(*) FROM inbox",
    }
    return {name: db.execute(sql).fetchone()[0] for name, sql in asked.items()}


def ping(db: Connection) -> int:
    """The schema version: proof that the brain can be read."""
    return db.execute("SELECT max(version) FROM schema_migrations").fetchone()[0]
