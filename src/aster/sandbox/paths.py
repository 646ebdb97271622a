"""The part of the file system that tools may touch, and the only way they may open it.

A path given by a model is resolved first and judged after; it is then opened component by component without
following links, so that a link put there between the judgement and the opening is refused, not followed.
"""

import contextlib
import errno
import os
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path

_STEP = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC if hasattr(os, "O_PATH") else 0
_SAFE = os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY


class PathRefused(Exception):
    """The path is not one that tools may use; the message is for the model."""


@dataclass(frozen=True, slots=True)
class Workspace:
    """Canonical roots that are visible, except what is `hidden` inside them. `scratch` is where a command finds an
    empty directory of its own, `beside` are places that programs in a command may use besides; file tools never see
    either."""

    roots: tuple[Path, ...]
    cwd: Path
    hidden: tuple[Path, ...] = ()
    scratch: Path | None = None
    beside: tuple[Path, ...] = ()

    @property
    def home(self) -> Path:
        return self.roots[0]

    def locate(self, given: str, base: Path | None = None) -> Path:
        """Where a path leads, links and `..` resolved; no judgement."""
        if not given or "\x00" in given:
            raise PathRefused("The path is empty or contains a NUL character.")
        try:
            os.fsencode(given)
        except UnicodeEncodeError:
            raise PathRefused("The path contains characters that no file name can have.") from None
        if given == "~" or given.startswith("~/"):
            given = str(self.home) + given[1:]
        try:
            return Path(os.path.realpath(os.path.join(base or self.cwd, given)))  # noqa: PTH118 - `/` drops `.`, `//`
        except OSError:
            raise PathRefused("The path was changed while it was being looked at.") from None

    def resolve(self, given: str) -> Path:
        """The canonical path, if it is inside the roots."""
        path = self.locate(given)
        if not self.contains(path):
            roots = ", ".join(map(str, self.roots))
            hint = f" {self.scratch} exists only while a shell command runs." if self._scratched(path) else ""
            raise PathRefused(f"{given!r} is outside the workspace. Use a path inside {roots}.{hint}")
        return path

    def contains(self, path: Path) -> bool:
        """Whether a canonical path is visible: the innermost root or hidden directory around it decides."""
        around = [place for place in (*self.roots, *self.hidden) if path.is_relative_to(place)]
        return bool(around) and max(around, key=lambda place: len(place.parts)) in self.roots

    def strictly_inside(self, path: Path) -> bool:
        """Whether the path is visible, and neither a root nor around one."""
        if self._scratched(path) and not self.contains(path):
            return path != self.scratch and not any(root.is_relative_to(path) for root in self.roots)
        return self.contains(path) and not any(root.is_relative_to(path) for root in self.roots)

    def writable(self, path: Path) -> bool:
        """Whether a command may leave something there: in a root, or in its scratch directory."""
        return self.contains(path) or self._scratched(path)

    def show(self, path: Path) -> str:
        """The path as a model should write it: short when it is below the working directory."""
        return str(path.relative_to(self.cwd)) if path.is_relative_to(self.cwd) else str(path)

    @contextlib.contextmanager
    def directory(self, path: Path, create: bool = False) -> Generator[int]:
        """A descriptor of a canonical directory; with `create`, what is missing is made."""
        fd = os.open("/", _STEP)
        try:
            for name in path.parts[1:]:
                fd = _descend(fd, name, create)
            yield fd
        finally:
            os.close(fd)

    def open(self, path: Path, flags: int, mode: int = 0o666) -> int:
        """Open a canonical path. Never waits (a pipe with nobody at its end), never follows a link."""
        with self.directory(path.parent) as parent:
            return open_beside(parent, path.name, flags, mode)

    def _scratched(self, path: Path) -> bool:
        return self.scratch is not None and path.is_relative_to(self.scratch)


def open_beside(directory: int, name: str, flags: int, mode: int = 0o666) -> int:
    """Open one name in an open directory, refusing links."""
    try:
        return os.open(name, flags | _SAFE, mode, dir_fd=directory)
    except OSError as error:
        raise _refusal(error, name) from error


def _descend(fd: int, name: str, create: bool) -> int:
    """The directory `name` in `fd`, which is closed when that worked."""
    try:
        below = _step(fd, name)
    except FileNotFoundError:
        if not create:
            raise
        with contextlib.suppress(FileExistsError):
            os.mkdir(name, dir_fd=fd)
        below = _step(fd, name)
    os.close(fd)
    return below


def _step(fd: int, name: str) -> int:
    try:
        return os.open(name, _STEP, dir_fd=fd)
    except OSError as error:
        raise _refusal(error, name) from error


def _refusal(error: OSError, name: str) -> Exception:
    if error.errno in (errno.ELOOP, errno.ENOTDIR):
        return PathRefused(f"{name!r} is not a directory, or became a link while it was being opened.")
    return error
