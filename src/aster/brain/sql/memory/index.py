"""The full-text index: which records of a shelf have a word, and how often.

Words carry the number of their shelf, so what one user's texts are made of never weighs in another's search. The
index holds no text; to take a record out, its text is cut into the same words again.
"""

from collections.abc import Iterable, Mapping, Sequence
from heapq import nsmallest
from math import log
from typing import Final

from aster.brain.memory_kinds import Store
from aster.brain.memory_records import MemoryRow, ShelfState
from aster.brain.memory_words import words
from aster.brain.sql.connection import Connection
from aster.brain.sql.memory.rows import batches, marks

K1: Final = 1.5
B: Final = 0.75
COMMON_SHARE: Final = 0.2
COMMON_FROM: Final = 5000
"""On a shelf of so many records a word that a fifth of them has says little and costs most of the search."""
USUAL_SHARE: Final = 0.5
USUAL_FROM: Final = 500
"""So does, on a smaller one, a word that half of them have."""


TOUCHED: Final = 1000
"""Changes of a shelf that are remembered for whoever holds it in memory; who missed more reads it anew."""


def shelf(db: Connection, user_id: str, store: Store) -> int:
    """The number of a user's shelf; made when it is new. It is held until the end of the transaction, so that what is
    numbered on it becomes visible in the order of the numbers."""
    query = f"SELECT shelf FROM memory_shelves WHERE user_id = ? AND store = ?{db.dialect.lock}"
    found = db.execute(query, (user_id, store)).fetchone()
    if found is None:
        db.execute(
            "INSERT INTO memory_shelves (user_id, store) VALUES (?, ?) ON CONFLICT DO NOTHING", (user_id, store)
        )
        found = db.execute(query, (user_id, store)).fetchone()
    return int(found[0])


def hold(db: Connection, rows: Iterable[MemoryRow]) -> None:
    """See that there are shelves for these records, and hold them from now on, always in the same order."""
    places: set[tuple[str, Store]] = {(row.user_id, row.store) for row in rows}
    for user_id, store in sorted(places):
        shelf(db, user_id, store)


def touch(db: Connection, on: int, number: int, *, items: int = 0, words: int = 0) -> None:
    """A record left the shelf or became another: so many records and words fewer, and whoever holds the shelf in memory
    is to look at this record again."""
    place = db.execute(
        "UPDATE memory_shelves SET items = items - ?, words = words - ?, touched = touched + 1 WHERE shelf = ?"
        " RETURNING touched",
        (items, words, on),
    ).fetchone()[0]
    db.execute("INSERT INTO memory_touched (shelf, place, number) VALUES (?, ?, ?)", (on, place, number))
    db.execute("DELETE FROM memory_touched WHERE shelf = ? AND place <= ?", (on, place - TOUCHED))


def touched(db: Connection, on: int, after: int) -> list[tuple[int, int]]:
    """What of a shelf was touched after a place, in order: places, which have no gaps, and records."""
    query = "SELECT place, number FROM memory_touched WHERE shelf = ? AND place > ? ORDER BY place"
    return db.execute(query, (on, after)).fetchall()


def state(db: Connection, user_id: str, store: Store, model: int) -> ShelfState | None:
    """How far a shelf has come, in one look; None while there is none."""
    found = db.execute(
        "SELECT s.shelf, s.touched, (SELECT max(number) FROM memory_receipts r WHERE r.shelf = s.shelf),"
        " (SELECT max(place) FROM memory_vectors v WHERE v.shelf = s.shelf AND v.model = ?)"
        " FROM memory_shelves s WHERE s.user_id = ? AND s.store = ?",
        (model, user_id, store),
    ).fetchone()
    return None if found is None else ShelfState(found[0], found[1], found[2] or 0, found[3] or 0)


def find_shelf(db: Connection, user_id: str, store: Store) -> int | None:
    found = db.execute(
        "SELECT shelf FROM memory_shelves WHERE user_id = ? AND store = ?", (user_id, store)
    ).fetchone()
    return None if found is None else int(found[0])


def size(db: Connection, user_id: str, store: Store) -> int:
    """How many records a shelf holds."""
    query = "SELECT items FROM memory_shelves WHERE user_id = ? AND store = ?"
    found = db.execute(query, (user_id, store)).fetchone()
    return 0 if found is None else int(found[0])


