"""Removing a worktree from the disk, which only a person has done: nothing that was not committed goes unless they say
so, and its branch stays in any case."""

from dataclasses import replace
from pathlib import Path
from typing import Final

from aster.brain.worktrees import refusal
from aster.contracts.worktrees import Worktree
from aster.sandbox.backend import Sandbox
from aster.sandbox.paths import Workspace
from aster.work.worktrees import binding, naming
from aster.work.worktrees.binding import Kind
from aster.work.worktrees.git import Git

SHOWN: Final = 20
_INDEX_BYTES: Final = 64_000_000
CUT: Final = "[..."
"""Where something is missing in what a command has said: there may be a change in it."""


async def erase(tree: Worktree, sandbox: Sandbox, workspace: Workspace, *, discard: bool) -> str:
    """Take it off the disk; what is to be told of it. Raises `EngineError`, and nothing has gone then."""
    repository = Path(tree.repository)
    workspace = replace(workspace, cwd=repository)
    found = await sandbox.files.call(binding.broken, tree)
    if found is not None:
        _obstructed(tree, found, discard)
        if found.kind is Kind.GONE and await sandbox.files.call(binding.unsuited, repository) is not None:
            return f"There was nothing left to remove: {found.said}, and neither is its repository."
    git = Git(sandbox, workspace, repository)
    await git.look()
    if found is None or found.kind is Kind.ASTRAY:
        inside = Git(sandbox, workspace, Path(tree.path), naming.registered(repository, tree.name))
        await inside.look()
        if not discard:
            await _unchanged(tree, sandbox, inside)
        git.settled |= inside.settled
    await git.must("worktree", "remove", *(("--force",) if discard else ()), tree.path)
    return f"The branch {tree.branch} is kept." + (" What was not committed is gone." if discard else "")


def _obstructed(tree: Worktree, found: binding.Break, discard: bool) -> None:
    if found.kind is Kind.FOREIGN:
        said = f"{tree.name} was not removed: {found.said}. Put that right by hand."
        raise refusal("broken", said, tree)
    if discard:
        return
    if found.kind is Kind.ASTRAY:
        raise refusal("dirty", f"{tree.name} was not removed: {found.said}. Look at it, or send `discard`.", tree)
    said = f"{tree.name} was not removed: {found.said} on this machine. If it is gone for good, send `discard`."
    raise refusal("broken", said, tree)


async def _unchanged(tree: Worktree, sandbox: Sandbox, git: Git) -> None:
    """Refuse while there is anything that no commit has: changed, new or ignored files, or an operation half done."""
    listed = await git.must(
        *("status", "--porcelain=v1", "--untracked-files=normal", "--ignored=matching"),
        *("--ignore-submodules=none", "--no-renames"),
    )
    index = await git.must("ls-files", "-v", most=_INDEX_BYTES)
    marked = (line for line in index.splitlines() if line.startswith(("S", CUT)) or line[:1].islower())
    changes = [*listed.splitlines(), *(f"hidden from git: {line[2:]}" for line in marked)]
    pending = await sandbox.files.call(binding.under_way, tree)
    if pending is not None:
        changes.append(f"not finished: {pending}")
    if changes:
        shown = ", ".join(changes[:SHOWN]) + (f" and {len(changes) - SHOWN} more" if len(changes) > SHOWN else "")
        said = f"{tree.name} was not removed: it has what no commit has ({shown}). Commit it, or send `discard`."
        raise refusal("dirty", said, tree, changes=changes[:SHOWN])
