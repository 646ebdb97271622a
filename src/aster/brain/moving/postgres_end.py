"""A PostgreSQL database as one end of a move. Read, it is seen as it was at one moment, whoever works on it."""

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from time import monotonic, sleep
from typing import Final

import psycopg

from aster.brain.moving.end import BATCH, MADE_ANEW, Form, Row
from aster.brain.postgres.beside import version
from aster.brain.postgres.brain import ALONE, open_database
from aster.brain.postgres.connection import PostgresConnection
from aster.brain.postgres.place import engines, forget_queue, shown
from aster.contracts.errors import EngineError, ErrorCode

_FORMS: Final[dict[str, Form]] = {"text": "text", "bytea": "bytes"}
_GOODBYE: Final = 2.0
_SNAPSHOT: Final = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"


class PostgresEnd:
    def __init__(self, name: str, db: PostgresConnection, *, source: bool, live: bool, replace: bool) -> None:
        self.name = name
        self.db = db
        self._source = source
        self._live = live
        self._replace = replace

    @contextmanager
    def transaction(self) -> Generator[None]:
        self.db.sync()
        self.db.execute(_SNAPSHOT if self._source else "BEGIN")
        try:
            if not self._live:
                self.db.execute(ALONE).fetchone()
            if not self._source:
                forget_queue(self.db)
            if self._replace:
                self.db.execute(f"TRUNCATE {', '.join({*self.every_table()} - {'schema_migrations'})}")
            yield
        except BaseException:
            self.db.abandon()
            raise
        self.db.execute("COMMIT")

    def every_table(self) -> list[str]:
        """All tables of the brain, those too that are made anew in another."""
        found = self.db.execute(
            "SELECT CAST(tablename AS TEXT) FROM pg_tables WHERE schemaname = current_schema() ORDER BY tablename"
        )
        return [table for (table,) in found]

    def tables(self) -> dict[str, dict[str, Form]]:
        found = self.db.execute(
            "SELECT CAST(table_name AS TEXT), CAST(column_name AS TEXT), CAST(data_type AS TEXT)"
            " FROM information_schema.columns WHERE table_schema = current_schema() AND is_generated = 'NEVER'"
            " ORDER BY table_name, ordinal_position"
        )
        tables: dict[str, dict[str, Form]] = {}
        for table, column, kind in found:
            if table not in MADE_ANEW and column != "rowid":
                tables.setdefault(table, {})[column] = _FORMS.get(kind, "number")
        return tables

    def read(self, table: str, columns: Sequence[str]) -> Iterator[list[Row]]:
        order = " ORDER BY rowid" if self._has_rowid(table) else ""
        self.db.execute(f"DECLARE all_{table} NO SCROLL CURSOR FOR SELECT {_names(columns)} FROM {table}{order}")
        while rows := self.db.execute(f"FETCH {BATCH} FROM all_{table}").fetchall():
            yield rows
        self.db.execute(f"CLOSE all_{table}")

    def add(self, table: str, columns: Sequence[str], rows: Sequence[Row]) -> None:
        marks = ", ".join("?" * len(columns))
        self.db.executemany(f"INSERT INTO {table} ({_names(columns)}) VALUES ({marks})", rows)
        self.db.sync()

    def counters(self) -> dict[str, int]:
        return {table: self._highest(sequence) for table, sequence in self._sequences().items()}

    def set_counter(self, table: str, value: int) -> None:
        sequence = self._sequences().get(table)
        if sequence is not None and value > 0:
            self.db.execute("SELECT setval(CAST(? AS regclass), ?)", (sequence, value))

    def _sequences(self) -> dict[str, str]:
        """The sequence of every table that numbers its rows for others to know them by."""
        found = self.db.execute(
            "SELECT CAST(table_name AS TEXT), pg_get_serial_sequence(quote_ident(table_name), column_name)"
            " FROM information_schema.columns"
            " WHERE table_schema = current_schema() AND is_identity = 'YES' AND column_name <> 'rowid'"
        )
        return {table: sequence for table, sequence in found if table not in MADE_ANEW}

    def _highest(self, sequence: str) -> int:
        value, used = self.db.execute(f"SELECT last_value, is_called FROM {sequence}").fetchone()
        return int(value) if used else 0

    def _has_rowid(self, table: str) -> bool:
        query = (
            "SELECT 1 FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = ?"
            " AND column_name = 'rowid'"
        )
        return self.db.execute(query, (table,)).fetchone() is not None


@contextmanager
def postgres_end(
    url: str, *, source: bool = False, live: bool = False, replace: bool = False
) -> Generator[PostgresEnd]:
    """The brain in a database, brought to this engine's version; refused while engines work on it. With `live` they
    may, and it is left as it is. With `replace` a target need not be empty: what it holds goes in the same
    transaction."""
    try:
        if not live:
            open_database(url)
        db = PostgresConnection(url, application_name="aster move")
    except psycopg.Error as error:
        raise EngineError(
            ErrorCode.STORAGE_UNAVAILABLE, f"{shown(url)} cannot be reached: {str(error).strip()}."
        ) from error
    try:
        db.serve(None)
        if not live:
            _alone(db, url)
        elif not version(db):
            raise EngineError(ErrorCode.NOT_FOUND, f"There is no brain in {shown(url)}.")
        yield PostgresEnd(shown(url), db, source=source, live=live, replace=replace)
    finally:
        db.close()


def _alone(db: PostgresConnection, url: str) -> None:
    """See that no engine works on the database; one that has just stopped may be seen a moment longer."""
    until = monotonic() + _GOODBYE
    while others := engines(db):
        if monotonic() > until:
            raise EngineError(
                ErrorCode.STORAGE_UNAVAILABLE,
                f"Engines are connected to {shown(url)} ({others} connections). Stop them first.",
            )
        sleep(0.1)


def _names(columns: Sequence[str]) -> str:
    return ", ".join(f'"{name}"' for name in columns)
