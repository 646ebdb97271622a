"""`WorkStore` in SQL: what changes goes to the one writer as a deed, what looks goes to the readers."""

import asyncio
from collections.abc import Sequence

from aster.brain.records import ThreadKey
from aster.brain.sql.running import Reads, Writes
from aster.brain.sql.work import graph, graph_history
from aster.brain.sql.work.graph_deeds import SqlDeed
from aster.brain.unit import Conflict, Present, Unit
from aster.brain.work import Use, WorkOrder, WorkOutcome
from aster.contracts.events import Event
from aster.contracts.work import WorkBoard, WorkChange, WorkItem, WorkShow


class SqlWork:
    def __init__(self, writer: Writes, readers: Reads) -> None:
        self._writer = writer
        self._readers = readers

    def deed(self, order: WorkOrder) -> SqlDeed:
        return SqlDeed(order)

    async def do(self, order: WorkOrder, key: ThreadKey | None = None) -> WorkOutcome:
        deed = SqlDeed(order)
        try:
            await self._submit(deed, key)
        except Conflict:  # the thread is gone; the change is made all the same
            await self._submit(deed, None)
        return deed.outcome

    def _submit(self, deed: SqlDeed, key: ThreadKey | None) -> "asyncio.Future[list[Event]]":
        done: asyncio.Future[list[Event]] = asyncio.get_running_loop().create_future()
        guard = None if key is None else Present()
        self._writer.submit(Unit(key, None, (), (), guard, done, deed=deed))
        return done

    async def item(self, user_id: str, item_id: str) -> WorkItem | None:
        return await self._readers.run(graph.item, user_id, item_id)

    async def items(
        self,
        user_id: str,
        *,
        limit: int,
        board: str | None = None,
        status: WorkShow | None = None,
        owner: str | None = None,
        role: str | None = None,
        ready: bool | None = None,
        after: str | None = None,
    ) -> list[WorkItem]:
        return await self._readers.run(
            graph.items,
            user_id,
            limit=limit,
            board=board,
            status=status,
            owner=owner,
            role=role,
            ready=ready,
            after=after,
        )

    async def next_ready(
        self, user_id: str, board: str, roles: Sequence[str], without: Sequence[str] = ()
    ) -> WorkItem | None:
        found = await self._readers.run(graph.next_ready, user_id, board, roles, without)
        return None if found is None else await self.item(user_id, found)

    async def held(self, user_id: str, owner: str) -> WorkItem | None:
        return await self._readers.run(graph.held, user_id, owner)

    async def history(
        self, user_id: str, item_id: str, *, limit: int, before: int | None = None
    ) -> list[WorkChange]:
        return await self._readers.run(graph.history, user_id, item_id, limit=limit, before=before)

    async def forget(self, keep: int, limit: int) -> int:
        gone = 0
        for user_id, item_id in await self._readers.run(graph_history.long, keep, limit):
            gone += await self._shorten(user_id, item_id, keep)
        return gone

    async def _shorten(self, user_id: str, item_id: str, keep: int) -> int:
        gone = await self._writer.run(lambda db: graph_history.shorten(db, user_id, item_id, keep))
        assert isinstance(gone, int)
        return gone

    async def boards(self, user_id: str) -> list[WorkBoard]:
        return await self._readers.run(graph.boards, user_id)

    async def uses(self, user_id: str) -> frozenset[Use]:
        return await self._readers.run(graph.uses, user_id)
