"""The migrations runner: forward-only SQL files, all in one transaction, under the database's own lock.

A process killed in the middle leaves the brain exactly as it was. A brain that a newer engine has migrated is
refused and not touched.
"""

import logging
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from importlib.resources import files
from typing import Any, NamedTuple, Protocol

from aster.contracts.errors import EngineError, ErrorCode
from aster.infra.clock import now_ms

log = logging.getLogger("aster.migrations")


class Migration(NamedTuple):
    version: int
    name: str
    sql: str


class Database(Protocol):
    """A connection that takes `?` marks, outside a transaction."""

    def execute(self, sql: str, parameters: Sequence[Any] = ..., /) -> Iterable[Any]: ...


def available(package: str) -> list[Migration]:
    """The migrations shipped in a package, oldest first."""
    found = [
        Migration(int(item.name.split("_", 1)[0]), item.name, item.read_text(encoding="utf-8"))
        for item in files(package).iterdir()
        if item.name.endswith(".sql")
    ]
    return sorted(found)


def statements(sql: str) -> Iterator[str]:
    """Cut a script into statements, so that none of them can end the transaction behind our back."""
    pending = ""
    for line in sql.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            yield pending
            pending = ""
    if pending.strip():
        yield pending


def migrate(connection: Database, package: str, begin: Sequence[str] = ("BEGIN IMMEDIATE",)) -> list[Migration]:
    """Bring the brain to this engine's version; returns what was applied. `begin` keeps everybody else out."""
    known = available(package)
    newest = known[-1].version if known else 0
    for statement in begin:
        connection.execute(statement)
    try:
        connection.execute(
            "CREATE TABLE IF NOT EXISTS schema_migrations"
            " (version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at BIGINT NOT NULL)"
        )
        done = {version for (version,) in connection.execute("SELECT version FROM schema_migrations")}
        if done and max(done) > newest:
            raise EngineError(
                ErrorCode.MIGRATION_REQUIRED,
                f"The brain is at version {max(done)}, this engine knows {newest}. Start the newer engine.",
                {"brain": max(done), "engine": newest},
            )
        pending = [migration for migration in known if migration.version not in done]
        for at, migration in enumerate(pending, 1):
            if done:
                log.info("the brain is brought up to date: %s (%d of %d)", migration.name, at, len(pending))
            for statement in statements(migration.sql):
                connection.execute(statement)
            connection.execute(
                "INSERT INTO schema_migrations VALUES (?, ?, ?)", (migration.version, migration.name, now_ms())
            )
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    return pending
