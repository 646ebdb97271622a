"""A database as a person knows it: what may be told of its address, and who else works on it."""

from typing import Final

from psycopg.conninfo import conninfo_to_dict

from aster.brain.sql.connection import Connection

QUEUE: Final = "aster_dbos"
"""The schema beside the brain in which work waits for a replica."""


def shown(url: str) -> str:
    """A database as it may be told: without who opens it and how."""
    given = conninfo_to_dict(url)
    where = f"{given.get('host') or 'localhost'}:{given.get('port') or 5432}"
    return f"postgresql://{where}/{given.get('dbname') or ''}"


def engines(db: Connection) -> int:
    """How many connections of engines there are besides this one."""
    return int(
        db.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
            " AND application_name LIKE 'aster%'"
        ).fetchone()[0]
    )


def forget_queue(db: Connection) -> None:
    """Nothing waits, and nothing was done yet: turns that run are found by their threads."""
    db.execute(f"DROP SCHEMA IF EXISTS {QUEUE} CASCADE")
