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

    def counts(self, db: Connection, words: Sequence[str]) -> dict[str, int]:
        found: dict[str, int] = {}
        for word in words:  # one by one: that is how the index is laid out
            found |= db.execute("SELECT term, doc FROM memory_terms WHERE term = ?", (word,)).fetchall()
        return found

    def postings(self, db: Connection, words: Sequence[str]) -> dict[str, Counter[int]]:
        query = "SELECT doc FROM memory_postings WHERE term = ?"
        return {word: Counter(map(_FIRST, db.execute(query, (word,)).fetchall())) for word in words}


class SqliteDialect:
    def __init__(self) -> None:
        self.lock = ""  # one writer holds everything anyway
        self.words = SqliteWords()

    def searcher(self, db: Connection) -> str | None:
        return None

    def nearest(self, db: Connection, shelf: int, model: int, vector: Sequence[float], limit: int) -> list[int]:
        return []  # nobody asks: vectors are searched in memory

    def hold(self, db: Connection, name: str) -> None:
        pass  # one writer holds everything anyway

    def survey(self, db: Connection, *tables: str) -> None:
        pass  # it plans by the indexes there are, whatever the tables hold

    def passing(self, error: BaseException) -> bool:
        return passing(error)


DIALECT: Final = SqliteDialect()
