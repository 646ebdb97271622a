"""The passages of a tree of files in one SQLite file: their text, their words, their vectors.

It holds nothing that the files do not, so it is thrown away and made again whenever it cannot be read or was made
in another way. Every batch is one transaction: whenever the process dies, what is there is whole. Everything here
blocks.
"""

import contextlib
import sqlite3
import unicodedata
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from aster.memory.passages.chunks import Passage
from aster.memory.passages.words import asked, readable, words

if TYPE_CHECKING:
    from aster.memory.embeddings.embedder import Matrix

P = ParamSpec("P")
T = TypeVar("T")

_FORMAT = f"1/{unicodedata.unidata_version}"
_PLACE_WEIGHT = 2.0
_BLOCK = 4096
_SCHEMA = """
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE files (id INTEGER PRIMARY KEY, path BLOB NOT NULL UNIQUE, place TEXT NOT NULL, stamp TEXT NOT NULL);
CREATE TABLE passages (
    id INTEGER PRIMARY KEY, file INTEGER NOT NULL REFERENCES files (id),
    first INTEGER NOT NULL, last INTEGER NOT NULL, text TEXT NOT NULL, vector BLOB
);
CREATE INDEX passages_of_file ON passages (file);
CREATE INDEX passages_without_vector ON passages (id) WHERE vector IS NULL;
CREATE VIRTUAL TABLE words USING fts5 (body, place, content = '', tokenize = 'porter unicode61');
"""


class IndexDamaged(Exception):
    """The file cannot be read as an index: remove it and make it again."""


class IndexUnusable(Exception):
    """The file cannot be written or is in use; the message says why."""


@dataclass(frozen=True, slots=True)
class Found:
    """A passage and the file it is in."""

    path: bytes
    passage: Passage


@dataclass(frozen=True, slots=True)
class Extent:
    """How much is in an index; `pending` passages have no vector yet."""

    files: int
    passages: int
    pending: int


