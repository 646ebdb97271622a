"""A board as somebody has it: an agent in its turn, a member of a team, or a person over HTTP.

Who that is, and how a change gets onto a thread, is settled when the desk is made; what is asked of it is held against
the rules and becomes one order, which is made whole or not at all.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from aster.brain.records import ThreadKey
from aster.brain.work import (
    Actor,
    Claim,
    Complete,
    Create,
    Discard,
    Edit,
    Link,
    Release,
    Reopen,
    WorkOrder,
    WorkOutcome,
    WorkStore,
)
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.work import MAIN_BOARD, WorkChange, WorkDraft, WorkEdge, WorkEdit, WorkItem, WorkShow
from aster.work.graph import rules

Do: TypeAlias = Callable[[WorkOrder], Awaitable[WorkOutcome]]
"""Makes a change, with what tells of it where that belongs."""


class Bindings(Protocol):
    """Knows whether the worktrees that items are done in are there, for somebody in the workspace of task `home`."""

    async def check(self, user_id: str, item_id: str, home: ThreadKey | None = None) -> None:
        """Raises `EngineError` when that of an item cannot be worked in."""
        ...

    async def unfit(self, user_id: str, home: ThreadKey | None = None) -> tuple[str, ...]:
        """The items that wait to be claimed of which that is so."""
        ...


@dataclass(frozen=True, slots=True)
class WorkDesk:
    """`owner` is who has what is claimed here; `most` open items may the user have; `clean` takes secrets out;
    `home` is the task in whose workspace the work is done."""

    store: WorkStore
    actor: Actor
    owner: str
    do: Do
    most: int
    clean: Callable[[str], str]
    bindings: Bindings
    board: str = MAIN_BOARD
    home: ThreadKey | None = None

    async def create(self, drafts: Sequence[WorkDraft]) -> tuple[WorkItem, ...]:
        """Make items, all or none; they may name each other."""
        made = rules.drafts(drafts, self.clean)
        order = Create(actor=self.actor, board=rules.board(self.board), drafts=made, most=self.most)
        return (await self.do(order)).items

    async def link(self, add: Sequence[WorkEdge], remove: Sequence[WorkEdge] = ()) -> tuple[WorkItem, ...]:
        """Let items wait for others, or no longer; the whole change or nothing of it."""
        if not 0 < len(add) + len(remove) <= rules.MOST_AT_ONCE:
            raise rules.unfit("add", f"and `remove` have to hold 1 to {rules.MOST_AT_ONCE} edges together")
        return (await self.do(Link(actor=self.actor, add=tuple(add), remove=tuple(remove)))).items

    async def edit(
        self,
        item_id: str,
        edit: WorkEdit,
        *,
        add: Sequence[str] = (),
        remove: Sequence[str] = (),
        version: int | None = None,
    ) -> WorkItem:
        wanted = rules.edit(edit, self.clean)
        order = Edit(
            actor=self.actor,
            item_id=item_id,
            owner=self.owner,
            edit=wanted,
            add=tuple(add),
            remove=tuple(remove),
            version=version,
        )
        return (await self.do(order)).items[0]

    async def claim(self, item_id: str) -> WorkItem:
        await self.bindings.check(self.actor.user_id, item_id, self.home)
        order = Claim(actor=self.actor, owner=rules.owner(self.owner), item_id=item_id)
        return (await self.do(order)).items[0]

    async def claim_next(self, roles: Sequence[str] = ()) -> WorkItem | None:
        """Take the most urgent item that is ready, for one of these roles or for anybody; None when there is none."""
        order = Claim(
            actor=self.actor,
            owner=rules.owner(self.owner),
            board=rules.board(self.board),
            roles=rules.roles(roles),
            without=await self.bindings.unfit(self.actor.user_id, self.home),
        )
        return next(iter((await self.do(order)).items), None)

    async def complete(
        self, item_id: str, result: str | None = None, *, override: bool = False
    ) -> tuple[WorkItem, tuple[WorkItem, ...]]:
        """Say that an item is done; the item, and what became ready by it."""
        said = rules.text("result", result, rules.TEXT_CHARS, self.clean)
        order = Complete(
            actor=self.actor, item_id=item_id, owner=rules.owner(self.owner), result=said, override=override
        )
        done = await self.do(order)
        return done.items[0], done.unblocked

    async def release(self, item_id: str, reason: str | None = None, *, override: bool = False) -> WorkItem:
        said = rules.text("reason", reason, rules.REASON_CHARS, self.clean)
        order = Release(
            actor=self.actor, item_id=item_id, owner=rules.owner(self.owner), reason=said, override=override
        )
        return (await self.do(order)).items[0]

    async def discard(self, item_id: str, reason: str | None = None, *, override: bool = False) -> WorkItem:
        said = rules.text("reason", reason, rules.REASON_CHARS, self.clean)
        order = Discard(
            actor=self.actor, item_id=item_id, owner=rules.owner(self.owner), reason=said, override=override
        )
        return (await self.do(order)).items[0]

    async def reopen(self, item_id: str, reason: str | None = None) -> WorkItem:
        said = rules.text("reason", reason, rules.REASON_CHARS, self.clean)
        return (await self.do(Reopen(actor=self.actor, item_id=item_id, reason=said))).items[0]

    async def item(self, item_id: str) -> WorkItem:
        found = await self.store.item(self.actor.user_id, item_id)
        if found is None:
            raise EngineError(ErrorCode.NOT_FOUND, f"There is no work item {item_id}.")
        return found

    async def mine(self) -> WorkItem | None:
        """What the owner is at."""
        return await self.store.held(self.actor.user_id, self.owner)

    async def items(
        self,
        *,
        limit: int,
        status: WorkShow | None = None,
        owner: str | None = None,
        role: str | None = None,
        ready: bool | None = None,
        after: str | None = None,
    ) -> list[WorkItem]:
        return await self.store.items(
            self.actor.user_id,
            limit=limit,
            board=rules.board(self.board),
            status=status,
            owner=owner,
            role=role,
            ready=ready,
            after=after,
        )

    async def history(self, item_id: str, *, limit: int, before: int | None = None) -> list[WorkChange]:
        await self.item(item_id)
        return await self.store.history(self.actor.user_id, item_id, limit=limit, before=before)
