"""Writing records by their rules, inside one transaction of the writer.

What is known already is not kept twice; what holds a place that only one can hold ends the validity of what held it
before, and the change is written to the log of contradictions. Nothing is overwritten: an old record stays, with
the time until which it was true.
"""

from collections.abc import Sequence
from typing import Any, Final

from msgspec.structs import replace

from aster.brain.memory_kinds import KINDS
from aster.brain.memory_records import MemoryRow, Written
from aster.brain.memory_words import words
from aster.brain.sql.connection import Connection
from aster.brain.sql.memory import index, rows
from aster.infra.ids import new_id

LOGGED: Final = 200
"""Contradictions remembered per user."""
_BELIEFS: Final = frozenset({"fact", "edge", "trait"})


def write(db: Connection, given: Sequence[MemoryRow]) -> list[Written]:
    index.hold(db, given)
    return [_write(db, row) for row in given]


def correct(db: Connection, user_id: str, changed: MemoryRow) -> Written | None:
    """`changed` takes the place of the record it has the id of, as if it had always been so. None when there is no
    such record, or when something has taken its place already."""
    index.hold(db, [changed])
    known = rows.select(db, "user_id = ? AND id = ? AND superseded_by IS NULL", (user_id, changed.id))
    if not known:
        return None
    old = known[0]
    made = replace(changed, id=new_id(old.kind), number=0, uses=0, last_used_at=None)
    replaced_by(db, old, made.id, old.valid_from)
    made = insert(db, made)
    if old.kind == "node":
        _reconnect(db, old, made)
    return Written("superseded", made, (old.id,))


def retire(db: Connection, user_id: str, ids: Sequence[str], now: int) -> None:
    """These records hold no longer."""
    for some in rows.batches(ids):
        retired = db.execute(
            "UPDATE memory_receipts SET valid_until = CASE WHEN valid_from > ? THEN valid_from ELSE ? END"
            " WHERE user_id = ? AND valid_until IS NULL"
            f" AND id IN ({rows.marks(some)}) RETURNING shelf, number",
            (now, now, user_id, *some),
        ).fetchall()
        for on, number in retired:
            index.touch(db, on, number)


def insert(db: Connection, row: MemoryRow) -> MemoryRow:
    """Keep a row as it is, without its kind's rules, on a shelf that is held."""
    kind = row.about
    found = words(row.text) if kind.searched else []
    cursor = db.execute(
        "INSERT INTO memory_receipts (id, user_id, kind, shelf, key, slot, words, task_id, first_seq, last_seq,"
        " extractor, confidence, created_at, event_at, valid_from, valid_until, superseded_by, uses, last_used_at)"
        " VALUES (?, ?, ?, (SELECT shelf FROM memory_shelves WHERE user_id = ? AND store = ?),"
        " ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING number, shelf",
        (
            *(row.id, row.user_id, row.kind, row.user_id, row.store),
            *(kind.key(row.fields, row.task_id), kind.slot(row.fields)),
            *(
                len(found),
                row.task_id,
                row.first_seq,
                row.last_seq,
                row.extractor,
                row.confidence,
                row.created_at,
                row.event_at,
            ),
            *(row.valid_from, row.valid_until, row.superseded_by, row.uses, row.last_used_at),
        ),
    )
    number, on = cursor.fetchone()
    rows.insert_content(db, row, number)
    rows.insert_sources(db, row, number)
    if kind.searched:
        index.put(db, number, on, found)
    return replace(row, number=number)


def active(db: Connection, row: MemoryRow) -> MemoryRow | None:
    """The record that says the same and still holds."""
    key = row.about.key(row.fields, row.task_id)
    if key is None:
        return None
    held = "user_id = ? AND key = ? AND superseded_by IS NULL AND valid_until IS NULL ORDER BY number LIMIT 1"
    found = rows.select(db, held, (row.user_id, key))
    return found[0] if found else None


def affected(db: Connection, row: MemoryRow) -> list[MemoryRow]:
    """The records that writing this one may change; an edge has to be connected."""
    slot = row.about.slot(row.fields)
    held = [] if slot is None else _holding(db, row.user_id, slot)
    known = active(db, row)
    return held if known is None else [known, *held]


def holding(db: Connection, row: MemoryRow) -> list[MemoryRow]:
    """The records whose place a new one would take; an edge need not be connected."""
    if row.kind == "edge":
        node = replace(row, kind="node", fields={"name": row.fields["source"], "type": "other", "attributes": {}})
        source = active(db, node)
        if source is None:
            return []
        row = replace(row, fields={**row.fields, "source_id": source.id})
    slot = row.about.slot(row.fields)
    held = [] if slot is None else _holding(db, row.user_id, slot)
    return [old for old in held if old.valid_from <= row.valid_from and old.fields != row.fields]


def supersede(db: Connection, old: MemoryRow, new: MemoryRow, until: int) -> None:
    """One record takes the place of another that held until then, and the log tells of it."""
    replaced_by(db, old, new.id, until)
    _log(db, old, new)