def large(db: Connection, least: int) -> list[tuple[str, Store, int]]:
    """The shelves with so many records, whosever they are, the largest first: user, store and records."""
    query = "SELECT user_id, store, items FROM memory_shelves WHERE items >= ? ORDER BY items DESC, shelf"
    return db.execute(query, (least,)).fetchall()


def put(db: Connection, number: int, on: int, found: Sequence[str]) -> None:
    """Index a record by its words; its vector is made later."""
    db.dialect.words.put(db, number, _on(on, found))
    db.execute("UPDATE memory_shelves SET items = items + 1, words = words + ? WHERE shelf = ?", (len(found), on))
    db.execute("INSERT INTO memory_unembedded (number) VALUES (?) ON CONFLICT DO NOTHING", (number,))


def take(db: Connection, row: MemoryRow) -> None:
    """Take a record out of the index, and its vectors with it."""
    on = shelf(db, row.user_id, row.store)
    found = words(row.text)
    db.dialect.words.take(db, row.number, _on(on, found))
    touch(db, on, row.number, items=1, words=len(found))
    for table in ("memory_vectors", "memory_tokens"):
        db.execute(
            f"DELETE FROM {table} WHERE model IN (SELECT model FROM memory_models) AND number = ?", (row.number,)
        )
    db.execute("DELETE FROM memory_unembedded WHERE number = ?", (row.number,))


def keyword(
    db: Connection,
    user_id: str,
    store: Store,
    terms: Iterable[str],
    limit: int,
    lengths: Mapping[int, int] | None = None,
) -> dict[int, float]:
    """The records that have the most telling of these stems, by BM25 over the user's own shelf, best first. Whoever
    knows how many words records have gives `lengths`; a record that is not among them is left out."""
    size = db.execute(
        "SELECT shelf, items, words FROM memory_shelves WHERE user_id = ? AND store = ?", (user_id, store)
    ).fetchone()
    if size is None or size[1] == 0:
        return {}
    on, items, total = size
    postings = db.dialect.words.postings(db, _on(on, _rare(db, on, terms, items)))
    if lengths is None:
        lengths = _lengths(db, {number for found in postings.values() for number in found})
    average = max(total / items, 1.0)
    scores: dict[int, float] = {}
    for found in postings.values():
        weight = log(1 + (items - len(found) + 0.5) / (len(found) + 0.5))
        for number, count in found.items():
            length = lengths.get(number)
            if length is not None:
                norm = K1 * (1 - B + B * length / average)
                scores[number] = scores.get(number, 0.0) + weight * count * (K1 + 1) / (count + norm)
    return dict(nsmallest(limit, scores.items(), key=lambda item: (-item[1], item[0])))


def frequencies(db: Connection, user_id: str, store: Store, terms: Iterable[str]) -> dict[str, int]:
    """How many records of a shelf have each stem."""
    on = find_shelf(db, user_id, store)
    if on is None:
        return {}
    return _counts(db, on, list(terms))


def _rare(db: Connection, on: int, terms: Iterable[str], items: int) -> list[str]:
    """Those of these stems that tell records apart; all of them when none does."""
    asked = list(terms)
    if items < USUAL_FROM:
        return asked
    most = items * (COMMON_SHARE if items >= COMMON_FROM else USUAL_SHARE)
    counts = _counts(db, on, asked)
    return [term for term in asked if counts[term] <= most] or asked


def _counts(db: Connection, on: int, terms: Sequence[str]) -> dict[str, int]:
    found = db.dialect.words.counts(db, _on(on, terms))
    return {term: found.get(word, 0) for term, word in zip(terms, _on(on, terms), strict=True)}


def _lengths(db: Connection, numbers: set[int]) -> dict[int, int]:
    out: dict[int, int] = {}
    for some in batches(sorted(numbers), 5000):
        query = f"SELECT number, words FROM memory_receipts WHERE number IN ({marks(some)})"
        out |= db.execute(query, some).fetchall()
    return out


def _on(on: int, found: Sequence[str]) -> list[str]:
    return [f"{on}x{word}" for word in found]
