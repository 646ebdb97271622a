"""What SQLite does in its own way: the full-text index, and which of its failures pass."""

from collections import Counter
from collections.abc import Sequence
from operator import itemgetter
from typing import Final

from aster.brain.sql.connection import Connection
from aster.brain.sqlite.faults import passing

_FIRST: Final = itemgetter(0)


class SqliteWords:
    """The index of FTS5. It holds no text: to take a record out, its words are given again."""

    def put(self, db: Connection, number: int, words: Sequence[str]) -> None:
        db.execute("INSERT INTO memory_words (rowid, body) VALUES (?, ?)", (number, " ".join(words)))

    def take(self, db: Connection, number: int, words: Sequence[str]) -> None:
        db.execute(
            "INSERT INTO memory_words (memory_words, rowid, body) VALUES ('delete', ?, ?)",
            (number, " ".join(words)),
        )

    def count(self, db: Connection, word: str) -> int:
        found = db.execute("SELECT doc FROM memory_terms WHERE term = ?", (word,)).fetchone()
        return int(found[0]) if found is not None else 0

    def posting(self, db: Connection, word: str) -> Counter[int]:
        found = db.execute("SELECT doc FROM memory_postings WHERE term = ?", (word,)).fetchall()
        return Counter(map(_FIRST, found))


class SqliteDialect:
    def __init__(self) -> None:
        self.lock = ""  # one writer holds everything anyway
        self.words = SqliteWords()

    def passing(self, error: BaseException) -> bool:
        return passing(error)


DIALECT: Final = SqliteDialect()
