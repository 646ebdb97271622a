"""The queue of what happened: entries wait, are claimed for a while, and are done in the commit of what they led to.

An entry leaves the queue only by being done or with what it tells of. Of two who want it one gets it, and whoever had
it before can do nothing with it any more.
"""

from collections.abc import Sequence
from typing import Any, Final

from aster.brain.learning import Claim, Entry, QueueState
from aster.brain.signals import Signal
from aster.brain.sql.connection import Connection
from aster.brain.sql.memory.rows import marks
from aster.contracts.learning import EntryState

_FIELDS: Final = tuple(Entry.__struct_fields__)
_COLUMNS: Final = ", ".join(_FIELDS)
_CLAIMED: Final = "state = 'waiting' AND claimed_by IS NOT NULL"
_FREE: Final = "state = 'waiting' AND due_at <= ? AND (claimed_by IS NULL OR claimed_until <= ?)"


def claim(
    db: Connection, holder: str, *, now: int, until: int, limit: int, user_id: str | None = None
) -> list[Entry]:
    """Take the oldest entries of one user that are free: of this one, or of whose have waited longest. Whoever had them
    and let the claim run out has tried in vain."""
    db.dialect.hold(db, "learning_claims")
    whose = user_id if user_id is not None else _longest_waiting(db, now)
    if whose is None:
        return []
    found = db.execute(
        f"SELECT number FROM learning_journal WHERE user_id = ? AND {_FREE} ORDER BY number LIMIT ?",
        (whose, now, now, limit),
    ).fetchall()
    numbers = [number for (number,) in found]
    if not numbers:
        return []
    db.execute(
        "UPDATE learning_journal SET attempts = attempts + CASE WHEN claimed_by IS NULL THEN 0 ELSE 1 END,"
        f" claimed_by = ?, claimed_until = ? WHERE user_id = ? AND number IN ({marks(numbers)})",
        (holder, until, whose, *numbers),
    )
    return _entries(
        db,
        f"user_id = ? AND claimed_by = ? AND number IN ({marks(numbers)}) ORDER BY number",
        (whose, holder, *numbers),
    )


def held(db: Connection, by: Claim, user_id: str, now: int) -> bool:
    """Whether all entries of a claim are this user's and still its holder's, to the end of the transaction."""
    found = _held(db, by)
    return len(found) == len(set(by.numbers)) and all(whose == user_id and until > now for whose, until in found)


def keep_claim(db: Connection, by: Claim, until: int) -> bool:
    if len(_held(db, by)) != len(set(by.numbers)):
        return False
    _change(db, by, "claimed_until = ?", [until])
    return True


def give_back(db: Connection, by: Claim, due_at: int) -> None:
    _change(db, by, "claimed_by = NULL, claimed_until = 0, due_at = ?", [due_at])


def give_up(db: Connection, by: Claim, due_at: int, problem: str, most: int) -> None:
    _change(
        db,
        by,
        "claimed_by = NULL, claimed_until = 0, due_at = ?, problem = ?, attempts = attempts + 1,"
        " state = CASE WHEN attempts + 1 >= ? THEN 'set_aside' ELSE 'waiting' END",
        [due_at, problem, most],
    )


def claimed(db: Connection) -> bool:
    """Whether anybody has an entry, or has let a claim run out."""
    return db.execute(f"SELECT 1 FROM learning_journal WHERE {_CLAIMED} LIMIT 1").fetchone() is not None


def forsaken(db: Connection) -> None:
    """All claims have run out; each was a try in vain."""
    db.execute(f"UPDATE learning_journal SET claimed_until = 0 WHERE {_CLAIMED}")


def done(db: Connection, by: Claim, changeset_id: str, now: int) -> None:
    """These entries led to a changeset."""
    _change(
        db,
        by,
        "state = 'done', claimed_by = NULL, claimed_until = 0, problem = '', changeset_id = ?, done_at = ?",
        [changeset_id, now],
    )


def requeue(db: Connection, user_id: str, number: int) -> bool:
    changed = db.execute(
        "UPDATE learning_journal SET state = 'waiting', attempts = 0, due_at = 0, problem = ''"
        " WHERE user_id = ? AND number = ? AND state = 'set_aside'",
        (user_id, number),
    )
    return changed.rowcount > 0


