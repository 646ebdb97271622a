"""An operator's short transactions on a PostgreSQL brain. Engines hear of what was changed as of any other's commit."""

from collections.abc import Generator
from contextlib import contextmanager

import psycopg

from aster.brain.postgres.brain import MIGRATIONS, open_database
from aster.brain.postgres.connection import PostgresConnection
from aster.brain.postgres.faults import unreachable
from aster.brain.postgres.hints import SEND, written
from aster.brain.sql import queries
from aster.contracts.errors import EngineError, ErrorCode
from aster.infra.migrations import available


@contextmanager
def reading(url: str) -> Generator[PostgresConnection | None]:
    with _opened(url) as db:
        yield db if version(db) else None


@contextmanager
def changing(url: str) -> Generator[PostgresConnection]:
    with _opened(url) as db:
        here, newest = version(db), available(MIGRATIONS)[-1].version
        if not here:
            open_database(url)
        elif here != newest:
            raise EngineError(
                ErrorCode.MIGRATION_REQUIRED,
                f"The brain is at version {here}, this program knows {newest}. Start an engine of this version first.",
            )
        db.execute("BEGIN")
        yield db
        db.execute("COMMIT")
        db.execute(SEND, (written("operator", (), db.touched),))
        db.sync()


def version(db: PostgresConnection) -> int:
    """The brain's version; 0 when the database holds none yet."""
    there = db.execute("SELECT CAST(to_regclass('schema_migrations') AS TEXT)").fetchone()[0]
    return queries.ping(db) or 0 if there is not None else 0


@contextmanager
def _opened(url: str) -> Generator[PostgresConnection]:
    try:
        db = PostgresConnection(url, application_name="aster operator")
        try:
            db.serve(None)
            yield db
        finally:
            db.close()
    except psycopg.Error as error:
        raise unreachable(error) from error
