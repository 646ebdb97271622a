"""Reading records: one, a page, versions, neighbours on a thread, people, working memory, and how much there is."""

from collections.abc import Sequence

from aster.brain.memory_kinds import KINDS, Kind, Store, kinds_of
from aster.brain.memory_records import Column, Contradiction, Held, MemoryRow, StoreSize, Use
from aster.brain.sql.connection import Connection
from aster.brain.sql.memory import rows
from aster.infra.clock import now_ms

MOST_NAMES = 2000


def page(
    db: Connection,
    user_id: str,
    *,
    limit: int,
    store: Store | None = None,
    before: int | None = None,
    task_id: str | None = None,
    superseded: bool = False,
) -> list[MemoryRow]:
    """A user's records, newest first; those whose place was taken only when asked for."""
    condition = ["user_id = ?"]
    values: list[object] = [user_id]
    if store is not None:
        kinds = [kind.name for kind in kinds_of(store)]
        condition.append(f"kind IN ({rows.marks(kinds)})")
        values += kinds
    if before is not None:
        condition.append("number < ?")
        values.append(before)
    if task_id is not None:
        condition.append("task_id = ?")
        values.append(task_id)
    if not superseded:
        condition.append("superseded_by IS NULL")
    return rows.select(db, f"{' AND '.join(condition)} ORDER BY number DESC LIMIT ?", (*values, limit))


def held(db: Connection, user_id: str) -> Held:
    """What of a user there is, in few looks: every turn may ask."""
    found = db.execute(
        "SELECT store FROM memory_shelves s WHERE user_id = ? AND EXISTS (SELECT 1 FROM memory_receipts r"
        " WHERE r.shelf = s.shelf AND r.superseded_by IS NULL)",
        (user_id,),
    ).fetchall()
    stores: frozenset[Store] = frozenset(store for (store,) in found)
    souls = soul(db, user_id) if "soul" in stores else []
    return Held(stores, next(iter(souls), None), _only_task(db, user_id) if stores else None)


def _only_task(db: Connection, user_id: str) -> str | None:
    """The task that everything remembered of a user comes from; None when there are several, or none."""
    first, last = (
        db.execute(
            f"SELECT {which}(task_id) FROM memory_receipts WHERE user_id = ? AND task_id <> ''", (user_id,)
        ).fetchone()[0]
        for which in ("min", "max")
    )
    if first is None or first != last:
        return None
    elsewhere = "SELECT 1 FROM memory_receipts WHERE user_id = ? AND task_id = '' LIMIT 1"
    return None if db.execute(elsewhere, (user_id,)).fetchone() else first


def since(db: Connection, user_id: str, after: int, limit: int) -> list[MemoryRow]:
    """All records in the order they came, superseded ones too."""
    return rows.select(db, "user_id = ? AND number > ? ORDER BY number LIMIT ?", (user_id, after, limit))


def versions(db: Connection, user_id: str, record_id: str) -> list[MemoryRow]:
    """A record, what it took the place of, and what took its place; oldest first."""
    chain = db.execute(
        "WITH RECURSIVE earlier (id) AS (SELECT ? UNION SELECT r.id FROM memory_receipts r JOIN earlier e"
        " ON r.superseded_by = e.id WHERE r.user_id = ? AND r.superseded_by IS NOT NULL),"
        " later (id) AS (SELECT ? UNION SELECT r.superseded_by FROM memory_receipts r JOIN later l ON r.id = l.id"
        " WHERE r.user_id = ? AND r.superseded_by IS NOT NULL)"
        " SELECT id FROM earlier UNION SELECT id FROM later",
        (record_id, user_id, record_id, user_id),
    ).fetchall()
    found = rows.by_ids(db, user_id, [name for (name,) in chain])
    return sorted(found, key=lambda row: (row.valid_from, row.number))


def notes(db: Connection, user_id: str, task_id: str, now: int) -> list[MemoryRow]:
    """A task's working memory that has not expired, oldest first."""
    return rows.select(
        db,
        "user_id = ? AND task_id = ? AND task_id <> '' AND kind = 'note' AND number IN (SELECT number FROM"
        " working_memory_log WHERE expires_at IS NULL OR expires_at > ?) ORDER BY number",
        (user_id, task_id, now),
    )


def columns(db: Connection, user_id: str, store: Store, after: int, limit: int) -> list[Column]:
    """What a user's shelf holds after a number and still holds, in order."""
    found: list[Column] = []
    now = now_ms()
    for kind in kinds_of(store):
        query = f"{_columns(kind)} AND r.number > ? ORDER BY r.number LIMIT ?"
        found += map(Column._make, db.execute(query, (user_id, store, now, after, limit)))
    return sorted(found)[:limit]


