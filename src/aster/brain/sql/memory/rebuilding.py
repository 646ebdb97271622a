"""The full-text index made anew from the records, for a brain whose tables came from elsewhere.

What the index says is then what the records say; how many words there are is compared with what the shelves count.
"""

from collections.abc import Callable
from typing import Final

from aster.brain.memory_kinds import KINDS
from aster.brain.memory_words import words
from aster.brain.sql.connection import Connection
from aster.brain.sql.memory import rows
from aster.contracts.errors import EngineError, ErrorCode

_STEP: Final = 500
_SEARCHED: Final = tuple(kind.name for kind in KINDS.values() if kind.searched)


def rebuild(db: Connection, progress: Callable[[int, int], None]) -> int:
    """Index every record of a brain whose index is empty; how many there were."""
    total, counted = db.execute(
        "SELECT coalesce(sum(items), 0), coalesce(sum(words), 0) FROM memory_shelves"
    ).fetchone()
    among = f"kind IN ({rows.marks(_SEARCHED)}) AND number > ? ORDER BY number LIMIT ?"
    done = written = last = 0
    while some := rows.select(db, among, (*_SEARCHED, last, _STEP)):
        shelves = dict(
            db.execute(
                f"SELECT number, shelf FROM memory_receipts WHERE number IN ({rows.marks(some)})",
                [row.number for row in some],
            ).fetchall()
        )
        for row in some:
            found = [f"{shelves[row.number]}x{word}" for word in words(row.text)]
            db.dialect.words.put(db, row.number, found)
            written += len(found)
        done += len(some)
        last = some[-1].number
        progress(done, total)
    if (done, written) != (total, counted):
        raise EngineError(
            ErrorCode.INTERNAL,
            f"The records have {written} words in {done} records, the shelves count {counted} in {total}. Nothing was"
            " kept of it.",
        )
    return done
