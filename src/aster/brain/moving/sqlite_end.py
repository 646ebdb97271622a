"""A brain file as one end of a move. It is locked meanwhile: no engine has it open, and none can open it."""

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from aster.brain.moving.end import BATCH, MADE_ANEW, Form, Row
from aster.brain.sqlite.brain import open_database
from aster.brain.sqlite.connection import BrainConnection, FileLock, connect

_FORMS: Final[dict[str, Form]] = {"TEXT": "text", "BLOB": "bytes"}


class SqliteEnd:
    def __init__(self, path: Path, db: BrainConnection) -> None:
        self.name = str(path)
        self.db = db

    @contextmanager
    def transaction(self) -> Generator[None]:
        self.db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self.db.execute("ROLLBACK")
            raise
        self.db.execute("COMMIT")

    def tables(self) -> dict[str, dict[str, Form]]:
        named = self.db.execute(
            "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite_%'"
        ).fetchall()
        return {name: self._columns(name) for (name,) in sorted(named) if name not in MADE_ANEW}

    def read(self, table: str, columns: Sequence[str]) -> Iterator[list[Row]]:
        keyed = self.db.execute("SELECT wr FROM pragma_table_list WHERE name = ?", (table,)).fetchone()[0]
        order = "" if keyed else " ORDER BY rowid"
        found = self.db.execute(f"SELECT {_names(columns)} FROM {table}{order}")
        while rows := found.fetchmany(BATCH):
            yield rows

    def add(self, table: str, columns: Sequence[str], rows: Sequence[Row]) -> None:
        marks = ", ".join("?" * len(columns))
        self.db.executemany(f"INSERT INTO {table} ({_names(columns)}) VALUES ({marks})", rows)

    def counters(self) -> dict[str, int]:
        highest = {table: self._highest(table) for table in self.tables()}
        ever = self.db.execute("SELECT name, seq FROM sqlite_sequence").fetchall()
        return {table: number for table, number in highest.items() if number} | dict(ever)

    def set_counter(self, table: str, value: int) -> None:
        counts = self.db.execute(
            "SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ?", (table,)
        ).fetchone()
        if "AUTOINCREMENT" in counts[0].upper():
            self.db.execute("DELETE FROM sqlite_sequence WHERE name = ?", (table,))
            self.db.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", (table, value))

    def _highest(self, table: str) -> int:
        """The highest number of a table whose rows are known by one that the file gave them; 0 for any other."""
        keyed = self.db.execute(
            "SELECT name FROM pragma_table_info(?) WHERE pk = 1 AND type = 'INTEGER'"
            " AND NOT EXISTS (SELECT 1 FROM pragma_table_info(?) WHERE pk > 1)",
            (table, table),
        ).fetchone()
        found = keyed and self.db.execute(f"SELECT max({keyed[0]}) FROM {table}").fetchone()[0]
        return found or 0

    def _columns(self, table: str) -> dict[str, Form]:
        found = self.db.execute("SELECT name, type FROM pragma_table_info(?)", (table,))
        return {name: _FORMS.get(kind, "number") for name, kind in found}


@contextmanager
def sqlite_end(path: Path) -> Generator[SqliteEnd]:
    """The brain at a path, made if there is none, of this engine's version."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(path):
        open_database(path)
        db = connect(path)
        try:
            yield SqliteEnd(path, db)
        finally:
            db.close()


def _names(columns: Sequence[str]) -> str:
    return ", ".join(f'"{name}"' for name in columns)
