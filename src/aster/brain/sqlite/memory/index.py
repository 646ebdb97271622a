"""The full-text index: which records of a shelf have a word, and how often.

Words carry the number of their shelf, so what one user's texts are made of never weighs in another's search. The
index holds no text; to take a record out, its text is cut into the same words again.
"""

import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from heapq import nsmallest
from math import log
from operator import itemgetter
from typing import Final

from aster.brain.memory_kinds import Store
from aster.brain.memory_records import MemoryRow
from aster.brain.memory_words import words
from aster.brain.sqlite.memory.rows import batches, marks

_FIRST: Final = itemgetter(0)
K1: Final = 1.5
B: Final = 0.75
COMMON_SHARE: Final = 0.2
COMMON_FROM: Final = 5000
"""On a shelf of so many records a word that a fifth of them has says little and costs most of the search."""
USUAL_SHARE: Final = 0.5
USUAL_FROM: Final = 500
"""So does, on a smaller one, a word that half of them have."""


def shelf(db: sqlite3.Connection, user_id: str, store: Store) -> int:
    """The number of a user's shelf; made when it is new."""
    found = find_shelf(db, user_id, store)
    if found is not None:
        return found
    made = db.execute("INSERT INTO memory_shelves (user_id, store) VALUES (?, ?)", (user_id, store)).lastrowid
    assert made is not None
    return made


def find_shelf(db: sqlite3.Connection, user_id: str, store: Store) -> int | None:
    found = db.execute(
        "SELECT shelf FROM memory_shelves WHERE user_id = ? AND store = ?", (user_id, store)
    ).fetchone()
    return None if found is None else int(found[0])


def large(db: sqlite3.Connection, least: int) -> list[tuple[str, Store, int]]:
    """The shelves with so many records, whosever they are, the largest first: user, store and records."""
    query = "SELECT user_id, store, items FROM memory_shelves WHERE items >= ? ORDER BY items DESC, shelf"
    return db.execute(query, (least,)).fetchall()


def put(db: sqlite3.Connection, number: int, on: int, found: Sequence[str]) -> None:
    """Index a record by its words; its vector is made later."""
    db.execute("INSERT INTO memory_words (rowid, body) VALUES (?, ?)", (number, _body(on, found)))
    db.execute("UPDATE memory_shelves SET items = items + 1, words = words + ? WHERE shelf = ?", (len(found), on))
    db.execute("INSERT OR IGNORE INTO memory_unembedded VALUES (?)", (number,))


def take(db: sqlite3.Connection, row: MemoryRow) -> None:
    """Take a record out of the index, and its vectors with it."""
    on = shelf(db, row.user_id, row.store)
    found = words(row.text)
    db.execute(
        "INSERT INTO memory_words (memory_words, rowid, body) VALUES ('delete', ?, ?)",
        (row.number, _body(on, found)),
    )
    db.execute("UPDATE memory_shelves SET items = items - 1, words = words - ? WHERE shelf = ?", (len(found), on))
    for table in ("memory_vectors", "memory_tokens"):
        db.execute(
            f"DELETE FROM {table} WHERE model IN (SELECT model FROM memory_models) AND number = ?", (row.number,)
        )
    db.execute("DELETE FROM memory_unembedded WHERE number = ?", (row.number,))


def keyword(
    db: sqlite3.Connection,
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
    postings = {term: _posting(db, on, term) for term in _rare(db, on, terms, items)}
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


def frequencies(db: sqlite3.Connection, user_id: str, store: Store, terms: Iterable[str]) -> dict[str, int]:
    """How many records of a shelf have each stem."""
    on = find_shelf(db, user_id, store)
    if on is None:
        return {}
    return {term: _count(db, on, term) for term in terms}


def merge(db: sqlite3.Connection, pages: int) -> bool:
    """A step towards an index without a trace of what was taken out; whether there is more to do. Negative `pages`
    begin."""
    before = db.total_changes
    db.execute("INSERT INTO memory_words (memory_words, rank) VALUES ('merge', ?)", (pages,))
    return db.total_changes - before >= 2


def _rare(db: sqlite3.Connection, on: int, terms: Iterable[str], items: int) -> list[str]:
    """Those of these stems that tell records apart; all of them when none does."""
    asked = list(terms)
    if items < USUAL_FROM:
        return asked
    most = items * (COMMON_SHARE if items >= COMMON_FROM else USUAL_SHARE)
    return [term for term in asked if _count(db, on, term) <= most] or asked


def _count(db: sqlite3.Connection, on: int, word: str) -> int:
    found = db.execute("SELECT doc FROM memory_terms WHERE term = ?", (f"{on}x{word}",)).fetchone()
    return int(found[0]) if found is not None else 0


def _posting(db: sqlite3.Connection, on: int, word: str) -> Counter[int]:
    found = db.execute("SELECT doc FROM memory_postings WHERE term = ?", (f"{on}x{word}",)).fetchall()
    return Counter(map(_FIRST, found))


def _lengths(db: sqlite3.Connection, numbers: set[int]) -> dict[int, int]:
    out: dict[int, int] = {}
    for some in batches(sorted(numbers), 5000):
        query = f"SELECT number, words FROM memory_receipts WHERE number IN ({marks(some)})"
        out |= db.execute(query, some).fetchall()
    return out


def _body(on: int, found: Sequence[str]) -> str:
    return " ".join(f"{on}x{word}" for word in found)
