"""`MemoryStore` in SQL: each method one function of this folder, run by the writer or by a reader.

A failure of the disk comes out as STORAGE_UNAVAILABLE; what was not committed was not accepted.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Concatenate, Final, ParamSpec, TypeVar, cast

from aster.brain.memory_kinds import Store
from aster.brain.memory_protocol import ShelfReader
from aster.brain.memory_records import (
    Column,
    Contradiction,
    DocumentPart,
    DocumentSummary,
    Doomed,
    Held,
    MemoryRow,
    ModelState,
    NewVector,
    ShelfState,
    Span,
    StoreSize,
    Use,
    VectorRow,
    Written,
)
from aster.brain.sql.connection import Connection
from aster.brain.sql.memory import (
    documents,
    forgetting,
    index,
    reading,
    restoring,
    rows,
    using,
    writing,
)
from aster.brain.sql.memory import vectors as embedded
from aster.brain.sql.running import Reads, Writes
from aster.contracts.errors import EngineError, ErrorCode

P = ParamSpec("P")
T = TypeVar("T")

STEP: Final = 200
"""Records, or pages of the index, that one job may hold the writer for."""


class SqlShelf:
    """`ShelfReader` over one connection."""

    def __init__(self, db: Connection, user_id: str, store: Store) -> None:
        self._db = db
        self._user_id = user_id
        self._store: Store = store

    def keyword(
        self, terms: Iterable[str], limit: int, lengths: Mapping[int, int] | None = None
    ) -> dict[int, float]:
        return index.keyword(self._db, self._user_id, self._store, terms, limit, lengths)

    def frequencies(self, terms: Iterable[str]) -> dict[str, int]:
        return index.frequencies(self._db, self._user_id, self._store, terms)

    def records(self, numbers: Sequence[int]) -> list[MemoryRow]:
        found = rows.by_numbers(self._db, numbers)
        return [row for row in found if row.user_id == self._user_id and row.store == self._store]

    def columns(self, after: int, limit: int) -> list[Column]:
        return reading.columns(self._db, self._user_id, self._store, after, limit)

    def columns_of(self, numbers: Sequence[int]) -> list[Column]:
        return reading.columns_of(self._db, self._user_id, self._store, numbers)

    def vectors_of(self, model: int, numbers: Sequence[int]) -> dict[int, bytes]:
        return embedded.some(self._db, model, numbers)

    def state(self, model: int) -> ShelfState | None:
        return index.state(self._db, self._user_id, self._store, model)

    def size(self) -> int:
        return index.size(self._db, self._user_id, self._store)

    def nearest(self, model: int, vector: Sequence[float], limit: int) -> list[int]:
        """Only for a brain that has a `searcher`."""
        on = index.find_shelf(self._db, self._user_id, self._store)
        return [] if on is None else self._db.dialect.nearest(self._db, on, model, vector, limit)

    def within(self, start: int, end: int, limit: int) -> list[int]:
        return reading.within(self._db, self._user_id, self._store, start, end, limit)

    def touched(self, shelf: int, after: int) -> list[tuple[int, int]]:
        return index.touched(self._db, shelf, after)

    def vectors(self, model: int, after: int, limit: int) -> list[VectorRow]:
        return embedded.after(self._db, self._user_id, self._store, model, after, limit)

    def tokens(self, model: int, numbers: Sequence[int]) -> dict[int, bytes]:
        return embedded.tokens(self._db, model, numbers)

    def names(self) -> list[str]:
        return reading.names(self._db, self._user_id)


class SqlMemory(ABC):
    """Memory in a brain that is open. What is left of deleted records is for each database to remove."""

    def __init__(self, writer: Writes, readers: Reads, failures: type[Exception]) -> None:
        self._writer = writer
        self._readers = readers
        self._failures = failures

    async def write(self, rows: Sequence[MemoryRow]) -> list[Written]:
        return await self._change(writing.write, rows)

    async def correct(self, user_id: str, changed: MemoryRow) -> Written | None:
        return await self._change(writing.correct, user_id, changed)

    async def restore(self, user_id: str, rows: Sequence[MemoryRow]) -> list[Written]:
        return await self._change(restoring.restore, user_id, rows)

    async def use(self, user_id: str, ids: Sequence[str], task_id: str, turn_id: str, now: int) -> None:
        await self._change(using.use, user_id, ids, task_id, turn_id, now)

    async def mark(self, user_id: str, ids: Sequence[str], *, helpful: bool) -> None:
        await self._change(using.mark, user_id, ids, helpful=helpful)

    async def retire(self, user_id: str, ids: Sequence[str], now: int) -> None:
        await self._change(writing.retire, user_id, ids, now)

    async def get(self, user_id: str, ids: Sequence[str]) -> list[MemoryRow]:
        return await self._read(rows.by_ids, user_id, ids)

    async def page(
        self,
        user_id: str,
        *,
        limit: int,
        store: Store | None = None,
        before: int | None = None,
        task_id: str | None = None,
        superseded: bool = False,
    ) -> list[MemoryRow]:
        return await self._read(
            reading.page,
            user_id,
            limit=limit,
            store=store,
            before=before,
            task_id=task_id,
            superseded=superseded,
        )

    async def held(self, user_id: str) -> Held:
        return await self._read(reading.held, user_id)

    async def since(self, user_id: str, after: int, limit: int) -> list[MemoryRow]:
        return await self._read(reading.since, user_id, after, limit)

    async def versions(self, user_id: str, record_id: str) -> list[MemoryRow]:
        return await self._read(reading.versions, user_id, record_id)

    async def notes(self, user_id: str, task_id: str, now: int) -> list[MemoryRow]:
        return await self._read(reading.notes, user_id, task_id, now)

    async def soul(self, user_id: str) -> list[MemoryRow]:
        return await self._read(reading.soul, user_id)

    async def graph(self, user_id: str, now: int) -> list[MemoryRow]:
        return await self._read(reading.graph, user_id, now)

    async def uses(self, user_id: str, numbers: Sequence[int]) -> list[Use]:
        return await self._read(reading.uses, user_id, numbers)

    async def contradictions(self, user_id: str, limit: int) -> list[Contradiction]:
        return await self._read(reading.contradictions, user_id, limit)

    async def sizes(self, user_id: str | None) -> list[StoreSize]:
        return await self._read(reading.sizes, user_id)

    async def users(self) -> list[tuple[str, int]]:
        return await self._read(reading.users)

    async def large_shelves(self, least: int) -> list[tuple[str, Store, int]]:
        return await self._read(index.large, least)

    async def look(self, user_id: str, store: Store, do: Callable[[ShelfReader], T]) -> T:
        """Run something on a user's shelf, in a reader's thread."""
        return await self._read(_look, user_id, store, do)

    async def parts(self, user_id: str, document: str) -> list[str]:
        return await self._read(forgetting.parts, user_id, document)

    async def documents(
        self, user_id: str, *, limit: int, task_id: str | None = None, before: int | None = None
    ) -> list[DocumentSummary]:
        return await self._read(documents.documents, user_id, limit=limit, task_id=task_id, before=before)

    async def parts_of(self, user_id: str, document: str) -> list[DocumentPart]:
        return await self._read(documents.parts_of, user_id, document)

    async def of_spans(self, user_id: str, spans: Sequence[Span]) -> list[str]:
        return await self._read(forgetting.of_spans, user_id, spans)

    async def closure(self, user_id: str, ids: Sequence[str]) -> list[Doomed]:
        return await self._read(forgetting.closure, user_id, ids)

    async def forget(self, user_id: str, ids: Sequence[str]) -> list[MemoryRow]:
        return await self._change(forgetting.forget, user_id, ids)

    async def wipe(self, user_id: str) -> int:
        gone = 0
        while some := await self._change(forgetting.wipe, user_id, STEP):
            gone += some
        return gone

    async def expire(self, now: int) -> int:
        return await self._change(forgetting.expire, now, STEP)

    async def finish_scrubs(self) -> None:
        """Remove what a forget left behind when the engine died before it was done."""
        if await self._read(forgetting.due):
            await self.scrub(None)

    @abstractmethod
    async def scrub(self, gone: Sequence[MemoryRow] | None) -> None:
        """Leave nothing of what was deleted in the database or beside it; None when it is not known what it was."""

    async def searcher(self) -> str | None:
        """What searches vectors in the database itself; None when that is done in memory alone."""
        return await self._read(lambda db: db.dialect.searcher(db))

    async def begin_model(self, fingerprint: str) -> ModelState:
        return await self._change(embedded.begin, fingerprint)

    async def model(self) -> ModelState:
        return await self._read(embedded.state)

    async def pending(self, model: int, limit: int) -> list[MemoryRow]:
        return await self._read(embedded.pending, model, limit)

    async def keep_vectors(self, model: int, vectors: Sequence[NewVector]) -> None:
        await self._change(embedded.keep, model, vectors)

    async def requeue(self, model: int, numbers: Sequence[int]) -> None:
        await self._change(embedded.requeue, model, numbers)

    async def retire_models(self) -> None:
        while await self._change(embedded.retire, STEP * 10):
            pass

    async def _read(self, query: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return await self._readers.run(query, *args, **kwargs)
        except self._failures as error:
            raise unavailable("read", error) from error

    async def _change(self, job: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return cast("T", await self._writer.run(lambda db: job(db, *args, **kwargs)))
        except self._failures as error:
            raise unavailable("written", error) from error


def _look(db: Connection, user_id: str, store: Store, do: Callable[[ShelfReader], T]) -> T:
    return do(SqlShelf(db, user_id, store))


def unavailable(what: str, error: Exception) -> EngineError:
    return EngineError(
        ErrorCode.STORAGE_UNAVAILABLE, f"Memory could not be {what}: {error}. Free some space and try again."
    )
