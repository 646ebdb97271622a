"""What deleted records leave behind, found and removed.

`secure_delete` overwrites a deleted record where it was, but not the copy that a page keeps in its free space when it
was split long before. So the free space of all pages is searched for what was deleted, and only if some of it is
there the file is written anew, which takes long when it is large. Nothing is ever written behind SQLite's back.
"""

import mmap
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from struct import unpack_from
from typing import Final, cast

from aster.brain.memory_records import MemoryRow
from aster.brain.memory_words import words
from aster.brain.sql.connection import Connection
from aster.brain.sql.memory import index
from aster.brain.sqlite.connection import BrainConnection, connect

MANY: Final = 300
"""When more records go at once, something of them almost surely stays, and looking for it takes longer."""
_WINDOW: Final = 12
_WORD: Final = 5
_TREE_PAGES: Final = {2: 12, 5: 12, 10: 8, 13: 8}
"""Pages that hold records: their first byte, and how long their head is."""


def traces(db: Connection, gone: Sequence[MemoryRow]) -> set[bytes]:
    """Pieces of what went, such as would be found in any copy of it; and its words, as far as nobody else has them."""
    found: set[bytes] = set()
    for row in gone:
        for text in _texts(row.fields.values()):
            content = text.encode("utf-8", "surrogatepass")
            found |= {content[at : at + _WINDOW] for at in range(0, max(len(content) - _WINDOW, 0) + 1, _WINDOW)}
        if row.about.searched:
            rare = {word for word in words(row.text) if len(word) >= _WORD}
            known = index.frequencies(db, row.user_id, row.store, rare)
            found |= {word.encode() for word in rare if not known.get(word)}
    return {trace for trace in found if len(trace) >= _WORD}


def merge(db: BrainConnection, pages: int) -> bool:
    """A step towards an index without a trace of what was taken out; whether there is more to do. Negative `pages`
    begin."""
    before = db.total_changes
    db.execute("INSERT INTO memory_words (memory_words, rank) VALUES ('merge', ?)", (pages,))
    return db.total_changes - before >= 2


def emptied(path: Path) -> bool:
    """Write the log back into the file and cut it to nothing; False when a reader was in the way."""
    db = connect(path)
    try:
        busy, _, _ = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        return not busy
    finally:
        db.close()


def left(path: Path, wanted: Iterable[bytes]) -> bool:
    """Whether the free space of the file's pages holds any of these."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        free = b"\x00".join(_gaps(content))
    return any(trace in free for trace in wanted)


def rebuild(db: BrainConnection) -> None:
    """Write the whole file anew, between two transactions of the writer."""
    db.execute("COMMIT")
    db.execute("VACUUM")
    db.execute("BEGIN IMMEDIATE")


def _gaps(content: mmap.mmap) -> Iterator[bytes]:
    """The free space between the heads and the records of all pages, where it is not empty."""
    size = unpack_from(">H", content, 16)[0]
    size = 65536 if size == 1 else size
    for start in range(0, len(content), size):
        head = start + (100 if start == 0 else 0)
        length = _TREE_PAGES.get(content[head])
        if length is None:
            continue
        cells, begin = unpack_from(">HH", content, head + 3)
        gap = content[head + length + 2 * cells : start + (begin or 65536)].strip(b"\x00")
        if gap:
            yield gap


def _texts(values: Iterable[object]) -> Iterator[str]:
    for value in values:
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            found = cast("dict[object, object]", value)
            yield from _texts([*found, *found.values()])
        elif isinstance(value, list):
            yield from _texts(cast("list[object]", value))
