"""What PostgreSQL does in its own way: how a query holds what it reads, the full-text index, the search of
vectors, which failures pass."""

from collections.abc import Sequence
from typing import Final

from aster.brain.postgres import vectors
from aster.brain.postgres.faults import passing
from aster.brain.postgres.words import PostgresWords
from aster.brain.sql.connection import Connection


class PostgresDialect:
    def __init__(self) -> None:
        self.lock = " FOR UPDATE"
        self.words = PostgresWords()

    def searcher(self, db: Connection) -> str | None:
        return vectors.searcher(db)

    def nearest(self, db: Connection, shelf: int, model: int, vector: Sequence[float], limit: int) -> list[int]:
        return vectors.nearest(db, shelf, model, vector, limit)

    def hold(self, db: Connection, name: str) -> None:
        db.execute("SELECT pg_advisory_xact_lock(hashtextextended('aster.' || CAST(? AS TEXT), 0))", (name,))

    def survey(self, db: Connection, *tables: str) -> None:
        """It would look by itself, a minute later; until then plans are kept that were made for a few rows."""
        db.execute(f"ANALYZE {', '.join(tables)}")

    def passing(self, error: BaseException) -> bool:
        return passing(error)


DIALECT: Final = PostgresDialect()
