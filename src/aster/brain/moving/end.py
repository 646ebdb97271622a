"""One end of a move: a brain as tables and rows, whatever the database.

A move knows no table by name but those that are made anew on the other side; whatever a migration adds is carried
along. Rows come and go in the order in which they were first written.
"""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Final, Literal, Protocol, TypeAlias

from aster.brain.sql.connection import Connection

Form: TypeAlias = Literal["number", "text", "bytes"]
Row: TypeAlias = tuple[Any, ...]

BATCH: Final = 200
"""Rows that are in memory at once; some hold whole files."""
MADE_ANEW: Final = frozenset(
    {"schema_migrations", "memory_words", "memory_postings", "memory_terms", "memory_claims", "writers"}
)
"""What a database has for itself: its version, the full-text index, who is embedding or writing at the moment."""


class End(Protocol):
    name: str
    """What a person calls it; never holds a password."""

    @property
    def db(self) -> Connection: ...
    def transaction(self) -> AbstractContextManager[None]:
        """All or nothing; as a source, everything as it is at one moment."""
        ...

    def tables(self) -> dict[str, dict[str, Form]]:
        """The tables of a brain that are carried, and the columns of each."""
        ...

    def read(self, table: str, columns: Sequence[str]) -> Iterator[list[Row]]:
        """All rows of a table, some at a time."""
        ...

    def add(self, table: str, columns: Sequence[str], rows: Sequence[Row]) -> None: ...
    def counters(self) -> dict[str, int]:
        """The highest number that each table that counts its rows has ever given."""
        ...

    def set_counter(self, table: str, value: int) -> None:
        """Give only higher numbers from now on, where this database counts this table's rows."""
        ...
