"""Vectors searched by the database itself, where it has pgvector: a shelf too large for every replica's memory is asked
there which of its records are nearest, exactly.

Vectors are kept as they are in every brain; the column that pgvector reads is made from them by the database, so
nothing else has to know of it, and what is deleted is deleted once.
"""

from collections.abc import Sequence
from typing import Final

from aster.brain.sql.connection import Connection

_FUNCTION: Final = """
CREATE OR REPLACE FUNCTION aster_near(given BYTEA) RETURNS halfvec LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN (
    SELECT CAST(array_agg(
        CASE (bits >> 10) & 31
            WHEN 31 THEN 0
            WHEN 0 THEN (bits & 1023) * power(2::float8, -24)
            ELSE (1024 + (bits & 1023)) * power(2::float8, ((bits >> 10) & 31) - 25)
        END * CASE WHEN bits >= 32768 THEN -1 ELSE 1 END ORDER BY at
    ) AS real[])::halfvec
    FROM (
        SELECT at, get_byte(given, 2 * at) + 256 * get_byte(given, 2 * at + 1) AS bits
        FROM generate_series(0, least(length(given) / 2, 16000) - 1) AS at
    ) AS numbers
)
"""
"""Sixteen-bit numbers, the lower byte first, as pgvector has them; one that is no number is nothing."""
_COLUMN: Final = (
    "ALTER TABLE memory_vectors ADD COLUMN near halfvec GENERATED ALWAYS AS (aster_near(vector)) STORED"
)
_HAS_COLUMN: Final = (
    "SELECT 1 FROM information_schema.columns WHERE table_schema = current_schema()"
    " AND table_name = 'memory_vectors' AND column_name = 'near'"
)


def prepare(db: Connection, begin: Sequence[str]) -> None:
    """Let the database search vectors, if it can; `begin` keeps everybody else out."""
    for statement in begin:
        db.execute(statement)
    there = db.execute("SELECT 1 FROM pg_extension WHERE extname = 'vector'").fetchone()
    if there is not None and db.execute(_HAS_COLUMN).fetchone() is None:
        db.execute(_FUNCTION)
        db.execute(_COLUMN)
    db.execute("COMMIT")


def searcher(db: Connection) -> str | None:
    """What searches vectors in this database; None when nothing does."""
    if db.execute(_HAS_COLUMN).fetchone() is None:
        return None
    return (
        f"pgvector {db.execute('SELECT extversion FROM pg_extension WHERE extname = ?', ('vector',)).fetchone()[0]}"
    )


def nearest(db: Connection, shelf: int, model: int, vector: Sequence[float], limit: int) -> list[int]:
    """The records of a shelf whose vectors are nearest; broken ones are left out."""
    found = db.execute(
        "SELECT number FROM memory_vectors WHERE shelf = ? AND model = ? AND length(vector) = ?"
        " ORDER BY near <=> CAST(? AS halfvec) LIMIT ?",
        (shelf, model, 2 * len(vector), f"[{','.join(map(repr, vector))}]", limit),
    )
    return [number for (number,) in found]
