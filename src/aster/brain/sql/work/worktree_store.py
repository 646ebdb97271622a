"""`WorktreeStore` in SQL: what changes goes to the one writer as a deed, what looks goes to the readers."""

import asyncio

from aster.brain.records import ThreadKey
from aster.brain.sql.running import Reads, Writes
from aster.brain.sql.work import worktrees
from aster.brain.sql.work.worktree_deeds import SqlWorktreeDeed
from aster.brain.unit import Conflict, Present, Unit
from aster.brain.worktrees import WorktreeOrder
from aster.contracts.events import Event
from aster.contracts.worktrees import Worktree, WorktreeStatus


class SqlWorktrees:
    def __init__(self, writer: Writes, readers: Reads) -> None:
        self._writer = writer
        self._readers = readers

    def deed(self, order: WorktreeOrder) -> SqlWorktreeDeed:
        return SqlWorktreeDeed(order)

    async def do(self, order: WorktreeOrder, key: ThreadKey | None = None) -> Worktree:
        deed = SqlWorktreeDeed(order)
        try:
            await self._submit(deed, key)
        except Conflict:  # the thread is gone; the change is made all the same
            await self._submit(deed, None)
        return deed.outcome

    def _submit(self, deed: SqlWorktreeDeed, key: ThreadKey | None) -> "asyncio.Future[list[Event]]":
        done: asyncio.Future[list[Event]] = asyncio.get_running_loop().create_future()
        guard = None if key is None else Present()
        self._writer.submit(Unit(key, None, (), (), guard, done, deed=deed))
        return done

    async def get(self, user_id: str, worktree_id: str) -> Worktree | None:
        return await self._readers.run(worktrees.get, user_id, worktree_id)

    async def of_item(self, user_id: str, item_id: str) -> Worktree | None:
        return await self._readers.run(worktrees.of_item, user_id, item_id)

    async def trees(
        self,
        user_id: str,
        *,
        limit: int,
        status: WorktreeStatus | None = None,
        item_id: str | None = None,
        after: str | None = None,
    ) -> list[Worktree]:
        return await self._readers.run(
            worktrees.listed, user_id, limit=limit, status=status, item_id=item_id, after=after
        )

    async def waiting(self, user_id: str) -> list[Worktree]:
        return await self._readers.run(worktrees.waiting, user_id)

    async def of_turn(self, key: ThreadKey, turn_id: str) -> Worktree | None:
        return await self._readers.run(worktrees.of_turn, key, turn_id)
