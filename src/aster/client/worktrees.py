"""Worktrees over the wire: the directories of their own that items of the work graph are done in."""

from urllib.parse import quote

from aster.client.wire import Wire
from aster.contracts.model import Contract
from aster.contracts.worktrees import WorktreeStatus


class WorktreeEntry(Contract):
    """A worktree; `problem` is what is wrong with it on the disk, when it was shown by itself."""

    worktree_id: str
    name: str
    branch: str
    repository: str
    path: str
    status: WorktreeStatus
    item_id: str
    in_use: bool
    created_by: str
    person: bool
    created_at: str
    updated_at: str
    base: str | None = None
    problem: str | None = None
    reason: str | None = None


class WorktreeEntries(Contract):
    worktrees: tuple[WorktreeEntry, ...]
    next: str | None = None


class WorktreesClient:
    """The part of a client that is about worktrees."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    async def create(
        self,
        name: str,
        item_id: str,
        *,
        repository: str = ".",
        base: str | None = None,
        task_id: str | None = None,
    ) -> WorktreeEntry:
        """Make one for an item that nobody has; whoever claims the item works there."""
        body = {"name": name, "item_id": item_id, "repository": repository, "base": base, "task_id": task_id}
        return await self._wire.ask(WorktreeEntry, "POST", "/worktrees", body=body)

    async def list(
        self,
        *,
        status: WorktreeStatus | None = None,
        item_id: str | None = None,
        limit: int = 50,
        after: str | None = None,
    ) -> WorktreeEntries:
        """A page, the newest first."""
        params = {"status": status, "item_id": item_id, "limit": limit, "after": after}
        return await self._wire.ask(WorktreeEntries, "GET", "/worktrees", params=params)

    async def get(self, worktree_id: str) -> WorktreeEntry:
        """One, held against the disk."""
        return await self._wire.ask(WorktreeEntry, "GET", _path(worktree_id))

    async def keep(self, worktree_id: str) -> WorktreeEntry:
        """Mark one as to stay."""
        return await self._wire.ask(WorktreeEntry, "POST", _path(worktree_id, "keep"))

    async def remove(self, worktree_id: str, *, discard: bool = False) -> WorktreeEntry:
        """Take one off the disk, with `discard` also what no commit has; its branch stays."""
        return await self._wire.ask(WorktreeEntry, "POST", _path(worktree_id, "remove"), body={"discard": discard})


def _path(worktree_id: str, *more: str) -> str:
    return "/".join(("/worktrees", quote(worktree_id, safe=""), *more))
