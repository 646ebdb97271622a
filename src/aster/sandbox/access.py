"""Letting the tools' identity reach what it is meant to reach, and nothing more, when the engine runs as root.

Access is granted by POSIX ACL entries for that one uid: passing through the directories above, working inside the
root. Owners, groups and modes of other people's files stay as they are.
"""

import os
import stat
import struct
from collections.abc import Iterator
from pathlib import Path

from aster.contracts.errors import EngineError, ErrorCode
from aster.sandbox.identity import Identity

_ACCESS, _DEFAULT = "system.posix_acl_access", "system.posix_acl_default"
_VERSION = 2
_OWNER, _USER, _OWNING_GROUP, _GROUP, _MASK, _OTHER = 0x01, 0x02, 0x04, 0x08, 0x10, 0x20
_UNNAMED = 0xFFFFFFFF
_READ, _WRITE, _PASS = 4, 2, 1

Entries = dict[tuple[int, int], int]


def open_to(root: Path, identity: Identity, closed: tuple[Path, ...] = ()) -> None:
    """Make `root` usable for the identity: pass through what is above it, read and write what is in it, except in
    the directories that stay `closed`."""
    try:
        for above in reversed(root.parents):
            _grant_passage(above, identity)
        if root.stat().st_uid != identity.uid:
            _grant_tree(root, identity, closed)
    except OSError as error:
        raise EngineError(
            ErrorCode.CONFIGURATION_INVALID,
            f"Tools run as uid {identity.uid}, which cannot be given access to {error.filename or root}"
            f" ({error.strerror}). Start the engine as an ordinary user, or make the directory accessible.",
            {"path": str(root)},
        ) from error


def _grant_passage(directory: Path, identity: Identity) -> None:
    mode = directory.stat()
    if mode.st_mode & stat.S_IXOTH or mode.st_uid == identity.uid:
        return
    _add(str(directory), mode.st_mode, identity, _PASS)


def _grant_tree(root: Path, identity: Identity, closed: tuple[Path, ...]) -> None:
    """Once per tree: the entry on the root itself says that the rest has been done, so it is set last."""
    if _entries(str(root), _ACCESS, root.stat().st_mode).get((_USER, identity.uid)) == _READ | _WRITE | _PASS:
        return
    for fd, mode in _walk(root, closed):
        path = f"/proc/self/fd/{fd}"
        if stat.S_ISDIR(mode):
            _add(path, mode, identity, _READ | _WRITE | _PASS)
            _add(path, mode, identity, _READ | _WRITE | _PASS, _DEFAULT)
        else:
            _add(path, mode, identity, _READ | _WRITE | (_PASS if mode & stat.S_IXUSR else 0))


def _walk(root: Path, closed: tuple[Path, ...]) -> Iterator[tuple[int, int]]:
    """Every directory and plain file below, then the root. Links are not followed, and a file with a second
    name is left alone: the other name may be outside."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    for place, below, names, directory in os.fwalk(root, follow_symlinks=False):
        below[:] = [name for name in below if Path(place, name) not in closed]
        for name in names:
            info = os.stat(name, dir_fd=directory, follow_symlinks=False)
            if stat.S_ISREG(info.st_mode) and info.st_nlink == 1:
                fd = os.open(name, flags, dir_fd=directory)
                try:
                    yield fd, info.st_mode
                finally:
                    os.close(fd)
        if Path(place) != root:
            yield directory, os.fstat(directory).st_mode
    fd = os.open(root, flags)
    try:
        yield fd, os.fstat(fd).st_mode
    finally:
        os.close(fd)


def _add(path: str, mode: int, identity: Identity, permissions: int, kind: str = _ACCESS) -> None:
    entries = _entries(path, kind, mode)
    key = (_USER, identity.uid)
    if entries.get(key, 0) & entries.get((_MASK, _UNNAMED), 0) & permissions == permissions:
        return
    entries[key] = entries.get(key, 0) | permissions
    group_class = (_USER, _OWNING_GROUP, _GROUP)
    entries[(_MASK, _UNNAMED)] = 0
    for (tag, _), granted in list(entries.items()):
        if tag in group_class:
            entries[(_MASK, _UNNAMED)] |= granted
    packed = b"".join(struct.pack("<HHI", tag, granted, who) for (tag, who), granted in sorted(entries.items()))
    os.setxattr(path, kind, struct.pack("<I", _VERSION) + packed)


def _entries(path: str, kind: str, mode: int) -> Entries:
    """The list in force; a path without one has its mode, which says the same."""
    try:
        raw = os.getxattr(path, kind)
    except OSError:
        return {
            (_OWNER, _UNNAMED): mode >> 6 & 7,
            (_OWNING_GROUP, _UNNAMED): mode >> 3 & 7,
            (_OTHER, _UNNAMED): mode & 7,
        }
    return {(tag, who): granted for tag, granted, who in struct.iter_unpack("<HHI", raw[4:])}
