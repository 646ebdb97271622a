"""Which workspace a task has: the operator's roots, or a directory of its own (or its user's) beside the brain.

A workspace is made ready before it is handed out: it exists, it is canonical, the tools' identity can use it, and
the engine's own data is not visible in it. A task's directory goes when the task goes, unless it is to be kept.
"""

import asyncio
import contextlib
import hashlib
import os
import shutil
from pathlib import Path

from aster.contracts.errors import EngineError, ErrorCode
from aster.infra.scratch import scratch
from aster.infra.settings import Settings
from aster.sandbox.access import open_to
from aster.sandbox.backend import Sandbox
from aster.sandbox.paths import Workspace
from aster.sandbox.removal import remove

_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_-")
_DIGITS = 12
_NEVER = tuple(map(Path, ("/proc", "/sys", "/dev")))


def safe_name(name: str) -> str:
    """A directory name for the id of a user or task: itself when it is plain, otherwise unique by a hash of it."""
    hashed = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]
    looks_hashed = "-" in name and len(name.rsplit("-", 1)[1]) == _DIGITS
    if name and len(name) <= 64 and set(name) <= _PLAIN and not looks_hashed:
        return name
    readable = "".join(c if c in _PLAIN else "_" for c in name.lower()[:40])
    return f"{readable}-{hashed}"


def search_index(settings: Settings, roots: tuple[Path, ...]) -> Path:
    """Where the engine keeps what it has read of a workspace for searching; it goes when the workspace goes. Replicas
    that share a directory each have their own: it is a SQLite file, which no network volume is fit for."""
    names = "\0".join(map(str, roots)).encode("utf-8", "surrogateescape")
    place = Path(os.path.realpath(settings.data_dir)) if settings.database_url is None else scratch()
    return place / "search" / f"{hashlib.sha256(names).hexdigest()[:32]}.sqlite"


