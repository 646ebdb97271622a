"""Reading and writing whole records: the receipt from one table, the content from the table of its kind.

Every function that is given a user looks at that user's rows alone.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Final

import msgspec

from aster.brain.memory_kinds import KINDS, Kind, KindName
from aster.brain.memory_records import MemoryRow
from aster.brain.sql.connection import Connection

RECEIPT: Final = (
    "number, id, user_id, kind, task_id, first_seq, last_seq, extractor, confidence, created_at, event_at,"
    " valid_from, valid_until, superseded_by, uses, last_used_at"
)
_NAMES: Final = tuple(name.strip() for name in RECEIPT.split(","))
_AT_ONCE: Final = 500


def select(db: Connection, condition: str, args: Sequence[object]) -> list[MemoryRow]:
    """The records whose receipt fits a condition (`… ORDER BY … LIMIT …`), whole."""
    found = db.execute(f"SELECT {RECEIPT} FROM memory_receipts WHERE {condition}", args).fetchall()
    return _whole(db, found)


def by_ids(db: Connection, user_id: str, ids: Iterable[str]) -> list[MemoryRow]:
    return [
        row
        for some in batches(ids)
        for row in select(db, f"user_id = ? AND id IN ({marks(some)})", (user_id, *some))
    ]


def by_numbers(db: Connection, numbers: Iterable[int]) -> list[MemoryRow]:
    """Records by number, whoever's they are: for callers that got the numbers from a user's own shelf."""
    return [row for some in batches(numbers) for row in select(db, f"number IN ({marks(some)})", some)]


def insert_content(db: Connection, row: MemoryRow, number: int) -> None:
    kind = row.about
    names = ", ".join(f'"{name}"' for name in kind.columns)
    db.execute(
        f"INSERT INTO {kind.table} (number, user_id, {names}) VALUES (?, ?, {marks(kind.columns)})",
        (number, row.user_id, *_packed(kind, row.fields)),
    )


def update_content(db: Connection, row: MemoryRow) -> None:
    kind = row.about
    names = ", ".join(f'"{name}" = ?' for name in kind.columns)
    db.execute(f"UPDATE {kind.table} SET {names} WHERE number = ?", (*_packed(kind, row.fields), row.number))


def insert_sources(db: Connection, row: MemoryRow, number: int) -> None:
    db.executemany(
        "INSERT INTO memory_sources VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
        [(number, row.user_id, source) for source in row.derived_from],
    )


def marks(values: Sequence[object]) -> str:
    return ", ".join("?" * len(values))


def batches(values: Iterable[Any], size: int = _AT_ONCE) -> Iterator[list[Any]]:
    rest = iter(values)
    while some := list(islice(rest, size)):
        yield some


def _packed(kind: Kind, fields: dict[str, Any]) -> list[object]:
    return [
        msgspec.json.encode(fields[name], order="deterministic") if name in kind.structured else fields[name]
        for name in kind.columns
    ]


def _whole(db: Connection, found: list[tuple[Any, ...]]) -> list[MemoryRow]:
    by_kind: dict[KindName, list[int]] = {}
    for receipt in found:
        by_kind.setdefault(receipt[3], []).append(receipt[0])
    contents: dict[int, dict[str, Any]] = {}
    for name, numbers in by_kind.items():
        contents |= _contents(db, KINDS[name], numbers)
    sources = _sources(db, [receipt[0] for receipt in found])
    return [
        MemoryRow(
            **dict(zip(_NAMES, receipt, strict=True)),
            fields=contents[receipt[0]],
            derived_from=tuple(sources.get(receipt[0], ())),
        )
        for receipt in found
    ]


def _contents(db: Connection, kind: Kind, numbers: list[int]) -> dict[int, dict[str, Any]]:
    names = ", ".join(f'"{name}"' for name in kind.columns)
    out: dict[int, dict[str, Any]] = {}
    for some in batches(numbers):
        rows = db.execute(f"SELECT number, {names} FROM {kind.table} WHERE number IN ({marks(some)})", some)
        for number, *values in rows:
            fields = dict(zip(kind.columns, values, strict=True))
            for name in kind.structured:
                fields[name] = msgspec.json.decode(fields[name])
            out[number] = fields
    return out


def _sources(db: Connection, numbers: list[int]) -> dict[int, list[str]]:
    out: dict[int, list[str]] = {}
    for some in batches(numbers):
        rows = db.execute(
            f"SELECT number, source_id FROM memory_sources WHERE number IN ({marks(some)}) ORDER BY 1, 2",
            some,
        )
        for number, source in rows:
            out.setdefault(number, []).append(source)
    return out