def columns_of(db: Connection, user_id: str, store: Store, numbers: Sequence[int]) -> list[Column]:
    """The same of these records, as far as they are on the shelf."""
    found: list[Column] = []
    now = now_ms()
    for some in rows.batches(numbers):
        for kind in kinds_of(store):
            query = f"{_columns(kind)} AND r.number IN ({rows.marks(some)})"
            found += map(Column._make, db.execute(query, (user_id, store, now, *some)))
    return sorted(found)


def _columns(kind: Kind) -> str:
    who = f"c.{kind.who}" if kind.who else "''"
    among, at = (f"c.{name}" for name in kind.beside) if kind.beside else ("r.task_id", "r.first_seq")
    return (
        f"SELECT r.number, {who}, r.event_at, {among}, {at}, r.words FROM memory_receipts r"
        f" JOIN {kind.table} c USING (number) WHERE r.shelf = (SELECT shelf FROM memory_shelves"
        " WHERE user_id = ? AND store = ?) AND r.superseded_by IS NULL"
        " AND (r.valid_until IS NULL OR r.valid_until > ?)"
    )


def within(db: Connection, user_id: str, store: Store, start: int, end: int, limit: int) -> list[int]:
    """The latest records of a span of time on a user's shelf."""
    found = db.execute(
        "SELECT number FROM memory_receipts WHERE shelf = (SELECT shelf FROM memory_shelves WHERE user_id = ?"
        " AND store = ?) AND event_at >= ? AND event_at < ? AND superseded_by IS NULL"
        " ORDER BY event_at DESC, number LIMIT ?",
        (user_id, store, start, end, limit),
    )
    return [number for (number,) in found]


def soul(db: Connection, user_id: str) -> list[MemoryRow]:
    """Every version of the soul, newest first."""
    found = rows.select(db, "user_id = ? AND kind = 'soul'", (user_id,))
    return sorted(found, key=lambda row: (-row.fields["version"], -row.number))


def graph(db: Connection, user_id: str, now: int) -> list[MemoryRow]:
    """The people and what holds between them now."""
    found = rows.select(
        db, "user_id = ? AND kind IN ('node', 'edge') AND superseded_by IS NULL ORDER BY number", (user_id,)
    )
    return [row for row in found if row.valid_at(now)]


def names(db: Connection, user_id: str) -> list[str]:
    """Everybody and everything with a name: who is in the graph, and who was heard to speak."""
    found = db.execute(
        f"SELECT n.name FROM {KINDS['node'].table} n JOIN memory_receipts r USING (number)"
        " WHERE n.user_id = ? AND r.superseded_by IS NULL ORDER BY n.number LIMIT ?",
        (user_id, MOST_NAMES),
    )
    known = [name for (name,) in found]
    speaker = ""
    while len(known) < MOST_NAMES and speaker is not None:
        # From one name to the next in the index; the lines each of them said are never looked at.
        query = "SELECT min(speaker) FROM episodes WHERE user_id = ? AND speaker > ?"
        speaker = db.execute(query, (user_id, speaker)).fetchone()[0]
        known += [speaker] if speaker is not None else []
    return list(dict.fromkeys(known))


def uses(db: Connection, user_id: str, numbers: Sequence[int]) -> list[Use]:
    """The tasks that had any of these records in their context."""
    found: dict[str, Use] = {}
    for some in rows.batches(numbers):
        query = (
            "SELECT task_id, max(turn_id), sum(times), max(used_at) FROM memory_uses"
            f" WHERE user_id = ? AND number IN ({rows.marks(some)}) GROUP BY task_id ORDER BY task_id"
        )
        for use in map(Use._make, db.execute(query, (user_id, *some))):
            found.setdefault(use.task_id, use)
    return list(found.values())


def contradictions(db: Connection, user_id: str, limit: int) -> list[Contradiction]:
    found = db.execute(
        "SELECT at, old_id, new_id FROM memory_contradictions WHERE user_id = ? ORDER BY place DESC LIMIT ?",
        (user_id, limit),
    )
    return [Contradiction(at=at, old_id=old, new_id=new) for at, old, new in found]


def sizes(db: Connection, user_id: str | None) -> list[StoreSize]:
    """How much each store holds: of one user, or of all."""
    found = db.execute(
        "SELECT s.store, count(*), count(r.superseded_by)"
        " FROM memory_receipts r JOIN memory_shelves s USING (shelf)"
        " WHERE CAST(? AS TEXT) IS NULL OR r.user_id = ? GROUP BY s.store ORDER BY s.store",
        (user_id, user_id),
    )
    return [StoreSize(store=store, records=records, superseded=gone) for store, records, gone in found]


def users(db: Connection) -> list[tuple[str, int]]:
    """Who has records, and how many."""
    return db.execute("SELECT user_id, count(*) FROM memory_receipts GROUP BY user_id ORDER BY user_id").fetchall()
