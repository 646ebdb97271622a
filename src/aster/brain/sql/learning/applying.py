"""Doing what an item says, by the rules that memory is written by, and remembering what every record that it changed
was before: those it replaces, those it makes surer, and the people it makes for a relation.

What an item rests on may have changed since it was thought of. Then it is refused, and says why.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from msgspec.structs import replace

from aster.brain.learning import Rows
from aster.brain.memory_records import MemoryRow
from aster.brain.sql.connection import Connection
from aster.brain.sql.learning import kept, shelving, trials
from aster.brain.sql.learning.kept import KeptItem
from aster.brain.sql.memory import index, rows, writing
from aster.contracts.learning import ChangeItem, Changeset

GONE: Final = "What it rests on was forgotten or taken back meanwhile."
CHANGED: Final = "What it is made of was changed meanwhile."
NOTHING_TO_END: Final = "There is nothing left to end."
NO_RECORD: Final = "It does not say what to keep."
NOT_MERGED: Final = "People and relations are not merged."


class Refused(Exception):
    """An item cannot be done as things stand; nothing of it was."""


def hold(db: Connection, user_id: str, items: Iterable[KeptItem]) -> None:
    """Hold every shelf that these items may change, in the order in which everybody does."""
    items = list(items)
    sources = {source for one in items for source in one.item.sources}
    index.hold(db, [*(one.row for one in items if one.row is not None), *rows.by_ids(db, user_id, sorted(sources))])


def holders(db: Connection, wanted: Rows) -> dict[int, set[str]]:
    """The records whose places these would take."""
    return {place: {old.id for old in writing.holding(db, row)} for place, row in wanted.items()}


def apply(db: Connection, changeset: Changeset, one: KeptItem, now: int) -> KeptItem:
    """Do what an item says; how it stands then. The shelves are held."""
    try:
        item = _done(db, changeset, one, now)
    except Refused as refused:
        return KeptItem(item=replace(one.item, status="refused", reason=str(refused)))
    return KeptItem(item=replace(item, status="applied", reason=""))


def _done(db: Connection, changeset: Changeset, one: KeptItem, now: int) -> ChangeItem:
    item = one.item
    match item.action:
        case "trial":
            return replace(item, record_id=trials.begin(db, changeset, item, now))
        case "skill":
            if not shelving.shelve(db, changeset.user_id, item, "approved", now):
                raise Refused(shelving.TAKEN)
            return item
        case "retire":
            return _retire(db, changeset, item, now)
        case "write" | "merge":
            if one.row is None:
                raise Refused(NO_RECORD)
            row = replace(one.row, user_id=changeset.user_id)
            do = _write if item.action == "write" else _merge
            return do(db, changeset, item, row)


def _write(db: Connection, changeset: Changeset, item: ChangeItem, row: MemoryRow) -> ChangeItem:
    sources = _known(db, changeset.user_id, item.sources)
    _known(db, changeset.user_id, row.derived_from)
    made: list[MemoryRow] = []
    if row.kind == "edge":
        row, made = writing.connected(db, row)
    before = [*writing.affected(db, row), *sources]
    [written] = writing.write(db, [row])
    for old in sources:
        if old.holds and old.id not in (written.row.id, *written.replaced) and not _later(old, written.row):
            writing.supersede(db, old, written.row, max(old.valid_from, written.row.valid_from))
    return _noted(db, changeset, item, written.row.id, before, made)


def _merge(db: Connection, changeset: Changeset, item: ChangeItem, row: MemoryRow) -> ChangeItem:
    """The sources were never more than parts of what takes their place: they are its versions."""
    if row.kind in ("node", "edge"):
        raise Refused(NOT_MERGED)
    _known(db, changeset.user_id, row.derived_from)
    sources = _known(db, changeset.user_id, item.sources)
    if not sources or not all(old.holds for old in sources):
        raise Refused(CHANGED)
    known = writing.active(db, row)
    name = row.id if known is None else known.id
    parts = [old for old in sources if old.id != name]
    before = [*writing.affected(db, row), *sources]
    for old in parts:
        writing.replaced_by(db, old, name, old.valid_from)
    row = replace(row, derived_from=tuple(sorted({*row.derived_from, *(old.id for old in parts)} - {name})))
    [written] = writing.write(db, [row])
    return _noted(db, changeset, item, written.row.id, before)


def _retire(db: Connection, changeset: Changeset, item: ChangeItem, now: int) -> ChangeItem:
    held = [row for row in rows.by_ids(db, changeset.user_id, item.sources) if row.holds]
    if not held:
        raise Refused(NOTHING_TO_END)
    writing.retire(db, changeset.user_id, [row.id for row in held], now)
    return _noted(db, changeset, item, item.record_id, held)


def _noted(
    db: Connection,
    changeset: Changeset,
    item: ChangeItem,
    record_id: str,
    before: Sequence[MemoryRow],
    made: Sequence[MemoryRow] = (),
) -> ChangeItem:
    """The item with what it became and whose place it took; what was changed is kept as it was."""
    was = {row.id: row for row in before}
    touched = {*was, *(row.id for row in made), record_id}
    after = rows.by_ids(db, changeset.user_id, sorted(touched))
    kept.add_images(db, changeset.user_id, changeset.changeset_id, item.place, was, after)
    ended = {row.id: was[row.id].text for row in after if row.id in was and was[row.id].holds and not row.holds}
    changed = {row.id: was[row.id].text for row in after if row.id in was and was[row.id].text != row.text}
    return replace(item, record_id=record_id, replaced={**item.replaced, **changed, **ended})


def _known(db: Connection, user_id: str, ids: Sequence[str]) -> list[MemoryRow]:
    found = rows.by_ids(db, user_id, dict.fromkeys(ids))
    if len(found) < len(set(ids)):
        raise Refused(GONE)
    return found


def _later(old: MemoryRow, new: MemoryRow) -> bool:
    """Whether the new record came late: something that began after it holds its place."""
    return new.superseded_by is not None and old.valid_from > new.valid_from
