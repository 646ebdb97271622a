"""The work graph of an engine: makes desks for those who work with it, and says which boards were changed."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

from aster.brain.protocol import Brain
from aster.brain.records import ThreadKey
from aster.brain.unit import Deed
from aster.brain.work import (
    ENGINE,
    Abandon,
    Actor,
    Create,
    Link,
    WorkDeed,
    WorkOrder,
    WorkOutcome,
)
from aster.contracts.work import MAIN_BOARD, WorkBoard
from aster.infra.secrets import Secrets, Where
from aster.infra.settings import Settings
from aster.work.graph.desk import Bindings, WorkDesk

Commit: TypeAlias = Callable[[Deed], Awaitable[None]]
"""Does a deed in the commit that tells of it on a thread."""
Changed: TypeAlias = Callable[[str, str], Awaitable[None]]
"""Told of each board of a user that was changed, once it was."""


async def _nobody_waits(user_id: str, board: str) -> None:
    del user_id, board


class WorkGraph:
    def __init__(self, brain: Brain, settings: Settings, secrets: Secrets, bindings: Bindings) -> None:
        self._store = brain.work
        self._bindings = bindings
        self._settings = settings
        self._secrets = secrets
        self.changed: Changed = _nobody_waits

    def agent(
        self,
        actor: Actor,
        commit: Commit,
        *,
        owner: str | None = None,
        board: str = MAIN_BOARD,
        home: ThreadKey | None = None,
    ) -> WorkDesk:
        """The desk of an agent in its turn: what it changes is told on its thread, in the same commit. Without a name
        of its own it has items as its task; it works in the workspace of the task `home`."""

        async def do(order: WorkOrder) -> WorkOutcome:
            deed = self._store.deed(order)
            await commit(deed)
            await self._seen(order, deed.outcome)
            return deed.outcome

        return replace(self._desk(actor, owner or actor.task_id, do, board, "model"), home=home)

    def person(self, user_id: str, *, owner: str | None = None, board: str = MAIN_BOARD) -> WorkDesk:
        """The desk of a person: what is changed is told on the thread of whoever has the item, or made it."""
        actor = Actor(user_id=user_id, name=user_id, person=True)

        async def do(order: WorkOrder) -> WorkOutcome:
            done = await self._store.do(order, await self._place(user_id, order))
            await self._seen(order, done)
            return done

        return self._desk(actor, owner or user_id, do, board, "person")

    async def _seen(self, order: WorkOrder, done: WorkOutcome) -> None:
        """Let those know who wait for work on the boards that were changed."""
        for board in {item.board for item in (*done.items, *done.unblocked)}:
            await self.changed(order.actor.user_id, board)

    def abandoned(self, key: ThreadKey, reason: str) -> WorkDeed:
        """Gives back to the board whatever a task is at, in the commit that tells why."""
        actor = Actor(user_id=key.user_id, name=ENGINE)
        return self._store.deed(Abandon(actor=actor, task_id=key.task_id, reason=reason))

    async def boards(self, user_id: str) -> Sequence[WorkBoard]:
        return await self._store.boards(user_id)

    async def _place(self, user_id: str, order: WorkOrder) -> ThreadKey | None:
        """The thread that is to tell of a person's change."""
        match order:
            case Create() | Abandon():
                return None
            case Link():
                named = next(edge.item_id for edge in (*order.add, *order.remove))
            case _:
                named = order.item_id
        found = None if named is None else await self._store.item(user_id, named)
        task_id = "" if found is None else found.owner_task_id or found.task_id
        return ThreadKey(user_id, task_id) if task_id else None

    def _desk(
        self, actor: Actor, owner: str, do: Callable[[WorkOrder], Awaitable[WorkOutcome]], board: str, where: Where
    ) -> WorkDesk:
        return WorkDesk(
            store=self._store,
            actor=actor,
            owner=owner,
            do=do,
            most=self._settings.work_items_max,
            clean=lambda text: self._secrets.clean(text, where),
            bindings=self._bindings,
            board=board,
        )