class PassageIndex:
    """An open index. Use it in one thread at a time."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._db = _opened(path)

    def close(self) -> None:
        self._db.close()

    def extent(self) -> Extent:
        row = self._db.execute(
            "SELECT (SELECT count(*) FROM files), count(*), count(*) - count(vector) FROM passages"
        ).fetchone()
        return Extent(*row)

    def stamps(self) -> dict[bytes, str]:
        """The files known, each with the stamp it had."""
        return dict(self._db.execute("SELECT path, stamp FROM files"))

    def replace(self, gone: Iterable[bytes], files: Iterable[tuple[bytes, str, str, Sequence[Passage]]]) -> None:
        """Forget the files that are gone; take in others: path, place as people read it, stamp, passages. What of
        a file has not changed keeps its vector."""
        with self._writing():
            for path in gone:
                self._remove(path)
            for path, place, stamp, found in files:
                kept = self._remove(path)
                file = self._db.execute(
                    "INSERT INTO files (path, place, stamp) VALUES (?, ?, ?)", (path, place, stamp)
                ).lastrowid
                for passage in found:
                    row = (file, passage.first, passage.last, passage.text, kept.get(passage.text))
                    number = self._db.execute(
                        "INSERT INTO passages (file, first, last, text, vector) VALUES (?, ?, ?, ?, ?)", row
                    ).lastrowid
                    self._db.execute(
                        "INSERT INTO words (rowid, body, place) VALUES (?, ?, ?)",
                        (number, " ".join(words(passage.text)), " ".join(words(place))),
                    )

    def made_by(self, fingerprint: str) -> None:
        """The vectors are those of this embedder from now on; those of another are dropped."""
        with self._writing():
            known = self._db.execute("SELECT value FROM facts WHERE name = 'embedder'").fetchone()
            if known is None or known[0] != fingerprint:
                self._db.execute("UPDATE passages SET vector = NULL WHERE vector IS NOT NULL")
                self._db.execute("INSERT OR REPLACE INTO facts VALUES ('embedder', ?)", (fingerprint,))

    def pending(self, most: int, likely: Sequence[int] = ()) -> dict[int, str]:
        """Passages without a vector, as they are to be compared: the `likely` ones first."""
        select = "SELECT p.id, f.place, p.text FROM passages p JOIN files f ON f.id = p.file WHERE p.vector IS NULL"
        marks = ", ".join("?" * len(likely))
        rows = self._db.execute(f"{select} AND p.id IN ({marks}) LIMIT ?", (*likely, most)).fetchall()
        more = (*likely, most - len(rows))
        rows += self._db.execute(f"{select} AND p.id NOT IN ({marks}) ORDER BY p.id LIMIT ?", more).fetchall()
        return {number: readable(place, text) for number, place, text in rows}

    def keep(self, numbers: Sequence[int], vectors: "Matrix") -> None:
        """The vectors of these passages, as far as they are still there."""
        rows = [(row.astype("<f2").tobytes(), number) for number, row in zip(numbers, vectors, strict=True)]
        with self._writing():
            self._db.executemany("UPDATE passages SET vector = ? WHERE id = ?", rows)

    def by_words(self, query: str, most: int, within: Sequence[int] | None = None) -> dict[int, float]:
        """The passages that share the most telling words with the question, and how well they fit (BM25)."""
        match = " OR ".join(f'"{word}"' for word in asked(query))
        if not match:
            return {}
        rows = self._db.execute(
            f"SELECT p.id, -bm25(words, 1.0, {_PLACE_WEIGHT}) AS score"  # noqa: S608 - both are ours
            " FROM words JOIN passages p ON p.id = words.rowid"
            f" WHERE words MATCH ? AND {self._scope(within)} ORDER BY score DESC, p.id LIMIT ?",
            (match, most),
        )
        return dict(rows.fetchall())

    def by_meaning(
        self, vector: "Matrix", most: int, within: Sequence[int] | None = None, also: Iterable[int] = ()
    ) -> dict[int, float]:
        """The passages nearest in meaning and those in `also`, each with its cosine."""
        import numpy as np

        numbers: list[int] = []
        cosines: list[float] = []
        for rows in self._vectors(within, vector.nbytes // 2):
            matrix = np.frombuffer(b"".join(blob for _, blob in rows), dtype="<f2").astype(np.float32)
            cosines += (matrix.reshape(len(rows), -1) @ vector).tolist()
            numbers += [number for number, _ in rows]
        known = dict(zip(numbers, cosines, strict=True))
        best = sorted(known, key=lambda number: (-known[number], number))[:most]
        return {number: known[number] for number in {*best, *also} if number in known}

    def files(self) -> list[tuple[int, bytes]]:
        return self._db.execute("SELECT id, path FROM files ORDER BY id").fetchall()

    def found(self, numbers: Iterable[int]) -> Mapping[int, Found]:
        """What is behind the numbers; a passage that has gone meanwhile is left out."""
        out: dict[int, Found] = {}
        for number in numbers:
            row = self._db.execute(
                "SELECT f.path, p.first, p.last, p.text FROM passages p JOIN files f ON f.id = p.file"
                " WHERE p.id = ?",
                (number,),
            ).fetchone()
            if row is not None:
                out[number] = Found(row[0], Passage(*row[1:]))
        return out

    def _vectors(self, within: Sequence[int] | None, size: int) -> Iterator[list[tuple[int, bytes]]]:
        cursor = self._db.execute(
            f"SELECT p.id, p.vector FROM passages p WHERE {self._scope(within)}"  # noqa: S608 - it is ours
            " AND length(p.vector) = ? ORDER BY p.id",
            (size,),
        )
        while rows := cursor.fetchmany(_BLOCK):
            yield rows

    def _scope(self, within: Sequence[int] | None) -> str:
        """A condition that holds for passages of these files; of all when it is None."""
        if within is None:
            return "1"
        self._db.execute("CREATE TEMP TABLE IF NOT EXISTS scope (file INTEGER PRIMARY KEY)")
        self._db.execute("DELETE FROM scope")
        self._db.executemany("INSERT INTO scope VALUES (?)", [(file,) for file in within])
        return "p.file IN (SELECT file FROM scope)"

    def _remove(self, path: bytes) -> dict[str, bytes]:
        """Take a file out; the vectors it had, by text."""
        known = self._db.execute("SELECT id, place FROM files WHERE path = ?", (path,)).fetchone()
        if known is None:
            return {}
        file, place = known
        rows = self._db.execute("SELECT id, text, vector FROM passages WHERE file = ?", (file,)).fetchall()
        for number, text, _ in rows:
            self._db.execute(
                "INSERT INTO words (words, rowid, body, place) VALUES ('delete', ?, ?, ?)",
                (number, " ".join(words(text)), " ".join(words(place))),
            )
        self._db.execute("DELETE FROM passages WHERE file = ?", (file,))
        self._db.execute("DELETE FROM files WHERE id = ?", (file,))
        return {text: vector for _, text, vector in rows if vector is not None}

    @contextlib.contextmanager
    def _writing(self) -> Generator[None]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")


def attempt(work: Callable[P, T], *given: P.args, **named: P.kwargs) -> T:
    """Do something with an index; what SQLite says about a failure becomes one of the two that a caller can act
    on."""
    try:
        return work(*given, **named)
    except sqlite3.OperationalError as error:
        raise IndexUnusable(str(error)) from error
    except sqlite3.DatabaseError as error:
        raise IndexDamaged(str(error)) from error


def remove(path: Path) -> None:
    """An index and what SQLite keeps beside it."""
    for end in ("-wal", "-shm", "-journal", ""):
        path.with_name(path.name + end).unlink(missing_ok=True)


def _opened(path: Path) -> sqlite3.Connection:
    """A connection to an index of this format; raises DatabaseError for anything else."""
    path.touch(mode=0o600)
    db = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=5.0)
    try:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = NORMAL")
        db.execute("PRAGMA temp_store = MEMORY")
        db.execute("BEGIN IMMEDIATE")
        if not db.execute("SELECT 1 FROM sqlite_master").fetchone():
            for statement in _SCHEMA.split(";\n"):
                db.execute(statement)
            db.execute("INSERT INTO facts VALUES ('format', ?)", (_FORMAT,))
        made = db.execute("SELECT value FROM facts WHERE name = 'format'").fetchone()
        db.execute("COMMIT")
        if made is None or made[0] != _FORMAT:
            raise sqlite3.DatabaseError("another format")
    except BaseException:
        db.close()
        raise
    return db
