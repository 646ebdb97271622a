"""What the queries need of a database: to run a statement with `?` marks, and the few things each does in its own way.

`sqlite3` connections fit as they are; that of PostgreSQL is wrapped. Whatever a database does differently is in its
`Dialect`, so that a query is written once.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol


class Cursor(Protocol):
    @property
    def rowcount(self) -> int: ...
    def fetchone(self) -> Any: ...
    def fetchall(self) -> list[Any]: ...
    def __iter__(self) -> Iterator[Any]: ...


class Words(Protocol):
    """The full-text index: which records have a word, and how often. A word carries its shelf."""

    def put(self, db: "Connection", number: int, words: Sequence[str]) -> None: ...
    def take(self, db: "Connection", number: int, words: Sequence[str]) -> None: ...
    def counts(self, db: "Connection", words: Sequence[str]) -> Mapping[str, int]:
        """How many records have each of these; one that none has may be missing."""
        ...

    def postings(self, db: "Connection", words: Sequence[str]) -> Mapping[str, Counter[int]]:
        """Which records have each of these, and how often; one that none has may be missing."""
        ...


class Dialect(Protocol):
    @property
    def lock(self) -> str:
        """What makes a query hold the rows it reads until the end of the transaction."""
        ...

    @property
    def words(self) -> Words: ...
    def searcher(self, db: "Connection") -> str | None:
        """What searches vectors in the database itself; None when nothing does."""
        ...

    def nearest(self, db: "Connection", shelf: int, model: int, vector: Sequence[float], limit: int) -> list[int]:
        """The records of a shelf whose vectors are nearest, where there is a searcher."""
        ...

    def hold(self, db: "Connection", name: str) -> None:
        """Let nobody else have this name until the end of the transaction."""
        ...

    def survey(self, db: "Connection", *tables: str) -> None:
        """Look at tables that have grown, so that queries are planned for what they hold now."""
        ...

    def passing(self, error: BaseException) -> bool:
        """Whether a failure passes by itself, so that the same statement may go through later."""
        ...


class Connection(Protocol):
    @property
    def dialect(self) -> Dialect: ...
    def execute(self, sql: str, parameters: Sequence[Any] = ..., /) -> Cursor: ...
    def executemany(self, sql: str, parameters: Iterable[Sequence[Any]], /) -> object: ...
