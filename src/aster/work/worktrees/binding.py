"""Whether a worktree on the disk is the one on record: its directory, git's entry for it, and its branch.

Everything is looked at without running git and without following a link, because whoever may write in the repository
may have changed any of it. What does not fit is broken, and nothing is worked on in its place.
"""

import os
import stat
from enum import Enum, auto
from pathlib import Path
from typing import Final, NamedTuple

from aster.contracts.worktrees import Worktree
from aster.sandbox.paths import PathRefused, Workspace, open_beside
from aster.work.worktrees import naming

_MOST: Final = 4096
_EXCLUDED: Final = "/.aster/"
_UNDER_WAY: Final = (
    *("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "BISECT_LOG", "rebase-merge", "rebase-apply"),
)


class Kind(Enum):
    """It is not there; what is there is not it; it is it, and on another branch."""

    GONE = auto()
    FOREIGN = auto()
    ASTRAY = auto()


class Break(NamedTuple):
    kind: Kind
    said: str


def unsuited(repository: Path) -> str | None:
    """Why a directory is no repository that worktrees can be made of; None if it is one."""
    git = repository / ".git"
    if not _directory(git):
        return f"{repository} is not the directory of a git repository of its own"
    if not (git / "HEAD").is_file() or os.path.lexists(git / "commondir"):
        return f"{git} is not a whole git repository"
    if os.path.lexists(git / "reftable"):
        return f"{repository} keeps its references as a reftable, which is not supported"
    return None


def taken(repository: Path, name: str) -> str | None:
    """What stands where a worktree would be made; None if nothing does."""
    place = naming.place(repository, name)
    if os.path.realpath(place.parent) != str(place.parent):
        return f"{place.parent} leads to another place"
    for path in (place, naming.registered(repository, name)):
        if os.path.lexists(path):
            return f"{path} is there already"
    return None


def broken(tree: Worktree) -> Break | None:
    """What is wrong with a worktree; None if it is as it should be."""
    path, repository = Path(tree.path), Path(tree.repository)
    if not os.path.lexists(path):
        return Break(Kind.GONE, f"its directory {path} is not there")
    admin = naming.registered(repository, tree.name)
    if not _directory(path) or any(os.path.realpath(place) != str(place) for place in (path, admin)):
        return Break(Kind.FOREIGN, f"{path} is not a directory of its own, or leads to another place")
    linked = _line(path / ".git") == f"gitdir: {admin}" and _line(admin / "gitdir") == f"{path}/.git"
    if not linked or _line(admin / "commondir") != "../..":
        return Break(Kind.FOREIGN, f"{path} is not a worktree of {repository}")
    reference = f"refs/heads/{tree.branch}"
    if _line(admin / "HEAD") == f"ref: {reference}":
        return None
    interrupted = (_line(admin / place / "head-name") for place in ("rebase-merge", "rebase-apply"))
    if reference in interrupted or _line(admin / "BISECT_START") == tree.branch:
        return None
    return Break(Kind.ASTRAY, f"it is not on its branch {tree.branch}")


def under_way(tree: Worktree) -> str | None:
    """What git was doing there and has not finished."""
    admin = naming.registered(Path(tree.repository), tree.name)
    return next((name for name in _UNDER_WAY if os.path.lexists(admin / name)), None)


def exclude(workspace: Workspace, repository: Path) -> None:
    """Have git leave worktrees out of what it shows of their repository, without changing a file of it."""
    with workspace.directory(repository / ".git" / "info", create=True) as place:
        fd = open_beside(place, "exclude", os.O_RDWR | os.O_CREAT | os.O_APPEND)
        with os.fdopen(fd, "rb+") as file:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                raise PathRefused("`info/exclude` is not a file.")
            known = file.read().decode("utf-8", "replace")
            if _EXCLUDED not in known.splitlines():
                file.write(f"{'' if not known or known.endswith(chr(10)) else chr(10)}{_EXCLUDED}\n".encode())


def _directory(path: Path) -> bool:
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except OSError:
        return False


def _line(path: Path) -> str | None:
    """What a small file says; None if it cannot be read or is no file."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            return None
        return os.read(fd, _MOST).decode("utf-8", "surrogateescape").removesuffix("\n")
    except OSError:
        return None
    finally:
        os.close(fd)
