"""Files as tools read and write them: whole, race-safe, and replaced in one step so that nobody sees half of one.

Everything here blocks and runs in the sandbox's file threads, under the identity of the tools. A file that was
written carries the key of the call that wrote it, so that after a crash it can be told whether the call was done.
"""

import contextlib
import os
import secrets
import stat
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from aster.contracts.tools import ToolOutcome
from aster.sandbox.backend import Sandbox
from aster.sandbox.paths import PathRefused, Workspace, open_beside
from aster.utility_directory.names import shown
from aster.utility_directory.tool import Preserved, ToolContext

T = TypeVar("T")

_MARK = "user.aster.call"
_NAME_SHOWN = 300
MAX_TEXT_BYTES = 10_000_000
MAX_PRESERVED_BYTES = 20_000_000


class NotAFile(Exception):
    """What is there is something else; the message is for the model."""


async def on_file(context: ToolContext, given: str, work: Callable[[Path], T]) -> T | ToolOutcome:
    """Resolve a path and work on it in a file thread; every way it can fail is an outcome."""

    def resolved() -> T:
        return work(context.workspace.resolve(given))

    try:
        return await context.sandbox.files.call(resolved)
    except PathRefused as refusal:
        return ToolOutcome.error(f"Error: {refusal}", reason="path_refused")
    except NotAFile as problem:
        return ToolOutcome.error(f"Error: {problem}", reason="not_a_file")
    except FileNotFoundError:
        text = f"Error: there is no file {given[:_NAME_SHOWN]!r}. Use glob to find out what there is."
        return ToolOutcome.error(text, reason="not_found")
    except PermissionError:
        return ToolOutcome.error(f"Error: permission denied for {given!r}.", reason="no_access")
    except OSError as error:
        return ToolOutcome.error(f"Error: {error.strerror or error} ({given[:_NAME_SHOWN]!r}).", reason="io_error")


def open_file(workspace: Workspace, path: Path) -> int:
    """A descriptor of a plain file, for reading."""
    fd = workspace.open(path, os.O_RDONLY)
    mode = os.fstat(fd).st_mode
    if stat.S_ISREG(mode):
        return fd
    os.close(fd)
    kind = "a directory; use glob to see what is in it" if stat.S_ISDIR(mode) else "not a plain file"
    raise NotAFile(f"{shown(workspace, path)} is {kind}.")


def read_text(workspace: Workspace, path: Path) -> str:
    """A whole text file, exactly as it is."""
    with os.fdopen(open_file(workspace, path), "rb") as file:
        data = file.read(MAX_TEXT_BYTES + 1)
    if len(data) > MAX_TEXT_BYTES:
        raise NotAFile(f"{shown(workspace, path)} is too large to edit; change it with a script in bash.")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise NotAFile(f"{shown(workspace, path)} is not UTF-8 text; change it with a script in bash.") from None


def preserved(workspace: Workspace, path: Path) -> Preserved:
    """A file as it is now, to be put back later."""
    try:
        fd = open_file(workspace, path)
    except FileNotFoundError:
        return Preserved(path, existed=False)
    with os.fdopen(fd, "rb") as file:
        info = os.fstat(fd)
        data = file.read() if info.st_size <= MAX_PRESERVED_BYTES else None
    return Preserved(path, existed=True, mode=stat.S_IMODE(info.st_mode), data=data)


def put_back(workspace: Workspace, version: Preserved, key: str, owner: int) -> None:
    """Make a file what it was: its bytes and its mode, or gone."""
    if version.data is not None:
        store(workspace, version.path, version.data, key, owner)
        fd = open_file(workspace, version.path)
        try:
            if version.mode is not None and os.fstat(fd).st_uid == owner:
                os.fchmod(fd, version.mode)
        finally:
            os.close(fd)
        return
    with contextlib.suppress(FileNotFoundError), workspace.directory(version.path.parent) as directory:
        os.unlink(version.path.name, dir_fd=directory)


def store(workspace: Workspace, path: Path, text: str | bytes, key: str, owner: int) -> bool:
    """Write a whole file, making the directories above it; tells whether it is a new one.

    A file of another owner, or with a second name, is overwritten where it is: replacing it would take it away.
    """
    data = text.encode("utf-8") if isinstance(text, str) else text
    with workspace.directory(path.parent, create=True) as directory:
        try:
            info = os.stat(path.name, dir_fd=directory, follow_symlinks=False)
        except FileNotFoundError:
            _replace(directory, path.name, data, key, None)
            return True
        if not stat.S_ISREG(info.st_mode) and not stat.S_ISLNK(info.st_mode):
            kind = "a directory" if stat.S_ISDIR(info.st_mode) else "not a plain file"
            raise NotAFile(f"{shown(workspace, path)} is {kind}.")
        writable = open_beside(directory, path.name, os.O_WRONLY)
        try:
            if info.st_uid != owner or info.st_nlink > 1:
                os.ftruncate(writable, 0)
                _fill(writable, data, key)
            else:
                _replace(directory, path.name, data, key, stat.S_IMODE(info.st_mode))
        finally:
            os.close(writable)
    return False


def written_by(workspace: Workspace, path: Path, key: str) -> bool:
    """Whether the file, as it is now, was put there by the call with this key."""
    fd = open_file(workspace, path)
    try:
        return os.getxattr(fd, _MARK) == key.encode()
    except OSError:
        return False
    finally:
        os.close(fd)


def _replace(directory: int, name: str, data: bytes, key: str, mode: int | None) -> None:
    temporary = f".{name[:100]}.{secrets.token_hex(6)}.tmp"
    fd = open_beside(directory, temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    try:
        if mode is not None:
            os.fchmod(fd, mode)
        _fill(fd, data, key)
        os.replace(temporary, name, src_dir_fd=directory, dst_dir_fd=directory)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary, dir_fd=directory)
        raise
    finally:
        os.close(fd)


def _fill(fd: int, data: bytes, key: str) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]
    with contextlib.suppress(OSError):  # not every file system keeps marks; `check` then compares the text
        os.setxattr(fd, _MARK, key.encode())
    os.fsync(fd)


def owner_of(context: ToolContext) -> int:
    """The uid that new files of a call get."""
    return owner_uid(context.sandbox)


def owner_uid(sandbox: Sandbox) -> int:
    """The uid that new files get."""
    return sandbox.identity.uid if sandbox.identity is not None else os.geteuid()
