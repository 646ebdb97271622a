"""Taking an item back: every record that it changed is as it was, and what it made is gone without a trace.

All of an item or nothing: when somebody has changed one of its records since, or has built on what it made, it is left
as it is, and says so. How often a record was used, and how it was rated, is nobody's change of it.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from msgspec.structs import replace

from aster.brain.memory_kinds import KINDS
from aster.brain.memory_records import MemoryRow
from aster.brain.sql.connection import Connection
from aster.brain.sql.learning import kept, shelving, trials
from aster.brain.sql.learning.kept import Image, KeptItem
from aster.brain.sql.memory import forgetting, index, rows, writing
from aster.contracts.learning import ChangeItem, Changeset

CHANGED_SINCE: Final = "It was changed since."
BUILT_ON: Final = "Something that was remembered since rests on it."
TAKEN: Final = "Something that was remembered since holds the place of what it replaced."
PROVEN: Final = "It has proved itself since. Revert the changeset of its trial."
_MARKS: Final = ("helpful", "harmful")


class Stays(Exception):
    """An item has to stay; nothing of it was taken back."""


def hold(db: Connection, changeset: Changeset, items: Iterable[KeptItem]) -> None:
    """Hold every shelf that taking these items back may change, in the order in which everybody does."""
    found = (kept.images(db, changeset.user_id, changeset.changeset_id, one.item.place) for one in items)
    index.hold(db, [image.after for images in found for image in images])


def revert(db: Connection, changeset: Changeset, one: KeptItem, now: int) -> KeptItem:
    """Take an item back; how it stands then. The shelves are held."""
    item = one.item
    try:
        if item.action == "trial":
            _end_trial(db, changeset, item, now)
        elif item.action == "skill":
            if not shelving.withdraw(db, changeset.user_id, item, approved=True):
                raise Stays(CHANGED_SINCE)
        else:
            _restore_all(db, changeset, item)
            if changeset.kind == "trial":
                trials.taken_back(db, changeset.user_id, item.record_id, now)
    except Stays as why:
        return replace(one, item=replace(item, status="kept", reason=str(why)))
    kept.drop_images(db, changeset.user_id, changeset.changeset_id, item.place)
    return replace(one, item=replace(item, status="reverted", reason=""))


def _end_trial(db: Connection, changeset: Changeset, item: ChangeItem, now: int) -> None:
    if not trials.end(db, changeset.user_id, item.record_id, trials.TAKEN_BACK, now):
        raise Stays(PROVEN)


def _restore_all(db: Connection, changeset: Changeset, item: ChangeItem) -> None:
    user_id = changeset.user_id
    images = kept.images(db, user_id, changeset.changeset_id, item.place)
    current = {row.id: row for row in rows.by_ids(db, user_id, [image.after.id for image in images])}
    there = [image for image in images if image.after.id in current]
    if any(_core(image.after) != _core(current[image.after.id]) for image in there):
        raise Stays(CHANGED_SINCE)
    made = [current[image.after.id] for image in there if image.before is None]
    _nothing_rests_on(db, user_id, made, [image.after.id for image in there])
    for image in there:
        _place_is_free(db, image, current)
    for row in made:
        forgetting.delete(db, row)
    for image in there:
        if image.before is not None:
            _restore(db, image.before, image.after, current[image.after.id])


def _core(row: MemoryRow) -> MemoryRow:
    """A record without what its use and its ratings change."""
    fields = {name: value for name, value in row.fields.items() if row.kind != "lesson" or name not in _MARKS}
    return replace(row, fields=fields, uses=0, last_used_at=None, confidence=0.0)


def _nothing_rests_on(db: Connection, user_id: str, made: Sequence[MemoryRow], changed: Sequence[str]) -> None:
    """What an item made may go only when nothing but what goes or is restored with it points to it."""
    for row in made:
        replaced = db.execute(
            "SELECT id FROM memory_receipts WHERE user_id = ? AND superseded_by = ?", (user_id, row.id)
        ).fetchall()
        related: list[Any] = []
        if row.kind == "node":
            related = db.execute(
                f"SELECT r.id FROM {KINDS['edge'].table} e JOIN memory_receipts r USING (number)"
                " WHERE e.user_id = ? AND (e.source_id = ? OR e.target_id = ?)",
                (user_id, row.id, row.id),
            ).fetchall()
        if any(name not in changed for (name,) in (*replaced, *related)):
            raise Stays(BUILT_ON)


def _place_is_free(db: Connection, image: Image, current: Mapping[str, MemoryRow]) -> None:
    """A record that is to hold again must not say what another says by now, nor where another holds its place."""
    before, now = image.before, current[image.after.id]
    if before is None or not before.holds or (now.holds and now.fields == before.fields):
        return
    if any(other.id not in current for other in writing.affected(db, before)):
        raise Stays(TAKEN)


def _restore(db: Connection, before: MemoryRow, after: MemoryRow, now: MemoryRow) -> None:
    marks = {name: now.fields[name] for name in _MARKS if now.kind == "lesson"}
    was = replace(
        before,
        fields={**before.fields, **marks},
        confidence=before.confidence if now.confidence == after.confidence else now.confidence,
    )
    db.execute(
        "UPDATE memory_receipts SET confidence = ?, valid_until = ?, superseded_by = ? WHERE number = ?",
        (was.confidence, was.valid_until, was.superseded_by, now.number),
    )
    db.executemany(
        "DELETE FROM memory_sources WHERE number = ? AND source_id = ?",
        [(now.number, source) for source in sorted({*now.derived_from} - {*was.derived_from})],
    )
    if now.superseded_by != was.superseded_by:
        db.execute(
            "DELETE FROM memory_contradictions WHERE user_id = ? AND old_id = ? AND new_id = ?",
            (now.user_id, now.id, now.superseded_by),
        )
    if was.fields != now.fields:
        writing.rewrite(db, now, was)
    index.touch(db, index.shelf(db, now.user_id, now.store), now.number)
