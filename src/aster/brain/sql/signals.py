"""Keeping what people say of turns, messages and memories.

A signal and what it does to a memory are one commit, and what it did is taken back when it is replaced or deleted: the
same thing said twice counts once.
"""

from typing import Any

import msgspec

from aster.brain.records import ThreadKey
from aster.brain.signals import Said, Signal, Target
from aster.brain.sql.connection import Connection
from aster.brain.sql.learning import journal


class _Message(msgspec.Struct):
    message_id: str | None = None


_FIELDS = tuple(Signal.__struct_fields__)
_COLUMNS = ", ".join(_FIELDS)


def keep(db: Connection, signal: Signal, *, learn: bool = False) -> Signal | None:
    """Keep a signal in the place of an earlier one on the same thing, and an entry to `learn` from it; None when that
    thing is gone."""
    thread_id = _thread(db, signal)
    if thread_id is None and not (signal.target == "memory" and _known(db, signal)):
        return None
    earlier = _on(db, signal.user_id, signal.target, signal.target_id)
    if earlier is not None:
        _take_back(db, earlier)
    before = _apply(db, signal)
    db.execute(
        "INSERT INTO learning_signals (signal_id, user_id, thread_id, target, target_id, task_id, turn_id, rating,"
        " text, correction, confidence_before, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (user_id, target, target_id) DO UPDATE SET rating = excluded.rating, text = excluded.text,"
        " correction = excluded.correction, confidence_before = excluded.confidence_before,"
        " updated_at = excluded.updated_at",
        (
            *(signal.signal_id, signal.user_id, thread_id, signal.target, signal.target_id, signal.task_id),
            *(signal.turn_id, signal.rating, signal.text, signal.correction, before),
            *(signal.created_at, signal.updated_at),
        ),
    )
    kept = _on(db, signal.user_id, signal.target, signal.target_id)
    if learn and kept is not None:
        journal.signalled(db, kept, thread_id)
    return kept


def page(
    db: Connection,
    user_id: str,
    *,
    limit: int,
    before: int | None = None,
    target: Target | None = None,
    task_id: str | None = None,
) -> list[Signal]:
    """Newest first."""
    sql, params = f"SELECT {_COLUMNS} FROM learning_signals WHERE user_id = ?", list[Any]([user_id])
    for clause, value in (("number < ?", before), ("target = ?", target), ("task_id = ?", task_id)):
        if value is not None:
            sql, params = f"{sql} AND {clause}", [*params, value]
    return [_signal(row) for row in db.execute(f"{sql} ORDER BY number DESC LIMIT ?", [*params, limit])]


def drop(db: Connection, user_id: str, signal_id: str) -> bool:
    """Delete a signal and take back what it did; False when there is none."""
    found = db.execute(
        f"SELECT {_COLUMNS} FROM learning_signals WHERE user_id = ? AND signal_id = ?", (user_id, signal_id)
    ).fetchone()
    if found is None:
        return False
    _take_back(db, _signal(found))
    db.execute("DELETE FROM learning_signals WHERE user_id = ? AND signal_id = ?", (user_id, signal_id))
    journal.unsaid(db, user_id, signal_id)
    return True


def forget(db: Connection, user_id: str, record_id: str) -> None:
    """A memory goes, and with it what was said of it."""
    gone = db.execute(
        "DELETE FROM learning_signals WHERE user_id = ? AND target = 'memory' AND target_id = ? RETURNING signal_id",
        (user_id, record_id),
    ).fetchall()
    for (signal_id,) in gone:
        journal.unsaid(db, user_id, signal_id)


def said(db: Connection, key: ThreadKey, message_id: str) -> Said | None:
    """Where a message of a task stands: one that was sent, or an answer."""
    candidates = db.execute(
        "SELECT turn_id, data FROM thread_events WHERE thread_id = (SELECT thread_id FROM threads WHERE user_id = ? AND"
        " task_id = ?) AND type IN ('user_message', 'usage') ORDER BY seq DESC",
        key,
    )
    for turn_id, data in candidates:
        if msgspec.json.decode(data, type=_Message).message_id == message_id:
            return Said(key.task_id, turn_id or "")
    return None


def _thread(db: Connection, signal: Signal) -> int | None:
    if signal.target == "memory":
        return None
    found = db.execute(
        "SELECT thread_id FROM threads WHERE user_id = ? AND task_id = ?", (signal.user_id, signal.task_id)
    ).fetchone()
    return None if found is None else found[0]


def _known(db: Connection, signal: Signal) -> bool:
    found = db.execute(
        "SELECT 1 FROM memory_receipts WHERE user_id = ? AND id = ?", (signal.user_id, signal.target_id)
    )
    return found.fetchone() is not None


def _on(db: Connection, user_id: str, target: Target, target_id: str) -> Signal | None:
    found = db.execute(
        f"SELECT {_COLUMNS} FROM learning_signals WHERE user_id = ? AND target = ? AND target_id = ?",
        (user_id, target, target_id),
    ).fetchone()
    return None if found is None else _signal(found)


def _apply(db: Connection, signal: Signal) -> float | None:
    """Let a rating of a memory count; returns how sure the memory was before."""
    if signal.target != "memory" or not signal.rating:
        return None
    whose = (signal.user_id, signal.target_id)
    number, before = db.execute(
        "SELECT number, confidence FROM memory_receipts WHERE user_id = ? AND id = ?", whose
    ).fetchone()
    rating = signal.rating
    sure = before + (1 - before) * rating / 2 if rating > 0 else before * (1 + rating / 2)
    db.execute("UPDATE memory_receipts SET confidence = ? WHERE number = ?", (round(sure, 4), number))
    if rating > 0:
        db.execute(
            "UPDATE memory_receipts SET uses = uses + 1, last_used_at = ? WHERE number = ?",
            (signal.updated_at, number),
        )
    _mark(db, number, rating, 1)
    return before


def _take_back(db: Connection, signal: Signal) -> None:
    if signal.target != "memory" or not signal.rating:
        return
    found = db.execute(
        "SELECT r.number, s.confidence_before FROM memory_receipts r JOIN learning_signals s"
        " ON s.user_id = r.user_id AND s.target_id = r.id WHERE s.signal_id = ?",
        (signal.signal_id,),
    ).fetchone()
    if found is None:
        return
    number, before = found
    db.execute(
        "UPDATE memory_receipts SET confidence = ?, uses = CASE WHEN uses > ? THEN uses - ? ELSE 0 END"
        " WHERE number = ?",
        (before, *[int(signal.rating > 0)] * 2, number),
    )
    _mark(db, number, signal.rating, -1)


def _mark(db: Connection, number: int, rating: float, by: int) -> None:
    """A lesson counts who found it helpful, and who harmful."""
    column = "helpful" if rating > 0 else "harmful"
    counted = f"CASE WHEN {column} + ? > 0 THEN {column} + ? ELSE 0 END"
    db.execute(f"UPDATE lessons SET {column} = {counted} WHERE number = ?", (by, by, number))


def _signal(row: tuple[Any, ...]) -> Signal:
    return Signal(**dict(zip(_FIELDS, row, strict=True)))
