"""Memory in PostgreSQL, worked on by several replicas at once.

Whoever embeds a few records says so first, so that nobody else does the same; a replica that dies holds its share for a
minute. What is forgotten is out of the tables at once, and swept from their pages before `scrub` is done.
"""

import asyncio
from collections.abc import Sequence
from typing import Final

import psycopg

from aster.brain.memory_kinds import KINDS
from aster.brain.memory_records import MemoryRow, NewVector
from aster.brain.postgres.connection import conninfo
from aster.brain.sql.connection import Connection
from aster.brain.sql.learning import erasing
from aster.brain.sql.memory import forgetting, rows, vectors
from aster.brain.sql.memory.store import SqlMemory, unavailable
from aster.brain.sql.running import Reads, Writes
from aster.infra.clock import now_ms

SHARE_MS: Final = 60_000
"""How long records that a replica has taken to embed are left to it."""
_SWEPT: Final = (
    *sorted({kind.table for kind in KINDS.values()}),
    *("memory_receipts", "memory_sources", "memory_uses", "memory_contradictions", "learning_signals"),
    *("memory_words", "memory_vectors", "memory_tokens", *erasing.TABLES),
)


class PostgresMemory(SqlMemory):
    def __init__(self, url: str, writer: Writes, readers: Reads, replica: str) -> None:
        super().__init__(writer, readers, psycopg.Error)
        self._url = url
        self._replica = replica
        self._scrubbing = asyncio.Lock()

    async def pending(self, model: int, limit: int) -> list[MemoryRow]:
        return await self._change(take_share, self._replica, model, limit, now_ms())

    async def keep_vectors(self, model: int, vectors: Sequence[NewVector]) -> None:
        await self._change(keep_share, model, vectors)

    async def scrub(self, gone: Sequence[MemoryRow] | None) -> None:
        async with self._scrubbing:
            due = await self._read(forgetting.due)
            try:
                await asyncio.to_thread(self._sweep)
            except psycopg.Error as error:
                raise unavailable("swept of what was forgotten", error) from error
            await self._change(forgetting.scrubbed, due)

    def _sweep(self) -> None:
        with psycopg.connect(conninfo(self._url), autocommit=True) as db:
            db.execute(f"VACUUM (INDEX_CLEANUP ON) {', '.join(_SWEPT)}".encode())


def take_share(db: Connection, replica: str, model: int, limit: int, now: int) -> list[MemoryRow]:
    """Records without a vector, the newest first, that nobody else is embedding: this replica's for a while."""
    db.dialect.hold(db, "memory_claims")
    db.execute("DELETE FROM memory_claims WHERE taken_until <= ?", (now,))
    if not vectors.current(db, model):
        return []
    found = db.execute(
        "SELECT number FROM memory_unembedded u WHERE NOT EXISTS (SELECT 1 FROM memory_claims c"
        " WHERE c.number = u.number AND c.taken_by <> ?) ORDER BY number DESC LIMIT ?",
        (replica, limit),
    ).fetchall()
    db.executemany(
        "INSERT INTO memory_claims (number, taken_by, taken_until) VALUES (?, ?, ?)"
        " ON CONFLICT (number) DO UPDATE SET taken_until = excluded.taken_until",
        [(number, replica, now + SHARE_MS) for (number,) in found],
    )
    return rows.by_numbers(db, [number for (number,) in found])


def keep_share(db: Connection, model: int, made: Sequence[NewVector]) -> None:
    vectors.keep(db, model, made)
    db.executemany("DELETE FROM memory_claims WHERE number = ?", [(one.number,) for one in made])
