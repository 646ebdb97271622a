"""Changesets as they are kept: one row each, one for every item with the record that it asks for, and for every record
that an item changed, what it was before and after.

An item's columns say what it is found by; its body says all.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from msgspec.structs import replace

from aster.brain.memory_records import MemoryRow
from aster.brain.sql.connection import Connection
from aster.brain.sql.memory.rows import batches, marks
from aster.contracts.learning import ChangeItem, Changeset, ChangesetKind, ChangesetStatus, ItemStatus
from aster.contracts.model import Contract, decode, encode

_FIELDS: Final = tuple(name for name in Changeset.__struct_fields__ if name != "items")
_COLUMNS: Final = ", ".join(_FIELDS)


class KeptItem(Contract):
    """An item, and the record it keeps when it is applied."""

    item: ChangeItem
    row: MemoryRow | None = None


class Image(Contract):
    """A record that an item changed: None before, when the item made it."""

    before: MemoryRow | None
    after: MemoryRow


def add(db: Connection, changeset: Changeset) -> int | None:
    """Keep a changeset without its items; its number, None when there is one of this id."""
    columns = [name for name in _FIELDS if name != "number"]
    made = db.execute(
        f"INSERT INTO changesets ({', '.join(columns)}) VALUES ({marks(columns)})"
        " ON CONFLICT (changeset_id) DO NOTHING RETURNING number",
        [getattr(changeset, name) for name in columns],
    ).fetchone()
    return None if made is None else int(made[0])


def add_item(db: Connection, user_id: str, changeset_id: str, kept: KeptItem) -> None:
    item = kept.item
    db.execute(
        "INSERT INTO changeset_items (changeset_id, place, user_id, record_id, task_id, status, body)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        (changeset_id, item.place, user_id, item.record_id, item.task_id, item.status, encode(kept)),
    )


def update(db: Connection, changeset: Changeset) -> None:
    """Keep where a changeset stands."""
    db.execute(
        "UPDATE changesets SET status = ?, decided_at = ?, decided_by = ? WHERE user_id = ? AND changeset_id = ?",
        (
            *(changeset.status, changeset.decided_at, changeset.decided_by),
            *(changeset.user_id, changeset.changeset_id),
        ),
    )


def standing(of_items: Collection[ItemStatus]) -> ChangesetStatus:
    """How a changeset stands whose items stand so."""
    if "applied" in of_items:
        return "applied"
    if "proposed" in of_items:
        return "proposed"
    if "reverted" in of_items or "kept" in of_items:
        return "reverted"
    return "rejected" if "rejected" in of_items else "empty"


def restand(db: Connection, user_id: str, changeset_id: str) -> None:
    """Keep where a changeset stands by its items, some of which were changed behind it."""
    items = _items(db, user_id, [changeset_id]).get(changeset_id, [])
    db.execute(
        "UPDATE changesets SET status = ? WHERE user_id = ? AND changeset_id = ?",
        (standing({one.item.status for one in items}), user_id, changeset_id),
    )


def update_item(db: Connection, user_id: str, changeset_id: str, kept: KeptItem) -> None:
    item = kept.item
    db.execute(
        "UPDATE changeset_items SET record_id = ?, task_id = ?, status = ?, body = ?"
        " WHERE user_id = ? AND changeset_id = ? AND place = ?",
        (item.record_id, item.task_id, item.status, encode(kept), user_id, changeset_id, item.place),
    )


def one(db: Connection, user_id: str, changeset_id: str) -> Changeset | None:
    found = _select(db, "user_id = ? AND changeset_id = ?", (user_id, changeset_id))
    return found[0] if found else None


def held(db: Connection, user_id: str, changeset_id: str) -> tuple[Changeset, list[KeptItem]] | None:
    """A changeset and its items, for nobody else until the end of the transaction."""
    found = _select(db, f"user_id = ? AND changeset_id = ?{db.dialect.lock}", (user_id, changeset_id), bare=True)
    if not found:
        return None
    return found[0], _items(db, user_id, [changeset_id]).get(changeset_id, [])


def page(
    db: Connection,
    user_id: str,
    *,
    limit: int,
    before: int | None = None,
    status: ChangesetStatus | None = None,
    kind: ChangesetKind | None = None,
    night: str | None = None,
) -> list[Changeset]:
    """Newest first."""
    condition, params = "user_id = ?", list[Any]([user_id])
    asked = (("number < ?", before), ("status = ?", status), ("kind = ?", kind), ("night = ?", night))
    for clause, value in asked:
        if value is not None:
            condition, params = f"{condition} AND {clause}", [*params, value]
    return _select(db, f"{condition} ORDER BY number DESC LIMIT ?", [*params, limit])


def learned_as(db: Connection, user_id: str, record_id: str) -> tuple[Changeset, int] | None:
    """The first changeset that a record came from: what says it again only confirms it."""
    found = db.execute(
        "SELECT i.changeset_id, i.place FROM changeset_items i JOIN changesets c USING (changeset_id)"
        " WHERE i.user_id = ? AND i.record_id = ? AND i.record_id <> '' ORDER BY c.number, i.place LIMIT 1",
        (user_id, record_id),
    ).fetchone()
    if found is None:
        return None
    changeset = one(db, user_id, found[0])
    return None if changeset is None else (changeset, int(found[1]))


def add_images(
    db: Connection,
    user_id: str,
    changeset_id: str,
    place: int,
    before: Mapping[str, MemoryRow],
    after: Sequence[MemoryRow],
) -> None:
    db.executemany(
        "INSERT INTO changeset_images (changeset_id, place, record_id, user_id, before, after)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        [
            (changeset_id, place, row.id, user_id, encode(was) if was is not None else None, encode(row))
            for row in after
            if (was := before.get(row.id)) != row
        ],
    )


def images(db: Connection, user_id: str, changeset_id: str, place: int) -> list[Image]:
    found = db.execute(
        "SELECT before, after FROM changeset_images WHERE user_id = ? AND changeset_id = ? AND place = ?"
        " ORDER BY record_id",
        (user_id, changeset_id, place),
    )
    return [
        Image(before=None if before is None else decode(before, MemoryRow), after=decode(after, MemoryRow))
        for before, after in found
    ]


def drop_images(db: Connection, user_id: str, changeset_id: str, place: int) -> None:
    db.execute(
        "DELETE FROM changeset_images WHERE user_id = ? AND changeset_id = ? AND place = ?",
        (user_id, changeset_id, place),
    )


def _select(db: Connection, condition: str, params: Sequence[object], *, bare: bool = False) -> list[Changeset]:
    found = db.execute(f"SELECT {_COLUMNS} FROM changesets WHERE {condition}", params).fetchall()
    changesets = [Changeset(**dict(zip(_FIELDS, row, strict=True))) for row in found]
    if bare or not changesets:
        return changesets
    items = _items(db, changesets[0].user_id, [changeset.changeset_id for changeset in changesets])
    return [
        replace(changeset, items=tuple(kept.item for kept in items.get(changeset.changeset_id, ())))
        for changeset in changesets
    ]


def _items(db: Connection, user_id: str, changeset_ids: Sequence[str]) -> dict[str, list[KeptItem]]:
    found: dict[str, list[KeptItem]] = {}
    for some in batches(changeset_ids):
        rows = db.execute(
            f"SELECT changeset_id, body FROM changeset_items WHERE user_id = ? AND changeset_id IN ({marks(some)})"
            " ORDER BY changeset_id, place",
            (user_id, *some),
        )
        for changeset_id, body in rows:
            found.setdefault(changeset_id, []).append(decode(body, KeptItem))
    return found
