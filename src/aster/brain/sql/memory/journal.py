"""What a turn leaves in memory, written in the commit of its own event: whoever has seen the event finds it, and a
crash cannot come between the two.

Memory never keeps a turn from being written: what it cannot take is left out and told in the log. Only a disk that
is full or failing holds up both, until it is well again.
"""

import logging

from msgspec.structs import replace

from aster.brain.memory_records import JournalRow, MemoryRow
from aster.brain.sql.connection import Connection
from aster.brain.sql.memory import using, writing

log = logging.getLogger("aster.brain")


def enter(db: Connection, row: JournalRow) -> None:
    db.execute("SAVEPOINT journal")
    try:
        if row.said:
            first, last = _span(db, row.turn_id)
            writing.write(db, [_placed(entry, first, last) for entry in row.said])
        if row.used:
            using.use(db, row.user_id, row.used, row.task_id, row.turn_id, row.at)
        if row.marked:
            using.mark(db, row.user_id, row.marked, helpful=row.helpful)
        db.execute("RELEASE journal")
    except Exception as error:  # the boundary to memory: it is not to end the writer
        if db.dialect.passing(error):
            raise
        log.exception("what was said in a turn, or used by it, could not be remembered")
        db.execute("ROLLBACK TO journal")
        db.execute("RELEASE journal")


def _span(db: Connection, turn_id: str) -> tuple[int, int]:
    found = db.execute("SELECT first_seq, last_seq FROM turns WHERE turn_id = ?", (turn_id,)).fetchone()
    return (found[0], found[1] or found[0]) if found else (0, 0)


def _placed(entry: MemoryRow, first: int, last: int) -> MemoryRow:
    return replace(entry, first_seq=entry.first_seq or first, last_seq=entry.last_seq or last)
