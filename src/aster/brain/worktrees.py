"""What a storage must be able to do for worktrees: changes that are made whole or not at all, and looking.

A change is a deed, as those of the work graph are and under the same hold of its user, so that an item is never bound
while it is claimed and a worktree never removed while a turn begins to work in it.
"""

from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias

from aster.brain.records import ThreadKey
from aster.brain.work import Actor
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.events import Event
from aster.contracts.model import Contract
from aster.contracts.worktrees import Worktree, WorktreeObstacle, WorktreeStatus


class Reserve(Contract):
    """Be the one who makes a worktree for an item; `most` a user may have. What was begun longer than `stale_ms` ago
    and never finished is given up."""

    actor: Actor
    tree: Worktree
    most: int
    stale_ms: int


class Bind(Contract):
    """Git has made it: from here on the item is done there."""

    actor: Actor
    worktree_id: str
    base: str


class Spoil(Contract):
    """It could not be made, or not whole; what there is of it stays where it is."""

    actor: Actor
    worktree_id: str
    reason: str


class Keep(Contract):
    """A person wants it to stay."""

    actor: Actor
    worktree_id: str


class Removing(Contract):
    """Nobody may begin to work in it any more. Refused while its item is unfinished or somebody works in it."""

    actor: Actor
    worktree_id: str


class Stay(Contract):
    """It was not removed after all."""

    actor: Actor
    worktree_id: str


class Remove(Contract):
    """It is gone; its branch is not."""

    actor: Actor
    worktree_id: str
    reason: str


class Enter(Contract):
    """A turn works in it until it ends."""

    actor: Actor
    worktree_id: str


WorktreeOrder: TypeAlias = Reserve | Bind | Spoil | Keep | Removing | Stay | Remove | Enter


class WorktreeDeed(Protocol):
    """A change as a deed of a unit; once that is committed its outcome is known."""

    @property
    def outcome(self) -> Worktree: ...
    def __call__(self, db: Any, /) -> Sequence[Event]: ...


class WorktreeStore(Protocol):
    def deed(self, order: WorktreeOrder) -> WorktreeDeed:
        """A change for the commit of somebody's unit."""
        ...

    async def do(self, order: WorktreeOrder, key: ThreadKey | None = None) -> Worktree:
        """Make a change now, told on this thread if it exists. Raises `EngineError` when it cannot be made."""
        ...

    async def get(self, user_id: str, worktree_id: str) -> Worktree | None: ...
    async def of_item(self, user_id: str, item_id: str) -> Worktree | None:
        """The one that an item is bound to."""
        ...

    async def trees(
        self,
        user_id: str,
        *,
        limit: int,
        status: WorktreeStatus | None = None,
        item_id: str | None = None,
        after: str | None = None,
    ) -> list[Worktree]:
        """Newest first."""
        ...

    async def waiting(self, user_id: str) -> list[Worktree]:
        """Those whose items wait for somebody to claim them."""
        ...

    async def of_turn(self, key: ThreadKey, turn_id: str) -> Worktree | None:
        """Where a turn works: in that of the item its task holds, otherwise in the one it has not left yet."""
        ...


def refusal(reason: WorktreeObstacle, sentence: str, tree: Worktree | None = None, **more: Any) -> EngineError:
    """Why something cannot be done with a worktree; nothing was changed."""
    details: dict[str, Any] = {"reason": reason, **more}
    if tree is not None:
        details |= {"worktree_id": tree.worktree_id, "item_id": tree.item_id, "status": tree.status}
    return EngineError(ErrorCode.WORKTREE_CONFLICT, sentence, details)
