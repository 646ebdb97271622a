"""Taking in records that were exported: as they were, with their ids, versions and receipts, and none twice."""

from collections.abc import Sequence

from msgspec.structs import replace

from aster.brain.memory_records import MemoryRow, Written
from aster.brain.sql.connection import Connection
from aster.brain.sql.memory import index, rows, writing


def restore(db: Connection, user_id: str, given: Sequence[MemoryRow]) -> list[Written]:
    """Keep rows under this user. One whose id or content is here already is left as it is here."""
    index.hold(db, [replace(row, user_id=user_id) for row in given])
    known = {row.id: row for row in rows.by_ids(db, user_id, [row.id for row in given])}
    done: list[Written] = []
    for row in given:
        ours = replace(row, user_id=user_id, number=0)
        here = known.get(row.id) or (writing.active(db, ours) if ours.superseded_by is None else None)
        if here is not None:
            done.append(Written("duplicate", here))
            continue
        kept = writing.insert(db, ours)
        known[kept.id] = kept
        done.append(Written("created", kept))
    return done
