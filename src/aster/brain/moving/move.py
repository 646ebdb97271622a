"""A brain carried from one database to another, row by row, and compared before anything of it counts.

All or nothing: the target is empty before, and either holds everything after or is as it was. Rows are compared by a
checksum over what they say, which is the same in every database; turns by what their events fold to.
"""

from collections.abc import Callable
from hashlib import blake2b
from typing import Final, NamedTuple

from aster.brain.moving.end import End, Form, Row
from aster.brain.sql.connection import Connection
from aster.brain.sql.memory.rebuilding import rebuild
from aster.contracts.errors import EngineError, ErrorCode

Progress = Callable[[str, int, int], None]
"""What is being done, how many rows of it are done, and of how many."""
Check = Callable[[Connection, Connection], int]
"""Compares what the rows of both mean; how many things were compared."""

_NUL: Final = "\x00"


class Carried(NamedTuple):
    """One table: how many rows, and the checksum that both sides have."""

    table: str
    rows: int
    checksum: str


class Moved(NamedTuple):
    tables: list[Carried]
    indexed: int
    """Records whose words were indexed anew."""
    folded: int
    """Turns whose state is the same on both sides."""

    @property
    def rows(self) -> int:
        return sum(one.rows for one in self.tables)


def move(source: End, target: End, check: Check, progress: Progress) -> Moved:
    """Carry everything and compare it; nothing is kept of a move that fails."""
    with source.transaction(), target.transaction():
        ours, theirs = source.tables(), target.tables()
        _alike(ours, theirs)
        refuse_full(target)
        carried = [_carry(source, target, table, theirs[table], progress) for table in ours]
        for table, highest in source.counters().items():
            if table in ours:
                target.set_counter(table, highest)
        indexed = rebuild(target.db, lambda done, of: progress("words", done, of))
        for one in carried:
            _compare(target, one, theirs[one.table], progress)
        folded = check(source.db, target.db)
    return Moved(carried, indexed, folded)


def _alike(ours: dict[str, dict[str, Form]], theirs: dict[str, dict[str, Form]]) -> None:
    for table in ours.keys() | theirs.keys():
        differ = set(ours.get(table, {})) ^ set(theirs.get(table, {}))
        if differ:
            raise EngineError(
                ErrorCode.MIGRATION_REQUIRED,
                f"The two brains have not the same table {table} ({', '.join(sorted(differ))}). Bring both to this"
                " engine's version first.",
            )


def refuse_full(target: End) -> None:
    """See that a brain holds nothing yet."""
    tables = target.tables()
    full = [table for table in tables if target.db.execute(f"SELECT 1 FROM {table} LIMIT 1").fetchone() is not None]
    if full:
        raise EngineError(
            ErrorCode.INVALID_REQUEST,
            f"{target.name} is not empty ({', '.join(full[:3])}), and nothing was changed. Choose an empty one;"
            " `aster restore --replace` empties it.",
            {"tables": full},
        )


def _carry(source: End, target: End, table: str, theirs: dict[str, Form], progress: Progress) -> Carried:
    columns = list(theirs)
    forms: list[Form] = [theirs[name] for name in columns]
    total = int(source.db.execute(f"SELECT count(*) FROM {table}").fetchone()[0])
    done, checksum = 0, 0
    for rows in source.read(table, columns):
        given = [_formed(row, forms) for row in rows]
        target.add(table, columns, given)
        checksum += sum(map(_digest, given))
        done += len(given)
        progress(table, done, total)
    return Carried(table, done, _shown(checksum))


def _compare(target: End, one: Carried, theirs: dict[str, Form], progress: Progress) -> None:
    columns = list(theirs)
    done, checksum = 0, 0
    for rows in target.read(one.table, columns):
        checksum += sum(map(_digest, rows))
        done += len(rows)
        progress(f"{one.table} (compared)", done, one.rows)
    if (done, _shown(checksum)) != (one.rows, one.checksum):
        raise EngineError(
            ErrorCode.INTERNAL,
            f"{target.name} reads back other than it was written ({one.table}: {done} of {one.rows} rows), so nothing"
            " was kept. The source is as it was.",
        )


def _formed(row: Row, forms: list[Form]) -> Row:
    """A row as every database gives it back: bytes where bytes are kept, and text without NUL."""
    return tuple([_value(value, form) for value, form in zip(row, forms, strict=True)])


def _value(value: object, form: Form) -> object:
    if form == "bytes" and isinstance(value, str):
        return value.encode()
    if isinstance(value, bytes) and form == "text":
        value = value.decode("utf-8", "replace")
    return value.replace(_NUL, "\ufffd") if isinstance(value, str) else value


def _digest(row: Row) -> int:
    return int.from_bytes(blake2b(repr(row).encode("utf-8", "surrogatepass"), digest_size=16).digest(), "big")


def _shown(checksum: int) -> str:
    """The sum of all rows' digests: the order in which a database gives them does not count."""
    return f"{checksum % (1 << 128):032x}"
