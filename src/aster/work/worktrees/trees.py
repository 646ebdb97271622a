"""The worktrees of an engine: who works where, making them, and letting people keep or remove them.

Where a turn works is read from what is stored, each time it may have changed, and held against the disk each time tools
run; what does not fit is refused. There is no other directory to fall back on.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from aster.brain.protocol import Brain
from aster.brain.records import ThreadKey
from aster.brain.unit import Deed
from aster.brain.work import Actor
from aster.brain.worktrees import Bind, Enter, Keep, Remove, Removing, Stay, refusal
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.worktrees import Worktree, WorktreeStatus
from aster.infra.settings import Settings
from aster.sandbox.backend import Sandbox
from aster.sandbox.paths import Workspace
from aster.sandbox.workspaces import Workspaces
from aster.work.worktrees import binding, naming
from aster.work.worktrees.making import Making, Wanted
from aster.work.worktrees.removing import erase

Commit: TypeAlias = Callable[[Deed], Awaitable[None]]
"""Does a deed in the commit that tells of it on a thread."""


class Worktrees:
    def __init__(self, brain: Brain, settings: Settings, sandbox: Sandbox, workspaces: Workspaces) -> None:
        self._brain = brain
        self._store = brain.worktrees
        self._settings = settings
        self._sandbox = sandbox
        self._workspaces = workspaces

    def agent(self, actor: Actor, home: ThreadKey, commit: Commit) -> "TreeDesk":
        """For an agent in its turn: what it makes is told on its thread, in the same commit."""
        return TreeDesk(self, actor, home, commit)

    async def of_turn(self, key: ThreadKey, turn_id: str) -> Worktree | None:
        """Where a turn works by what its task has claimed, or has not left yet."""
        return await self._store.of_turn(key, turn_id)

    async def of_item(self, user_id: str, item_id: str) -> Worktree | None:
        return await self._store.of_item(user_id, item_id)

    async def enter(self, key: ThreadKey, turn_id: str, worktree_id: str) -> Worktree:
        """A turn is about to work there: until it ends nobody removes it."""
        actor = Actor(user_id=key.user_id, name=key.task_id, task_id=key.task_id, turn_id=turn_id)
        return await self._store.do(Enter(actor=actor, worktree_id=worktree_id))

    def workspace(self, tree: Worktree, base: Workspace) -> Workspace:
        """A worktree as the one root there is; commands reach git's own files besides, so that they can commit."""
        path = Path(tree.path)
        beside = (Path(tree.repository) / ".git",)
        return Workspace((path,), path, hidden=base.hidden, scratch=base.scratch, beside=beside)

    async def problem(self, tree: Worktree, base: Workspace) -> str | None:
        """Why a worktree cannot be worked in, from where `base` is the workspace; None if it can."""
        if tree.status not in ("active", "kept"):
            return f"it is {tree.status}"
        if not base.contains(Path(tree.repository)):
            return f"its repository {tree.repository} is not in this workspace"
        found = await self._sandbox.files.call(binding.broken, tree)
        return None if found is None else found.said

    async def check(self, user_id: str, item_id: str, home: ThreadKey | None = None) -> None:
        """Refuse to claim an item whose worktree cannot be worked in."""
        tree = await self._store.of_item(user_id, item_id)
        if tree is None:
            return
        problem = await self.problem(tree, await self._base(home or self._home(user_id, tree)))
        if problem is not None:
            raise refusal("broken", f"{item_id} stays as it is: of its worktree {tree.name}, {problem}.", tree)

    async def unfit(self, user_id: str, home: ThreadKey | None = None) -> tuple[str, ...]:
        """The items that wait to be claimed and whose worktrees cannot be worked in."""
        found: list[str] = []
        for tree in await self._store.waiting(user_id):
            base = await self._base(home or self._home(user_id, tree))
            if await self.problem(tree, base) is not None:
                found.append(tree.item_id)
        return tuple(found)

    async def make(self, user_id: str, wanted: Wanted) -> Worktree:
        """Make one for a person."""
        actor = Actor(user_id=user_id, name=user_id, person=True)
        place = await self._place(user_id, wanted.item_id)

        async def bind(order: Bind) -> Worktree:
            return await self._store.do(order, place)

        return await (await self._making(actor, wanted)).make(wanted, bind)

    async def make_in_turn(self, actor: Actor, wanted: Wanted, commit: Commit) -> Worktree:
        """Make one for an agent."""

        async def bind(order: Bind) -> Worktree:
            deed = self._store.deed(order)
            await commit(deed)
            return deed.outcome

        return await (await self._making(actor, wanted)).make(wanted, bind)

    async def get(self, user_id: str, worktree_id: str) -> Worktree:
        found = await self._store.get(user_id, worktree_id)
        if found is None:
            raise EngineError(ErrorCode.NOT_FOUND, f"There is no worktree {worktree_id}.")
        return found

    async def looked_at(self, user_id: str, tree: Worktree) -> str | None:
        """What is wrong with one on the disk, for a person; None also when it is not meant to be there."""
        if tree.status not in ("active", "kept"):
            return None
        return await self.problem(tree, await self._base(self._home(user_id, tree)))

    async def trees(
        self,
        user_id: str,
        *,
        limit: int,
        status: WorktreeStatus | None = None,
        item_id: str | None = None,
        after: str | None = None,
    ) -> list[Worktree]:
        return await self._store.trees(user_id, limit=limit, status=status, item_id=item_id, after=after)

    async def keep(self, user_id: str, worktree_id: str) -> Worktree:
        tree = await self.get(user_id, worktree_id)
        order = Keep(actor=_person(user_id), worktree_id=worktree_id)
        return await self._store.do(order, await self._place(user_id, tree.item_id))

    async def remove(self, user_id: str, worktree_id: str, *, discard: bool) -> Worktree:
        """Take one off the disk for a person; refused as long as anybody needs it or something would be lost."""
        actor = _person(user_id)
        tree = await self._store.do(Removing(actor=actor, worktree_id=worktree_id))
        erased = False
        try:
            workspace = await self._base(self._home(user_id, tree))
            if not workspace.contains(Path(tree.repository)):
                said = f"{tree.name} was not removed: {tree.repository} is no longer in the workspace."
                raise refusal("elsewhere", said, tree)
            told = await erase(tree, self._sandbox, workspace, discard=discard)
            erased = True
        finally:
            if not erased:
                await self._store.do(Stay(actor=actor, worktree_id=worktree_id))
        order = Remove(actor=actor, worktree_id=worktree_id, reason=told)
        gone = await self._store.do(order, await self._place(user_id, tree.item_id))
        await self._workspaces.forget((Path(tree.path),))
        return gone

    async def _making(self, actor: Actor, wanted: Wanted) -> Making:
        if not wanted.home.task_id and not self._settings.roots and self._settings.workspace == "task":
            raise naming.unfit("task_id", "has to name the task in whose workspace the repository lies")
        workspace = await self._workspaces.of(*wanted.home)
        return Making(self._store, self._settings, self._sandbox, workspace, actor)

    async def _place(self, user_id: str, item_id: str) -> ThreadKey | None:
        """The thread that is to tell of what a person does."""
        item = await self._brain.work.item(user_id, item_id)
        task_id = "" if item is None else item.owner_task_id or item.task_id
        return ThreadKey(user_id, task_id) if task_id else None

    async def _base(self, home: ThreadKey) -> Workspace:
        """The workspace of a task, made ready if there is one."""
        planned = self._workspaces.planned(*home)
        return await self._workspaces.of(*home) if planned.cwd.is_dir() else planned

    def _home(self, user_id: str, tree: Worktree) -> ThreadKey:
        return ThreadKey(user_id, tree.home_task_id)


def _person(user_id: str) -> Actor:
    return Actor(user_id=user_id, name=user_id, person=True)


@dataclass(frozen=True, slots=True)
class TreeDesk:
    """Worktrees as an agent has them: it can have one made, and nothing else."""

    trees: Worktrees
    actor: Actor
    home: ThreadKey
    commit: Commit

    async def make(self, name: str, item_id: str, repository: str = ".", base: str | None = None) -> Worktree:
        wanted = Wanted(name=name, item_id=item_id, home=self.home, repository=repository, base=base)
        return await self.trees.make_in_turn(self.actor, wanted, self.commit)
