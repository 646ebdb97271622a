"""What tools see of worktrees: one can be made for an item, and nothing else. Whoever asks, and where the repository
may lie, is settled by the engine, never by the call."""

from typing import Protocol

from aster.contracts.worktrees import Worktree


class MakesWorktrees(Protocol):
    async def make(self, name: str, item_id: str, repository: str = ".", base: str | None = None) -> Worktree:
        """Raises `EngineError` when it cannot be made; the item is as it was then."""
        ...
