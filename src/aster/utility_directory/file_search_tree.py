"""The files of a workspace that are worth searching: plain text, not too large, not somebody's hidden or installed
things.

Everything here blocks and runs in the sandbox's file threads, so the kernel decides what may be read. Links are
never followed.
"""

import os
import stat
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from aster.sandbox.paths import PathRefused, Workspace
from aster.utility_directory.walk import DIRECTORY, Enough, Walk

MAX_FILES: Final = 20_000
MAX_FILE_BYTES: Final = 1_000_000
MAX_BYTES: Final = 32_000_000
_SAMPLE = 8192
_INSTALLED = frozenset(("node_modules", "__pycache__", "site-packages", "bower_components"))


@dataclass(slots=True)
class Listing:
    """What there is to search: path to stamp and size. `cut` tells that a limit was met and there is more."""

    files: dict[bytes, tuple[str, int]] = field(default_factory=dict[bytes, tuple[str, int]])
    size: int = 0
    cut: bool = False


@dataclass(frozen=True, slots=True)
class TextFile:
    """A file as it was read; `text` is None when it is none, or cannot be read."""

    path: bytes
    stamp: str
    text: str | None


def listing(workspace: Workspace, seconds: float) -> Listing:
    """Every file to be searched, by path, in the order of their names."""
    found = Listing()
    walk = Walk(workspace, until=time.monotonic() + seconds)
    for root in workspace.roots:
        try:
            fd = workspace.open(root, DIRECTORY)
        except (OSError, PathRefused):
            continue
        try:
            for path, info in _below(walk, fd, root):
                _take(found, os.fsencode(path), info)
        except Enough:
            found.cut = True
        finally:
            os.close(fd)
    found.cut |= walk.cut
    return found


def read(workspace: Workspace, files: Sequence[tuple[bytes, str]]) -> list[TextFile]:
    """The files with these paths; one that cannot be read keeps the stamp it was listed with."""
    return [_read(workspace, path, stamp) for path, stamp in files]


def _take(found: Listing, path: bytes, info: os.stat_result) -> None:
    if path in found.files or info.st_size > MAX_FILE_BYTES:
        return
    if len(found.files) >= MAX_FILES or found.size + info.st_size > MAX_BYTES:
        raise Enough
    found.files[path] = (_stamp(info), info.st_size)
    found.size += info.st_size


def _below(walk: Walk, fd: int, directory: Path) -> Iterator[tuple[Path, os.stat_result]]:
    entries = walk.entries(fd)
    if any(entry.name == "pyvenv.cfg" for entry in entries):
        return
    for entry in entries:
        if entry.name.startswith(".") or entry.name in _INSTALLED:
            continue
        path = directory / entry.name
        if entry.is_dir(follow_symlinks=False):
            with walk.below(fd, path) as opened:
                if opened is not None:
                    yield from _below(walk, opened, path)
        elif entry.is_file(follow_symlinks=False) and walk.visible(path, entry):
            try:
                yield path, entry.stat(follow_symlinks=False)
            except FileNotFoundError:
                continue


def _read(workspace: Workspace, path: bytes, listed: str) -> TextFile:
    try:
        fd = workspace.open(Path(os.fsdecode(path)), os.O_RDONLY)
    except (OSError, PathRefused):
        return TextFile(path, listed, None)
    with os.fdopen(fd, "rb") as file:
        info = os.fstat(fd)
        data = file.read(MAX_FILE_BYTES + 1) if stat.S_ISREG(info.st_mode) else b"\x00"
    text = None if b"\x00" in data[:_SAMPLE] or len(data) > MAX_FILE_BYTES else data.decode("utf-8", "replace")
    return TextFile(path, _stamp(info), text)


def _stamp(info: os.stat_result) -> str:
    """Another one whenever a file was written, replaced, or opened or closed to somebody."""
    return f"{info.st_mtime_ns}.{info.st_ctime_ns}.{info.st_size}.{info.st_ino}"