def queue(db: Connection, user_id: str | None, now: int) -> QueueState:
    whose, params = ("", []) if user_id is None else (" WHERE user_id = ?", [user_id])
    waiting = claimed = aside = finished = 0
    oldest: int | None = None
    found = db.execute(
        "SELECT state, CASE WHEN claimed_by IS NOT NULL AND claimed_until > ? THEN 1 ELSE 0 END AS held, count(*),"
        f" min(created_at) FROM learning_journal{whose} GROUP BY 1, 2",
        [now, *params],
    )
    for state, taken, count, since in found:
        if state == "done":
            finished += count
        elif state == "set_aside":
            aside += count
        else:
            oldest = since if oldest is None else min(oldest, since)
            claimed, waiting = (claimed + count, waiting) if taken else (claimed, waiting + count)
    return QueueState(waiting=waiting, claimed=claimed, set_aside=aside, done=finished, oldest_at=oldest)


def entries(
    db: Connection, user_id: str, *, limit: int, before: int | None = None, state: EntryState | None = None
) -> list[Entry]:
    """Newest first."""
    condition, params = "user_id = ?", list[Any]([user_id])
    for clause, value in (("number < ?", before), ("state = ?", state)):
        if value is not None:
            condition, params = f"{condition} AND {clause}", [*params, value]
    return _entries(db, f"{condition} ORDER BY number DESC LIMIT ?", [*params, limit])


def waiting_users(db: Connection, now: int, user_id: str | None = None) -> list[str]:
    """Whose entries are free, those that have waited longest first; of one user only, if one is named."""
    whose, params = ("", ()) if user_id is None else (" AND user_id = ?", (user_id,))
    query = f"SELECT user_id FROM learning_journal WHERE {_FREE}{whose} GROUP BY user_id ORDER BY min(number)"
    return [found for (found,) in db.execute(query, (now, now, *params))]


def retain(db: Connection, done_before: int, limit: int) -> int:
    return db.execute(
        "DELETE FROM learning_journal WHERE number IN (SELECT number FROM learning_journal"
        " WHERE state = 'done' AND done_at < ? ORDER BY done_at LIMIT ?)",
        (done_before, limit),
    ).rowcount


def signalled(db: Connection, signal: Signal, thread_id: int | None) -> None:
    """A person said something: what they said before is no longer to be learned from."""
    unsaid(db, signal.user_id, signal.signal_id)
    kind = "correction" if signal.correction else "feedback"
    db.execute(
        "INSERT INTO learning_journal (entry_id, user_id, thread_id, kind, task_id, turn_id, signal_id, created_at)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (entry_id) DO NOTHING",
        (
            *(f"{signal.signal_id}:{signal.updated_at}", signal.user_id, thread_id, kind),
            *(signal.task_id, signal.turn_id, signal.signal_id, signal.updated_at),
        ),
    )


def unsaid(db: Connection, user_id: str, signal_id: str) -> None:
    """A signal was taken back before anything was learned from it."""
    db.execute(
        "DELETE FROM learning_journal WHERE user_id = ? AND signal_id = ? AND signal_id <> '' AND state <> 'done'",
        (user_id, signal_id),
    )


def _longest_waiting(db: Connection, now: int) -> str | None:
    query = f"SELECT user_id FROM learning_journal WHERE {_FREE} ORDER BY number LIMIT 1"
    found = db.execute(query, (now, now)).fetchone()
    return None if found is None else str(found[0])


def _held(db: Connection, by: Claim) -> list[tuple[str, int]]:
    """Whose the entries are that a holder has, and until when it has them."""
    if not by.numbers:
        return []
    return db.execute(
        "SELECT user_id, claimed_until FROM learning_journal WHERE claimed_by = ? AND state = 'waiting'"
        f" AND number IN ({marks(by.numbers)}) ORDER BY number{db.dialect.lock}",
        (by.holder, *by.numbers),
    ).fetchall()


def _change(db: Connection, by: Claim, changes: str, values: Sequence[object]) -> None:
    if by.numbers:
        db.execute(
            f"UPDATE learning_journal SET {changes} WHERE claimed_by = ? AND state = 'waiting'"
            f" AND number IN ({marks(by.numbers)})",
            (*values, by.holder, *by.numbers),
        )


def _entries(db: Connection, condition: str, params: Sequence[object]) -> list[Entry]:
    found = db.execute(f"SELECT {_COLUMNS} FROM learning_journal WHERE {condition}", params)
    return [Entry(**dict(zip(_FIELDS, row, strict=True))) for row in found]
