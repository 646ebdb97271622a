"""Which workspace a user has: the operator's roots, or a directory of the user's own beside the brain.

A workspace is made ready before it is handed out: it exists, it is canonical, the tools' identity can use it, and
the engine's own data is not visible in it.
"""

import asyncio
import hashlib
import os
from pathlib import Path

from aster.contracts.errors import EngineError, ErrorCode
from aster.infra.settings import Settings
from aster.sandbox.access import open_to
from aster.sandbox.backend import Sandbox
from aster.sandbox.paths import Workspace

_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_-")
_DIGITS = 12
_NEVER = tuple(map(Path, ("/proc", "/sys", "/dev")))


def safe_name(user_id: str) -> str:
    """A directory name for a user id: itself when it is plain, otherwise unique by a hash of it."""
    hashed = hashlib.sha256(user_id.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]
    looks_hashed = "-" in user_id and len(user_id.rsplit("-", 1)[1]) == _DIGITS
    if user_id and len(user_id) <= 64 and set(user_id) <= _PLAIN and not looks_hashed:
        return user_id
    readable = "".join(c if c in _PLAIN else "_" for c in user_id.lower()[:40])
    return f"{readable}-{hashed}"


class Workspaces:
    """The workspaces of all users."""

    def __init__(self, settings: Settings, sandbox: Sandbox) -> None:
        self._settings = settings
        self._sandbox = sandbox

    async def of(self, user_id: str) -> Workspace:
        """The user's workspace. It is looked at every time: somebody may have removed it or closed the way."""
        return await asyncio.to_thread(self._prepare, user_id)

    def _prepare(self, user_id: str) -> Workspace:
        data = Path(os.path.realpath(self._settings.data_dir))
        given = self._settings.roots
        roots = tuple(dict.fromkeys(map(_canonical, given))) if given else (self._own(data, user_id),)
        if self._sandbox.identity is not None:
            for root in roots:
                open_to(root, self._sandbox.identity, closed=(data,))
        return Workspace(roots, roots[0], hidden=(data,), scratch=self._sandbox.scratch)

    def _own(self, data: Path, user_id: str) -> Path:
        root = data / "workspaces" / safe_name(user_id)
        root.parent.mkdir(parents=True, exist_ok=True)
        identity = self._sandbox.identity
        try:
            root.mkdir(mode=0o700)
        except FileExistsError:
            return root
        if identity is not None:
            os.chown(root, identity.uid, identity.gid)
        return root


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
