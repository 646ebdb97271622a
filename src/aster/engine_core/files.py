"""Files that people bring into a task's workspace and take out of it, one by one or all at once.

They go the way tools go: the same workspace, the same identity, no link followed; and what the operator's rules or a
person's grants deny to tools is denied here too.
"""

import asyncio
import codecs
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple

from aster.brain.records import ThreadKey
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.tools import ToolCall
from aster.engine_core import archive
from aster.engine_core.archive import Allowed
from aster.engine_core.live import LiveTurns
from aster.engine_core.services import Services
from aster.engine_core.tasks import existing
from aster.infra.ids import new_id
from aster.sandbox.paths import PathRefused, Workspace
from aster.sandbox.policy import Policy
from aster.utility_directory.text_files import NotAFile, open_file, owner_uid, store

_NAME_BYTES: Final = 255
UNSENT: Final = 4
"""Archives that are packed and not sent yet: each is as large as a workspace may be."""


class Stored(NamedTuple):
    """A file that was put into a workspace."""

    path: str
    size: int
    created: bool


class Opened(NamedTuple):
    """A file to be sent: `fd` belongs to whoever asked."""

    name: str
    size: int
    fd: int


class Unpacked(NamedTuple):
    """How many files there were, and what a client had kept with them."""

    files: int
    session: dict[str, Any]


class Files:
    """One archive at a time: file threads are few, and tools need them too."""

    def __init__(self, services: Services, live: LiveTurns) -> None:
        self._services = services
        self._live = live
        self._archiving = asyncio.Lock()
        self._unsent = 0
        codecs.lookup("cp437")  # how old archives write names; a file thread may not be able to load it

    async def put(self, key: ThreadKey, path: str, data: bytes) -> Stored:
        """Write a file into the task's workspace."""
        services = self._services
        workspace = await services.workspaces.of(*key)
        allowed = await self._allowed(key, "write_file")
        mark, owner = new_id("upload"), owner_uid(services.sandbox)

        def written() -> Stored:
            place = judged(workspace, path, "write_file", allowed)
            if path.endswith("/") or not workspace.strictly_inside(place):
                raise NotAFile(f"{path!r} is no place for a file.")
            new = store(workspace, place, data, mark, owner)
            return Stored(workspace.show(place), len(data), new)

        try:
            stored = await services.sandbox.files.call(written)
        except (PathRefused, NotAFile) as error:
            raise EngineError(ErrorCode.MALFORMED_REQUEST, f"{error} Give the file another name.") from error
        except OSError as error:
            raise EngineError(
                ErrorCode.MALFORMED_REQUEST, f"{path!r} cannot be written: {error.strerror}."
            ) from error
        services.raven.note(
            "file_received", "info", "a file came into a workspace", path=stored.path, bytes=len(data)
        )
        return stored

    async def open(self, key: ThreadKey, path: str) -> Opened:
        """A file of the task's workspace, for reading."""
        services = self._services
        if not services.workspaces.planned(*key).cwd.is_dir():
            raise _missing(path)
        workspace = await services.workspaces.of(*key)
        allowed = await self._allowed(key, "read_file")

        def opened() -> Opened:
            place = judged(workspace, path, "read_file", allowed)
            fd = open_file(workspace, place)
            return Opened(place.name, os.fstat(fd).st_size, fd)

        try:
            return await services.sandbox.files.call(opened)
        except (PathRefused, NotAFile, OSError):
            raise _missing(path) from None

    def hold(self) -> Callable[[], None]:
        """Room for one more archive until it is sent; to be called once when it is gone."""
        if self._unsent >= UNSENT:
            raise EngineError(
                ErrorCode.SLOTS_EXHAUSTED,
                f"{UNSENT} archives are being packed and sent already. Try again in a moment.",
                {"archives": UNSENT},
                retry_after=5.0,
            )
        self._unsent += 1
        return self._sent

    def _sent(self) -> None:
        self._unsent -= 1

    async def pack(self, key: ThreadKey, into: BinaryIO, session: dict[str, object]) -> None:
        """The task's workspace as an archive."""
        services = self._services
        if not services.workspaces.planned(*key).cwd.is_dir():
            await existing(services.brain, key)
        workspace = await services.workspaces.of(*key)
        allowed = await self._allowed(key, "read_file")
        most = services.settings.workspace_max_bytes
        async with self._archiving:
            await services.sandbox.files.call(archive.pack, workspace, into, session, most, allowed)

    async def unpack(self, key: ThreadKey, given: BinaryIO) -> Unpacked:
        """Write an archive into the task's workspace, all of it or nothing; not while a turn works there."""
        services = self._services
        thread = await services.brain.thread(key)
        if key in self._live or (thread is not None and thread.status != "idle"):
            raise EngineError(
                ErrorCode.TASK_BUSY, "A turn of this task runs or waits. Cancel it first.", {"task_id": key.task_id}
            )
        workspace: Workspace = await services.workspaces.of(*key)
        allowed = await self._allowed(key, "write_file")
        most, owner = services.settings.workspace_max_bytes, owner_uid(services.sandbox)
        async with self._archiving:
            session, count = await services.sandbox.files.call(
                archive.unpack, workspace, given, most, owner, new_id("upload"), allowed
            )
        services.raven.note("archive_received", "info", "an archive came into a workspace", files=count)
        return Unpacked(count, session)

    def _may(self, key: ThreadKey, tool: str, path: str, policy: Policy) -> bool:
        given = {"path": path, "content": "…"} if tool == "write_file" else {"path": path}
        found = self._services.permissions.weigh(key, ToolCall(id="file", name=tool, input=given), policy)
        return found.decision.behavior != "deny" or found.decision.decided_by == "validation"

    async def _allowed(self, key: ThreadKey, tool: str) -> Allowed:
        """What nothing denies to a tool. Who asks is a person, so what a person would be asked is answered."""
        rules = await self._services.permissions.rules_for(key)
        if not any(rule.behavior == "deny" for rule in rules):
            return _everything
        policy = Policy(rules=rules)
        return lambda path: self._may(key, tool, path, policy)


def judged(workspace: Workspace, path: str, tool: str, allowed: Allowed) -> Path:
    """Where a path leads, if nothing denies that place; a link that is changed meanwhile changes no verdict on it."""
    place = workspace.resolve(path)
    if not all(allowed(name) for name in (path, workspace.show(place), str(place))):
        raise EngineError(
            ErrorCode.PERMISSION_DENIED, f"A rule denies {tool} on {path[:200]!r}.", {"path": path[:200]}
        )
    return place


def _missing(path: str) -> EngineError:
    return EngineError(
        ErrorCode.NOT_FOUND, f"There is no file {path[:200]!r} in the workspace.", {"path": path[:200]}
    )


def _everything(path: str) -> bool:
    del path
    return True


def fit_name(name: str | None) -> str:
    """The name of an upload, if it is a plain one."""
    if (
        not name
        or name in (".", "..")
        or not name.isprintable()
        or any(character in name for character in "/\\:")
        or len(os.fsencode(name.encode("utf-8", "replace").decode())) > _NAME_BYTES
    ):
        raise EngineError(
            ErrorCode.MALFORMED_REQUEST,
            "Give the file a plain name: printable, without slashes, 255 bytes at most.",
        )
    return Path(name).name
