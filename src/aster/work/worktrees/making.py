"""Making a worktree: everything is looked at before anything is made, and the item is bound once git has made it whole.

What goes wrong half-way is told and left where it is: nothing is deleted, and the item stays as it was. The same call,
made again after a crash, goes on with what it had begun.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, TypeAlias

from aster.brain.records import ThreadKey
from aster.brain.work import Actor
from aster.brain.worktrees import Bind, Reserve, Spoil, WorktreeStore, refusal
from aster.contracts.errors import EngineError
from aster.contracts.worktrees import Worktree
from aster.infra.ids import derived_id, new_id
from aster.infra.settings import Settings
from aster.sandbox.backend import Sandbox
from aster.sandbox.paths import PathRefused, Workspace
from aster.sandbox.settle import uninterrupted
from aster.work.worktrees import binding, naming
from aster.work.worktrees.git import SECONDS, Git

BindTree: TypeAlias = Callable[[Bind], Awaitable[Worktree]]
"""Binds it, with what tells of it where that belongs."""
STALE_MS: Final = round(SECONDS * 4 * 1000)
LEFT: Final = "It was not bound to {item}, and nothing was deleted: look at {path} and the branch {branch}. {why}"


@dataclass(frozen=True, slots=True)
class Wanted:
    """A worktree that somebody wants for an item; `home` is the task in whose workspace the repository lies."""

    name: str
    item_id: str
    home: ThreadKey
    repository: str = "."
    base: str | None = None


class Making:
    """One worktree that is being made."""

    def __init__(
        self, store: WorktreeStore, settings: Settings, sandbox: Sandbox, workspace: Workspace, actor: Actor
    ) -> None:
        self._store = store
        self._settings = settings
        self._sandbox = sandbox
        self._workspace = workspace
        self._actor = actor

    async def make(self, wanted: Wanted, bind: BindTree) -> Worktree:
        known = derived_id("tree", self._actor.call_key) if self._actor.call_key else ""
        begun = await self._store.get(self._actor.user_id, known) if known else None
        if begun is None:
            return await self._new(wanted, known or new_id("tree"), bind)
        if begun.status == "failed":
            raise refusal("git_failed", begun.reason or f"The worktree {begun.name} could not be made.", begun)
        if begun.status != "creating":
            return begun
        return await self._finished(begun, bind, self._again)

    async def _new(self, wanted: Wanted, worktree_id: str, bind: BindTree) -> Worktree:
        name, base = naming.name(wanted.name), naming.base(wanted.base)
        repository = await self._repository(wanted.repository)
        commit = await self._clear(repository, name, base)
        tree = Worktree(
            worktree_id=worktree_id,
            name=name,
            repository=str(repository),
            path=str(naming.place(repository, name)),
            branch=naming.branch(name),
            status="creating",
            item_id=wanted.item_id,
            home_task_id=wanted.home.task_id,
            base=commit,
        )
        order = Reserve(actor=self._actor, tree=tree, most=self._settings.worktrees_max, stale_ms=STALE_MS)
        return await self._finished(await self._store.do(order), bind, self._add)

    async def _repository(self, given: str) -> Path:
        try:
            repository = self._workspace.resolve(given)
        except PathRefused as refused:
            raise naming.unfit("repository", f"is no directory of the workspace: {refused}") from None
        problem = await self._sandbox.files.call(binding.unsuited, repository)
        if problem is not None:
            raise refusal("not_a_repository", f"No worktree was made: {problem}.")
        return repository

    async def _clear(self, repository: Path, name: str, base: str) -> str:
        """Refuse a name that is taken on the disk, and a base that is not there; the commit it begins at."""
        obstacle = await self._sandbox.files.call(binding.taken, repository, name)
        if obstacle is not None:
            raise refusal("exists", f"No worktree was made: {obstacle}. Choose another name.")
        git = self._git(repository)
        await git.look()
        branch = naming.branch(name)
        await git.must("check-ref-format", f"refs/heads/{branch}")
        if (await git.run("show-ref", "--verify", "--quiet", f"refs/heads/{branch}")).exit_code == 0:
            raise refusal(
                "exists", f"No worktree was made: there is a branch {branch} already. Choose another name."
            )
        found = await git.run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{base}^{{commit}}")
        if found.exit_code != 0:
            raise refusal(
                "not_a_repository", f"No worktree was made: {repository} has no commit {base} to begin at."
            )
        return found.stdout.strip()

    async def _finished(
        self, tree: Worktree, bind: BindTree, make: Callable[[Worktree], Awaitable[None]]
    ) -> Worktree:
        """Make it and bind its item; whatever keeps it from that is told, also when whoever wants it goes."""
        try:
            await make(tree)
            return await bind(Bind(actor=self._actor, worktree_id=tree.worktree_id, base=tree.base or ""))
        except EngineError as error:
            why = LEFT.format(item=tree.item_id, path=tree.path, branch=tree.branch, why=error.message)
            await self._spoil(tree, why)
            raise refusal("git_failed", why, tree, cause=(error.details or {}).get("reason")) from error
        except asyncio.CancelledError:
            why = LEFT.format(item=tree.item_id, path=tree.path, branch=tree.branch, why="It was cancelled.")
            await uninterrupted(asyncio.ensure_future(self._spoil(tree, why)))
            raise

    async def _spoil(self, tree: Worktree, why: str) -> None:
        key = ThreadKey(self._actor.user_id, self._actor.task_id) if self._actor.task_id else None
        await self._store.do(Spoil(actor=self._actor, worktree_id=tree.worktree_id, reason=why), key)

    async def _add(self, tree: Worktree) -> None:
        repository = Path(tree.repository)
        try:
            await self._sandbox.files.call(binding.exclude, self._workspace, repository)
        except (OSError, PathRefused) as error:
            raise refusal("git_failed", f"{repository}/.git/info/exclude cannot be written: {error}") from error
        git = self._git(repository)
        await git.look()
        await git.must(
            "worktree", "add", "--no-checkout", "--no-track", "-b", tree.branch, tree.path, tree.base or ""
        )
        await self._again(tree)

    async def _again(self, tree: Worktree) -> None:
        """Fill it with the files of its branch; what it begins at may differ from what the repository is at."""
        await self._sound(tree)
        repository = Path(tree.repository)
        inside = self._git(repository, Path(tree.path), naming.registered(repository, tree.name))
        await inside.look()
        await inside.must("reset", "--hard", "--quiet")
        await self._sound(tree)

    async def _sound(self, tree: Worktree) -> None:
        found = await self._sandbox.files.call(binding.broken, tree)
        if found is not None:
            raise refusal("broken", f"After git made it, {found.said}.", tree)

    def _git(self, repository: Path, work_tree: Path | None = None, git_dir: Path | None = None) -> Git:
        workspace = replace(self._workspace, cwd=repository)
        return Git(self._sandbox, workspace, work_tree or repository, git_dir)