class Workspaces:
    """The workspaces of all tasks."""

    def __init__(self, settings: Settings, sandbox: Sandbox) -> None:
        self._settings = settings
        self._sandbox = sandbox

    async def of(self, user_id: str, task_id: str) -> Workspace:
        """The task's workspace. It is looked at every time: somebody may have removed it or closed the way."""
        return await asyncio.to_thread(self._prepare, user_id, task_id)

    async def apart(self, user_id: str, name: str) -> Workspace:
        """A directory for something of a user's that belongs to no task, with the operator's roots beside it."""
        return await asyncio.to_thread(self._set_apart, user_id, name)

    async def cell(self, name: str) -> Workspace:
        """A directory that is nobody's and has nothing beside it; empty when it is asked for the first time."""
        return await asyncio.to_thread(self._cell, name)

    async def vacate(self, name: str) -> None:
        """Nobody works in a cell any more."""
        own = self._data() / "cells" / safe_name(name)
        await asyncio.to_thread(remove, own)
        await asyncio.to_thread(_forget, search_index(self._settings, (own,)))

    async def forget(self, roots: tuple[Path, ...]) -> None:
        """What was read of these roots for searching is not needed any more."""
        await asyncio.to_thread(_forget, search_index(self._settings, roots))

    def _cell(self, name: str) -> Workspace:
        own = self._made_at(self._data() / "cells" / safe_name(name))
        if self._sandbox.identity is not None:
            open_to(own, self._sandbox.identity, closed=(self._data(),))
        return Workspace((own,), own, hidden=(self._data(),), scratch=self._sandbox.scratch)

    def planned(self, user_id: str, task_id: str) -> Workspace:
        """The workspace a task has or would have; nothing is made ready."""
        roots = tuple(Path(os.path.realpath(root)) for root in self._settings.roots)
        roots = roots or (self._own(user_id, task_id),)
        return Workspace(roots, roots[0], hidden=(self._data(),), scratch=self._sandbox.scratch)

    def repository(self, user_id: str, task_id: str) -> bool:
        """Whether the workspace is a git repository."""
        return (self.planned(user_id, task_id).cwd / ".git").is_dir()

    async def discard(self, user_id: str, task_id: str) -> None:
        """The task is gone, and with it what it had to itself."""
        settings = self._settings
        if settings.workspace == "task" and not settings.workspace_keep and not settings.roots:
            own = self._own(user_id, task_id)
            await asyncio.to_thread(remove, own)
            await asyncio.to_thread(_forget, search_index(settings, (own,)))

    async def copy(self, user_id: str, task_id: str, new_task_id: str) -> None:
        """A task has been forked: what the one has to itself now, the other begins with."""
        source = self._own(user_id, task_id)
        if self._settings.workspace == "task" and not self._settings.roots and source.is_dir():
            target = await self.of(user_id, new_task_id)
            await self._sandbox.files.call(_copy, source, target.cwd)

    def _prepare(self, user_id: str, task_id: str) -> Workspace:
        data = self._data()
        given = self._settings.roots
        roots = tuple(dict.fromkeys(map(_canonical, given))) if given else (self._made(user_id, task_id),)
        if self._sandbox.identity is not None:
            for root in roots:
                open_to(root, self._sandbox.identity, closed=(data,))
        return Workspace(roots, roots[0], hidden=(data,), scratch=self._sandbox.scratch)

    def _set_apart(self, user_id: str, name: str) -> Workspace:
        data = self._data()
        own = self._made_at(data / "assets" / safe_name(user_id) / safe_name(name))
        roots = (own, *dict.fromkeys(map(_canonical, self._settings.roots)))
        if self._sandbox.identity is not None:
            for root in roots:
                open_to(root, self._sandbox.identity, closed=() if root == own else (data,))
        return Workspace(roots, own, hidden=(data,), scratch=self._sandbox.scratch)

    def _data(self) -> Path:
        return Path(os.path.realpath(self._settings.data_dir))

    def _own(self, user_id: str, task_id: str) -> Path:
        of_user = self._data() / "workspaces" / safe_name(user_id)
        return of_user / safe_name(task_id) if self._settings.workspace == "task" else of_user

    def _made(self, user_id: str, task_id: str) -> Path:
        return self._made_at(self._own(user_id, task_id))

    def _made_at(self, root: Path) -> Path:
        root.parent.mkdir(parents=True, exist_ok=True)
        identity = self._sandbox.identity
        try:
            root.mkdir(mode=0o700)
        except FileExistsError:
            return _directory(root)
        if identity is not None:
            os.chown(root, identity.uid, identity.gid)
        return root


def _forget(index: Path) -> None:
    for path in index.parent.glob(f"{index.name}*"):
        path.unlink(missing_ok=True)


def _directory(root: Path) -> Path:
    """Tools of a workspace around this one could have put a link there."""
    if root.is_symlink() or not root.is_dir():
        message = f"{root} should be the directory of a task, and is something else. Remove it."
        raise EngineError(ErrorCode.CONFIGURATION_INVALID, message, {"path": str(root)})
    return root


def _copy(source: Path, target: Path) -> None:
    """Directories, plain files and links; what else there may be (a pipe, a file nobody may read) stays behind."""
    with contextlib.suppress(shutil.Error):
        shutil.copytree(source, target, symlinks=True, dirs_exist_ok=True)


def _canonical(root: Path) -> Path:
    path = Path(os.path.realpath(root))
    if not path.is_dir():
        raise EngineError(
            ErrorCode.CONFIGURATION_INVALID,
            f"ALLOWED_ROOTS: {root} is not a directory. Create it or take it off the list.",
            {"ALLOWED_ROOTS": str(root)},
        )
    if path == Path("/") or any(path.is_relative_to(place) for place in _NEVER):
        raise EngineError(
            ErrorCode.CONFIGURATION_INVALID,
            f"ALLOWED_ROOTS: {root} cannot be lent to tools. Name the directories they should work in.",
            {"ALLOWED_ROOTS": str(root)},
        )
    return path
