"""A short transaction on a brain by its operator, beside the engines that run on it, whichever database it is.

Each is one transaction; engines on PostgreSQL are told of it as they are told of each other's. A brain that does not
exist yet is made when something is to be written to it; one of another version is left to the engine.
"""

import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, TypeAlias, TypeGuard

from aster.brain.sql import queries
from aster.brain.sql.connection import Connection
from aster.brain.sqlite.brain import MIGRATIONS, open_database
from aster.brain.sqlite.connection import FileLock, connect, looked_at
from aster.contracts.errors import EngineError, ErrorCode
from aster.infra.migrations import available
from aster.infra.settings import Settings

Place: TypeAlias = str | Path
"""Where a brain is: the path of a file, or the URL of a database."""
_DATABASES: Final = ("postgresql://", "postgres://")


def is_database(place: Place) -> TypeGuard[str]:
    """Whether a place is the URL of a database, rather than the path of a file."""
    return isinstance(place, str) and place.startswith(_DATABASES)


def place_of(settings: Settings) -> Place:
    """Where the brain of an engine with these settings is."""
    url = settings.database_url
    return settings.sqlite_db_path if url is None else url.get_secret_value()


@contextmanager
def reading(place: Place) -> Generator[Connection | None]:
    """A look that changes nothing; None where there is no brain."""
    if is_database(place):
        from aster.brain.postgres.beside import reading as looked

        with looked(place) as db:
            yield db
        return
    if not Path(place).is_file():
        yield None
        return
    with _told(place):
        db = looked_at(Path(place))
        try:
            yield db
        finally:
            db.close()


@contextmanager
def changing(place: Place) -> Generator[Connection]:
    """One transaction."""
    if is_database(place):
        from aster.brain.postgres.beside import changing as changed

        with changed(place) as db:
            yield db
        return
    path = Path(place)
    if _version(path) != available(MIGRATIONS)[-1].version:
        path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(path):
            open_database(path)
    with _told(place):
        db = connect(path)
        try:
            db.execute("BEGIN IMMEDIATE")
            yield db
            db.execute("COMMIT")
        finally:
            db.close()


def _version(path: Path) -> int:
    """The brain's version; 0 when there is none yet."""
    if not path.is_file():
        return 0
    db = looked_at(path)
    try:
        return queries.ping(db) or 0
    except sqlite3.Error:
        return 0
    finally:
        db.close()


@contextmanager
def _told(place: Place) -> Generator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise EngineError(
            ErrorCode.STORAGE_UNAVAILABLE, f"The brain at {place} cannot be used: {error}."
        ) from error
