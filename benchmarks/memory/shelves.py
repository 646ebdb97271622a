"""A shelf in a temporary SQLite file, with the words of the real one: what ranking finds and costs.

`shelf` is the one place where the benchmark gets shelves from.
"""

import sqlite3
import tempfile
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from aster.brain.memory_words import words
from aster.memory.embeddings.embedder import Reading
from aster.memory.retrieval.maxsim import packed
from aster.memory.retrieval.rows import Rows
from aster.memory.retrieval.shelf import Item

_SCHEMA = """
PRAGMA journal_mode = WAL;
PRAGMA synchronous = NORMAL;
CREATE TABLE items (
    id INTEGER PRIMARY KEY, text TEXT, who TEXT, happened INTEGER, session TEXT, position INTEGER, tokens BLOB
);
CREATE VIRTUAL TABLE words USING fts5 (body, content = '', tokenize = 'unicode61 remove_diacritics 0');
CREATE VIRTUAL TABLE terms USING fts5vocab (words, row);
"""


class TemporaryShelf:
    """Texts and token vectors in the file, columns and vectors in memory."""

    def __init__(self, names: frozenset[str], dimensions: int) -> None:
        self._directory = tempfile.TemporaryDirectory(prefix="memory-benchmark-")
        self._db = sqlite3.connect(Path(self._directory.name) / "shelf.db", isolation_level=None)
        self._db.executescript(_SCHEMA)
        self._names = names
        self._rows = Rows(dimensions)

    def add(self, items: Sequence[Item], readings: Sequence[Reading]) -> None:
        rows = [
            (
                i.id,
                i.text,
                i.who,
                i.when,
                i.session,
                i.position,
                packed(r.tokens).tobytes() if len(r.tokens) else None,
            )
            for i, r in zip(items, readings, strict=True)
        ]
        self._db.execute("BEGIN")
        self._db.executemany("INSERT INTO items VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
        said = [(item.id, " ".join(words(f"{item.who} {item.text}"))) for item in items]
        self._db.executemany("INSERT INTO words (rowid, body) VALUES (?, ?)", said)
        self._db.execute("COMMIT")
        self._rows.add(items, np.stack([reading.vector for reading in readings]))

    def rows(self) -> Rows:
        return self._rows

    def keyword(self, terms: Sequence[str], limit: int) -> Mapping[int, float]:
        if not terms:
            return {}
        found = self._db.execute(
            "SELECT rowid, -rank FROM words WHERE words MATCH ? ORDER BY rank, rowid LIMIT ?",
            (" OR ".join(f'"{term}"' for term in terms), limit),
        )
        return dict(found.fetchall())

    def frequencies(self, terms: Collection[str]) -> Mapping[str, int]:
        asked = sorted(terms)
        found = self._db.execute(f"SELECT term, doc FROM terms WHERE term IN ({_marks(asked)})", asked)
        return dict(found.fetchall())

    def items(self, ids: Sequence[int]) -> Sequence[Item]:
        found = self._db.execute(
            f"SELECT id, text, who, happened, session, position FROM items WHERE id IN ({_marks(ids)})", list(ids)
        )
        return [Item(*row) for row in found]

    def tokens(self, ids: Sequence[int]) -> Mapping[int, NDArray[np.uint8]]:
        width = (self._rows.dimensions + 7) // 8
        found = self._db.execute(
            f"SELECT id, tokens FROM items WHERE id IN ({_marks(ids)}) AND tokens IS NOT NULL", list(ids)
        )
        return {number: np.frombuffer(blob, np.uint8).reshape(-1, width) for number, blob in found}

    def names(self) -> frozenset[str]:
        return self._names

    def close(self) -> None:
        self._db.close()
        self._directory.cleanup()


def shelf(names: frozenset[str], dimensions: int) -> TemporaryShelf:
    """An empty shelf."""
    return TemporaryShelf(names, dimensions)


def _marks(values: Sequence[object]) -> str:
    return ", ".join("?" * len(values))
