"""Forgetting: first what a forget would take along, then the rows, then every trace of them.

With `secure_delete` on, what is deleted is overwritten with zeros in its page; the full-text index keeps words of
deleted records until its parts are merged, and the log beside the file keeps old pages until it is written back.
All three are done before a forget is done.
"""

from collections.abc import Iterable, Sequence

from aster.brain.memory_kinds import KINDS
from aster.brain.memory_records import Doomed, MemoryRow, Span, Why
from aster.brain.sql import signals
from aster.brain.sql.connection import Connection
from aster.brain.sql.learning import erasing
from aster.brain.sql.memory import index, rows
from aster.infra.clock import now_ms


def of_spans(db: Connection, user_id: str, spans: Sequence[Span]) -> list[str]:
    """The records that came from these parts of threads."""
    found: list[str] = []
    for span in spans:
        found += [
            name
            for (name,) in db.execute(
                "SELECT id FROM memory_receipts WHERE user_id = ? AND task_id = ? AND task_id <> ''"
                " AND last_seq >= ? AND (CAST(? AS BIGINT) IS NULL OR first_seq <= ?) ORDER BY number",
                (user_id, span.task_id, span.first_seq, span.last_seq, span.last_seq),
            )
        ]
    return found


def parts(db: Connection, user_id: str, document: str) -> list[str]:
    """The parts of a document that nothing has taken the place of."""
    found = db.execute(
        f"SELECT r.id FROM {KINDS['chunk'].table} c JOIN memory_receipts r USING (number)"
        " WHERE c.user_id = ? AND c.document = ? AND r.superseded_by IS NULL ORDER BY c.number",
        (user_id, document),
    )
    return [name for (name,) in found]


def due(db: Connection) -> int:
    """The last forget whose traces may still be in the file; 0 when there is none."""
    return int(db.execute("SELECT coalesce(max(due), 0) FROM memory_scrubs").fetchone()[0])


def scrubbed(db: Connection, up_to: int) -> None:
    db.execute("DELETE FROM memory_scrubs WHERE due <= ?", (up_to,))


def closure(db: Connection, user_id: str, ids: Iterable[str]) -> list[Doomed]:
    """These records and all that would not be there without them: what was derived from them, what they were
    corrected from or put together from, and the relations of people among them."""
    found: dict[str, Doomed] = {row.id: Doomed(row, "asked", row.id) for row in rows.by_ids(db, user_id, ids)}
    waiting = list(found.values())
    while waiting:
        one = waiting.pop()
        for row, why in _hanging_on(db, one.row):
            # What goes because of one of its parts leaves the others, which then hold again.
            part = why == "version" and one.why == "derived" and row.id in one.row.derived_from
            if row.id not in found and not part:
                found[row.id] = Doomed(row, why, one.row.id)
                waiting.append(found[row.id])
    return sorted(found.values(), key=lambda one: one.row.number)


def forget(db: Connection, user_id: str, ids: Iterable[str]) -> list[MemoryRow]:
    """Delete records with all that hangs on them; what was deleted."""
    gone = [one.row for one in closure(db, user_id, ids)]
    index.hold(db, gone)
    for row in gone:
        delete(db, row)
    if gone:
        _revive(db, user_id, gone)
        erasing.forgotten(db, user_id, gone, now_ms())
        db.execute("INSERT INTO memory_scrubs DEFAULT VALUES")
    return gone


def delete(db: Connection, row: MemoryRow) -> None:
    if row.about.searched:
        index.take(db, row)
    db.execute(f"DELETE FROM {row.about.table} WHERE number = ?", (row.number,))
    for table in ("memory_sources", "memory_uses", "memory_receipts"):
        db.execute(f"DELETE FROM {table} WHERE number = ?", (row.number,))
    db.execute(
        "DELETE FROM memory_contradictions WHERE user_id = ? AND (old_id = ? OR new_id = ?)",
        (row.user_id, row.id, row.id),
    )
    signals.forget(db, row.user_id, row.id)


def wipe(db: Connection, user_id: str, limit: int) -> int:
    """Delete some of a user's records, whatever they are; how many there were to delete."""
    gone = rows.select(db, "user_id = ? ORDER BY number LIMIT ?", (user_id, limit))
    index.hold(db, gone)
    for row in gone:
        delete(db, row)
    if gone:
        db.execute("INSERT INTO memory_scrubs DEFAULT VALUES")
    else:
        mine = "(SELECT shelf FROM memory_shelves WHERE user_id = ?)"
        db.execute(f"DELETE FROM memory_touched WHERE shelf IN {mine}", (user_id,))
        db.execute("DELETE FROM memory_shelves WHERE user_id = ?", (user_id,))
        if erasing.wiped(db, user_id):
            db.execute("INSERT INTO memory_scrubs DEFAULT VALUES")
    return len(gone)


def expire(db: Connection, now: int, limit: int) -> int:
    """Delete working memory whose time is over."""
    found = db.execute(
        "SELECT number FROM working_memory_log WHERE expires_at <= ? LIMIT ?",
        (now, limit),
    ).fetchall()
    for row in rows.by_numbers(db, [number for (number,) in found]):
        delete(db, row)
    return len(found)


def _revive(db: Connection, user_id: str, gone: Sequence[MemoryRow]) -> None:
    """The parts of what was put together hold again when it went without them."""
    whole = {row.id: row for row in gone if row.derived_from}
    for some in rows.batches(whole):
        left = rows.select(
            db,
            f"user_id = ? AND valid_until = valid_from AND superseded_by IN ({rows.marks(some)})",
            (user_id, *some),
        )
        for row in left:
            if row.id in whole[row.superseded_by or ""].derived_from:
                db.execute(
                    "UPDATE memory_receipts SET superseded_by = NULL, valid_until = NULL WHERE number = ?",
                    (row.number,),
                )
                index.touch(db, index.shelf(db, user_id, row.store), row.number)


def _hanging_on(db: Connection, row: MemoryRow) -> list[tuple[MemoryRow, Why]]:
    derived = _numbers(
        db, "SELECT number FROM memory_sources WHERE user_id = ? AND source_id = ?", (row.user_id, row.id)
    )
    # A version that was corrected was never true; one that was true until something else was, is another memory.
    versions = _numbers(
        db,
        "SELECT number FROM memory_receipts WHERE user_id = ? AND superseded_by = ? AND valid_until = valid_from",
        (row.user_id, row.id),
    )
    relations: list[int] = []
    if row.kind == "node":
        relations = _numbers(
            db,
            f"SELECT number FROM {KINDS['edge'].table} WHERE user_id = ? AND (source_id = ? OR target_id = ?)",
            (row.user_id, row.id, row.id),
        )
    groups: tuple[tuple[list[int], Why], ...] = (
        (derived, "derived"),
        (versions, "version"),
        (relations, "relation"),
    )
    return [(found, why) for numbers, why in groups for found in rows.by_numbers(db, numbers)]


def _numbers(db: Connection, query: str, args: Sequence[object]) -> list[int]:
    return [number for (number,) in db.execute(query, args)]
