"""Vectors as they are kept: one per record and model, and the queue of records that have none yet.

When another model makes the vectors, those of the old one stay and serve until every record has a new one.
"""

from collections.abc import Sequence

from aster.brain.memory_kinds import KINDS, Store
from aster.brain.memory_records import MemoryRow, ModelState, NewVector, VectorRow
from aster.brain.sql.connection import Connection
from aster.brain.sql.memory import index, rows

_SEARCHED = tuple(kind.name for kind in KINDS.values() if kind.searched)


def begin(db: Connection, fingerprint: str) -> ModelState:
    """This model makes the vectors from now on, whoever else begins at the same time."""
    db.dialect.hold(db, "memory_models")
    found = db.execute("SELECT fingerprint FROM memory_models WHERE role = 'current'").fetchone()
    if found is not None and found[0] == fingerprint:
        return state(db)
    queued = db.execute("SELECT count(*) FROM memory_unembedded").fetchone()[0]
    if found is not None and not queued:
        db.execute("UPDATE memory_models SET role = 'old' WHERE role = 'previous'")
        db.execute("UPDATE memory_models SET role = 'previous' WHERE role = 'current'")
    db.execute("UPDATE memory_models SET role = 'old' WHERE role = 'current'")
    db.execute(
        "INSERT INTO memory_models (fingerprint, role) VALUES (?, 'current')"
        " ON CONFLICT (fingerprint) DO UPDATE SET role = 'current'",
        (fingerprint,),
    )
    model = state(db).model
    db.execute("DELETE FROM memory_unembedded")
    db.execute(
        "INSERT INTO memory_unembedded (number) SELECT number FROM memory_receipts"
        f" WHERE kind IN ({rows.marks(_SEARCHED)})"
        " AND number NOT IN (SELECT number FROM memory_vectors WHERE model = ?) ON CONFLICT DO NOTHING",
        (*_SEARCHED, model),
    )
    return state(db)


def state(db: Connection) -> ModelState:
    models = {
        role: (model, name)
        for model, name, role in db.execute("SELECT model, fingerprint, role FROM memory_models")
    }
    previous = models.get("previous", (None, None))
    pending = db.execute("SELECT count(*) FROM memory_unembedded").fetchone()[0]
    return ModelState(models["current"][0] if "current" in models else 0, *previous, pending)


def current(db: Connection, model: int) -> bool:
    """Whether this is the model that makes the vectors."""
    query = "SELECT 1 FROM memory_models WHERE role = 'current' AND model = ?"
    return db.execute(query, (model,)).fetchone() is not None


def pending(db: Connection, model: int, limit: int) -> list[MemoryRow]:
    """Records without a vector, the newest first: what was just said is asked for soonest. None for a model whose
    time is over."""
    if not current(db, model):
        return []
    found = db.execute("SELECT number FROM memory_unembedded ORDER BY number DESC LIMIT ?", (limit,))
    return rows.by_numbers(db, [number for (number,) in found.fetchall()])


def keep(db: Connection, model: int, vectors: Sequence[NewVector]) -> None:
    """The vectors of records, as far as they are still there. Those of a model whose time is over are of no use."""
    db.dialect.hold(db, "memory_models")
    if not current(db, model):
        return
    numbers = [one.number for one in vectors]
    if db.dialect.lock:
        index.hold(db, rows.by_numbers(db, numbers))
    for number, vector, tokens in vectors:
        db.execute("DELETE FROM memory_vectors WHERE model = ? AND number = ?", (model, number))
        db.execute(
            "INSERT INTO memory_vectors (model, number, shelf, vector)"
            " SELECT CAST(? AS BIGINT), number, shelf, ? FROM memory_receipts WHERE number = ?",
            (model, vector, number),
        )
        if tokens is not None:
            db.execute(
                "INSERT INTO memory_tokens (model, number, tokens)"
                " SELECT CAST(? AS BIGINT), number, ? FROM memory_receipts WHERE number = ?"
                " ON CONFLICT (model, number) DO UPDATE SET tokens = excluded.tokens",
                (model, tokens, number),
            )
        db.execute("DELETE FROM memory_unembedded WHERE number = ?", (number,))


def retire(db: Connection, limit: int) -> int:
    """Drop some vectors of models that serve no more; how many went. While records wait for a vector, none go."""
    db.dialect.hold(db, "memory_models")
    if db.execute("SELECT 1 FROM memory_unembedded LIMIT 1").fetchone() is not None:
        return 0
    gone = db.execute(
        "DELETE FROM memory_vectors WHERE place IN (SELECT place FROM memory_vectors WHERE model IN"
        " (SELECT model FROM memory_models WHERE role <> 'current') LIMIT ?)",
        (limit,),
    ).rowcount
    gone += db.execute(
        "DELETE FROM memory_tokens WHERE (model, number) IN (SELECT model, number FROM memory_tokens WHERE model IN"
        " (SELECT model FROM memory_models WHERE role <> 'current') LIMIT ?)",
        (limit,),
    ).rowcount
    if not gone:
        db.execute("DELETE FROM memory_models WHERE role <> 'current'")
    return gone


def requeue(db: Connection, model: int, numbers: Sequence[int]) -> None:
    """These vectors are broken: make them again."""
    for number in numbers:
        db.execute("DELETE FROM memory_vectors WHERE model = ? AND number = ?", (model, number))
        db.execute(
            "INSERT INTO memory_unembedded (number) SELECT number FROM memory_receipts WHERE number = ?"
            " ON CONFLICT DO NOTHING",
            (number,),
        )


def after(db: Connection, user_id: str, store: Store, model: int, place: int, limit: int) -> list[VectorRow]:
    """The vectors of a user's shelf that were kept after a place."""
    on = index.find_shelf(db, user_id, store)
    if on is None:
        return []
    found = db.execute(
        "SELECT place, number, vector FROM memory_vectors WHERE shelf = ? AND model = ? AND place > ?"
        " ORDER BY place LIMIT ?",
        (on, model, place, limit),
    )
    return [VectorRow._make(row) for row in found]


def some(db: Connection, model: int, numbers: Sequence[int]) -> dict[int, bytes]:
    """The vectors of those of these records that have them."""
    return _of(db, "vector", "memory_vectors", model, numbers)


def tokens(db: Connection, model: int, numbers: Sequence[int]) -> dict[int, bytes]:
    """The token vectors of those of these records that have them."""
    return _of(db, "tokens", "memory_tokens", model, numbers)


def _of(db: Connection, column: str, table: str, model: int, numbers: Sequence[int]) -> dict[int, bytes]:
    out: dict[int, bytes] = {}
    for part in rows.batches(numbers):
        query = f"SELECT number, {column} FROM {table} WHERE model = ? AND number IN ({rows.marks(part)})"
        out |= db.execute(query, (model, *part)).fetchall()
    return out