def _write(db: Connection, row: MemoryRow) -> Written:
    if row.kind == "edge":
        row, _ = connected(db, row)
    known = active(db, row)
    if known is not None:
        return Written("duplicate", _merged(db, known, row))
    slot = row.about.slot(row.fields)
    held = [] if slot is None or row.valid_until is not None else _holding(db, row.user_id, slot)
    if row.kind == "soul":
        row = replace(row, fields={**row.fields, "version": _newest_version(db, row.user_id) + 1})
    later = [old for old in held if old.valid_from > row.valid_from]
    if later:
        first = min(later, key=lambda old: old.valid_from)
        row = insert(db, replace(row, valid_until=first.valid_from, superseded_by=first.id))
        _log(db, row, first)
        return Written("late", row)
    row = insert(db, row)
    for old in held:
        supersede(db, old, row, row.valid_from)
    return Written("superseded" if held else "created", row, tuple(old.id for old in held))


def _holding(db: Connection, user_id: str, slot: bytes) -> list[MemoryRow]:
    return rows.select(
        db,
        "user_id = ? AND slot = ? AND superseded_by IS NULL AND valid_until IS NULL ORDER BY number",
        (user_id, slot),
    )


def replaced_by(db: Connection, old: MemoryRow, successor: str, until: int) -> None:
    db.execute(
        "UPDATE memory_receipts SET superseded_by = ?, valid_until = ? WHERE number = ?",
        (successor, until, old.number),
    )
    index.touch(db, index.shelf(db, old.user_id, old.store), old.number)


def _log(db: Connection, old: MemoryRow, new: MemoryRow) -> None:
    if new.kind not in _BELIEFS:
        return
    db.execute(
        "INSERT INTO memory_contradictions (user_id, at, old_id, new_id) VALUES (?, ?, ?, ?)",
        (new.user_id, max(old.created_at, new.created_at), old.id, new.id),
    )
    db.execute(
        "DELETE FROM memory_contradictions WHERE user_id = ? AND place <= (SELECT place FROM memory_contradictions"
        " WHERE user_id = ? ORDER BY place DESC LIMIT 1 OFFSET ?)",
        (new.user_id, new.user_id, LOGGED),
    )


def _merged(db: Connection, known: MemoryRow, new: MemoryRow) -> MemoryRow:
    """What was known, made surer and richer by hearing it again."""
    fields = _joined(known, new)
    row = replace(
        known,
        fields=fields,
        confidence=max(known.confidence, new.confidence),
        derived_from=tuple(sorted({*known.derived_from, *new.derived_from})),
    )
    if row != known:
        db.execute("UPDATE memory_receipts SET confidence = ? WHERE number = ?", (row.confidence, row.number))
        rows.insert_sources(db, row, row.number)
    if fields != known.fields:
        rewrite(db, known, row)
    return row


def _joined(known: MemoryRow, new: MemoryRow) -> dict[str, Any]:
    was, said = known.fields, new.fields
    match known.kind:
        case "edge":
            return {**was, "weight": was["weight"] + 1}
        case "node":
            kind = said["type"] if was["type"] == "other" else was["type"]
            return {**was, "type": kind, "attributes": {**was["attributes"], **said["attributes"]}}
        case "lesson":
            better = {name: said[name] or was[name] for name in ("mistake", "correct_pattern", "code_example")}
            domains = sorted({*was["domains"], *said["domains"]})
            verified = int(was["verified"] or said["verified"])
            return {**was, **better, "domains": domains, "verified": verified, "frequency": was["frequency"] + 1}
        case _:
            return was


def rewrite(db: Connection, old: MemoryRow, new: MemoryRow) -> None:
    """The same record with other content."""
    kind, number = new.about, new.number
    rows.update_content(db, new)
    db.execute(
        "UPDATE memory_receipts SET key = ?, slot = ? WHERE number = ?",
        (kind.key(new.fields, new.task_id), kind.slot(new.fields), number),
    )
    if kind.searched and old.text != new.text:
        found = words(new.text)
        index.take(db, old)
        index.put(db, number, index.shelf(db, new.user_id, new.store), found)
        db.execute("UPDATE memory_receipts SET words = ? WHERE number = ?", (len(found), number))


def connected(db: Connection, edge: MemoryRow) -> tuple[MemoryRow, list[MemoryRow]]:
    """An edge with both ends: nodes are found by name, or made with the edge's own receipt; and those that were made.
    The shelf is held."""
    fields, made = dict(edge.fields), list[MemoryRow]()
    for end in ("source", "target"):
        node = replace(
            edge,
            id=new_id("node"),
            kind="node",
            fields={"name": fields[end], "type": "other", "attributes": {}},
            valid_until=None,
        )
        known = active(db, node)
        if known is None:
            known = insert(db, node)
            made.append(known)
        fields |= {f"{end}_id": known.id, end: known.fields["name"]}
    return replace(edge, fields=fields), made


def _reconnect(db: Connection, old: MemoryRow, new: MemoryRow) -> None:
    for end in ("source", "target"):
        numbers = db.execute(
            f"SELECT number FROM {KINDS['edge'].table} WHERE user_id = ? AND {end}_id = ?", (old.user_id, old.id)
        ).fetchall()
        for edge in rows.by_numbers(db, [number for (number,) in numbers]):
            rewrite(db, edge, replace(edge, fields={**edge.fields, f"{end}_id": new.id, end: new.fields["name"]}))


def _newest_version(db: Connection, user_id: str) -> int:
    return int(db.execute("SELECT coalesce(max(version), 0) FROM soul WHERE user_id = ?", (user_id,)).fetchone()[0])
